import { isIP } from 'node:net'
import * as z from 'zod/mini'
import { brand } from '../shared/brand.ts'
import { emailSchema } from '../shared/order.ts'
import { exitFor, OperatorError } from './errors.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

function wholeNumber(fallback: number, from: number, to: number) {
  const message = `must be a whole number from ${from} to ${to}`
  return z._default(
    z.pipe(
      z.string().check(z.regex(/^\d{1,9}$/, message)),
      z.pipe(z.transform(Number), z.number().check(z.minimum(from, message), z.maximum(to, message))),
    ),
    fallback,
  )
}

function list(check: (item: string) => boolean, message: string) {
  return z.pipe(
    z.pipe(
      z.string(),
      z.transform((text: string) =>
        text
          .split(',')
          .map((item) => item.trim())
          .filter(Boolean),
      ),
    ),
    z.array(z.string()).check(z.refine((items) => items.every(check), message)),
  )
}

function url(protocols: string[], message: string) {
  return z.string().check(z.refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), message))
}

const postgresUrl = url(['postgresql:', 'postgres:'], 'must be postgresql://user:password@host:port/database')

/** An address of a site as a whole: nothing follows the host, or its port. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, pathname, search, hash } = new URL(text)
  return ['http:', 'https:'].includes(protocol) && pathname === '/' && !search && !hash
}

const ORIGIN = 'must begin with https:// or http:// and end with the host, such as https://www.example.com'
const toOrigin = (text: string) => new URL(text).origin

function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  return (
    version > 0 &&
    rest.length === 0 &&
    (bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)))
  )
}

/** Where people's data goes: encrypted, but for this machine; a login in it would stand in errors. */
function isSafeTarget(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname)
  return !username && !password && (protocol === 'https:' || (protocol === 'http:' && isLoopback))
}

const isEmail = (text: string) => emailSchema.safeParse(text).success

/** Every variable the server reads; `.env.example` and the table in docs/operations.md list the same ones. */
export const envSchema = z.object({
  HOST: z._default(z.string(), '127.0.0.1'),
  PORT: wholeNumber(3000, 0, 65535),
  PUBLIC_URL: z.optional(z.pipe(z.string().check(z.refine(isOrigin, ORIGIN)), z.transform(toOrigin))),
  PUBLIC_URL_ALIASES: z._default(
    z.pipe(
      list(isOrigin, `holds addresses separated by commas: each ${ORIGIN}`),
      z.transform((all) => all.map(toOrigin)),
    ),
    [],
  ),
  HSTS_PRELOAD: z._default(
    z.pipe(
      z.enum(['true', 'false'], 'must be true or false'),
      z.transform((text) => text === 'true'),
    ),
    false,
  ),
  DATABASE_URL: z.optional(postgresUrl),
  DIRECT_DATABASE_URL: z.optional(postgresUrl),
  DATA_DIR: z._default(z.string(), '.data'),
  EMBEDDED_DATABASE_PORT: wholeNumber(0, 0, 65535),
  RESEND_API_KEY: z.optional(z.string()),
  RESEND_BASE_URL: z.optional(url(['http:', 'https:'], 'must be an address such as https://api.resend.com')),
  MAIL_FROM: z._default(
    z
      .string()
      .check(
        z.refine(
          (text) => isEmail(/^[^<>\r\n]*<([^<>]+)>$/.exec(text)?.[1] ?? text),
          'must be name@domain or Name <name@domain>',
        ),
      ),
    brand.mailFrom,
  ),
  STAFF_EMAILS: z._default(
    list(isEmail, 'must be mail addresses separated by commas').check(
      z.refine((items) => items.length > 0, 'must name at least one mail address'),
    ),
    [brand.email],
  ),
  MAIL_LEASE_SECONDS: wholeNumber(60, 1, 3600),
  MAIL_RETRY_SECONDS: wholeNumber(5, 1, 3600),
  RESEND_WEBHOOK_SECRET: z.optional(
    z.string().check(z.regex(/^whsec_[A-Za-z0-9+/=]+$/, 'must be the signing secret that Resend shows: whsec_…')),
  ),
  MAIL_DAILY_BUDGET: wholeNumber(100, 0, 100_000_000),
  MAIL_MAX_AGE_DAYS: wholeNumber(7, 1, 3650),
  DIGEST_AT: z.optional(z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 09:00'))),
  NOTIFY_URL: z.optional(
    z
      .string()
      .check(z.refine(isSafeTarget, 'must begin with https:// (http:// on this machine only) and hold no login')),
  ),
  NOTIFY_SECRET: z.optional(
    z
      .string()
      .check(
        z.regex(
          /^whsec_(?=[A-Za-z0-9+/=]{32,88}$)(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
          'must be whsec_ and 24 to 64 bytes in base64: echo whsec_$(openssl rand -base64 32) makes one',
        ),
      ),
  ),
  NOTIFY_FORMAT: z._default(z.enum(['text', 'json'], 'must be text or json'), 'text'),
  TRUST_PROXY: z._default(
    list(
      isAddressOrRange,
      'must be IP addresses or ranges such as 10.0.0.0/8, separated by commas; not everybody, who could then have any address',
    ),
    [],
  ),
  RATE_LIMIT_MAX: wholeNumber(10, 0, 1_000_000),
  RETENTION_MONTHS: wholeNumber(0, 0, 1200),
  METRICS_PORT: wholeNumber(0, 0, 65535),
  STAFF_NAME: z.optional(z.string()),
  LOG_LEVEL: z._default(z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`), 'info'),
})

export type Env = z.infer<typeof envSchema>

/**
 * Reads the configuration; an empty variable counts as unset, and spaces around a value for nothing.
 * @throws OperatorError naming every problem, a line each
 */
export function readEnv(variables: Record<string, string | undefined>): Env {
  const trimmed = Object.entries(variables).map(([name, value]) => [name, value?.trim()])
  const set = Object.fromEntries(trimmed.filter(([, value]) => value))
  const result = envSchema.safeParse(set)
  if (result.success) return expectTogether(result.data)
  const problems = new Map(result.error.issues.map((issue) => [String(issue.path[0]), issue.message]))
  const head = `The environment has ${problems.size === 1 ? 'a problem' : 'problems'}:`
  throw new OperatorError([head, ...[...problems].map(([name, message]) => `${name} ${message}`)].join('\n'))
}

/** What each may be, and not together. */
function expectTogether(env: Env): Env {
  const problems = {
    'NOTIFY_FORMAT is json, which is signed: set NOTIFY_SECRET too, to what the receiver has.':
      env.NOTIFY_URL && env.NOTIFY_FORMAT === 'json' && !env.NOTIFY_SECRET,
    'METRICS_PORT is PORT: choose another one.': env.METRICS_PORT > 0 && env.METRICS_PORT === env.PORT,
    'DIRECT_DATABASE_URL is where migrations reach the database of DATABASE_URL: set that too.':
      env.DIRECT_DATABASE_URL && !env.DATABASE_URL,
  }
  const [problem] = Object.entries(problems).find(([, is]) => is) ?? []
  if (problem) throw new OperatorError(problem)
  return env
}

/** Where visitors reach the site. */
export function publicUrlOf({ PUBLIC_URL, PORT }: Pick<Env, 'PUBLIC_URL' | 'PORT'>): string {
  return PUBLIC_URL ?? `http://localhost:${PORT}`
}

/** For programs: what is wrong with the environment is told without a stack, and ends them. */
export function readEnvOrExit(variables: Parameters<typeof readEnv>[0]): Env {
  try {
    return readEnv(variables)
  } catch (error) {
    return exitFor(error)
  }
}
