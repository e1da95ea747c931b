import { BlockList } from 'node:net'
import * as z from 'zod/mini'
import { brand } from '../shared/brand.ts'
import { isOneSlip } from '../shared/doubts.ts'
import { emailSchema } from '../shared/order.ts'
import { exitWithReason, OperatorError } from './errors.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

function matchingText(rule: RegExp | ((value: string) => boolean), message: string) {
  return z.string().check(z.refine((value) => (rule instanceof RegExp ? rule.test(value) : rule(value)), message))
}

function wholeNumber(fallback: number, from: number, to: number) {
  const message = `must be a whole number from ${from} to ${to}`
  const number = z.pipe(matchingText(/^\d{1,9}$/, message), z.transform(Number))
  return z._default(number.check(z.minimum(from, message), z.maximum(to, message)), fallback)
}

function list(isItem: (item: string) => boolean, message: string, fallback: string[] = []) {
  const items = z.transform((value: string) => unique(value.split(',').flatMap((item) => item.trim() || [])))
  return z._default(
    z.pipe(z.string(), items).check(z.refine((all) => all.length > 0 && all.every(isItem), message)),
    fallback,
  )
}

/** Each item once, whatever its case. */
function unique(items: string[]): string[] {
  const seen = items.map((item) => item.toLowerCase())
  return items.filter((_, index) => seen.indexOf(seen[index] ?? '') === index)
}

const flag = z._default(z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'must be true or false' }), false)
const isPublicSchema = (value: string) => (URL.parse(value)?.searchParams.get('schema') ?? 'public') === 'public'
// A # ends the address of a URL: what follows would be lost without a word.
const isWholeUrl = (value: string) => /^postgres(ql)?:\/\/[^#]*$/.test(value) && URL.canParse(value)
const postgresUrl = matchingText(
  isWholeUrl,
  'must be postgresql://user:password@host:port/database, with %25 for % and %23 for # in the password',
).check(z.refine(isPublicSchema, 'must not name another schema than public, which the site uses'))

const ORIGIN = 'must begin with https:// or http:// and end with the host, such as https://www.example.com'

/** An http or https URL without path, query and fragment. */
function isOrigin(value: string): boolean {
  const { protocol = '', pathname, search, hash } = URL.parse(value) ?? {}
  return /^https?:$/.test(protocol) && pathname === '/' && !search && !hash
}

/** https, or http on this machine, because personal data is sent there. No login, because errors would show it. */
function isSafeTarget(value: string): boolean {
  const { protocol, hostname = '', username, password } = URL.parse(value) ?? {}
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname)
  return !username && !password && (protocol === 'https:' || (protocol === 'http:' && isLoopback))
}

const SAFE_TARGET = 'must begin with https:// (http:// on this machine only) and hold no login'

const isEmail = (value: string) => emailSchema.safeParse(value).success
const addresses = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])
const ipv4InIpv6 = new BlockList()
ipv4InIpv6.addSubnet('::ffff:0:0', 96, 'ipv6')

/** No wider than /8 (IPv4), /7 (IPv6), or /104 (IPv6 that holds mapped IPv4): a wider range would hold strangers. */
function isProxyRange(value: string): boolean {
  if (!addresses.safeParse(value).success) return false
  const [address = '', length] = value.split('/')
  if (length === undefined) return true
  if (!address.includes(':')) return Number(length) >= 8
  const range = new BlockList()
  range.addSubnet(address, Number(length), 'ipv6')
  const holdsIpv4 = range.check('::ffff:1.1.1.1', 'ipv6') || ipv4InIpv6.check(address, 'ipv6')
  return Number(length) >= (holdsIpv4 ? 104 : 7)
}

/** Every variable the server reads; `.env.example` lists the same ones. */
export const envSchema = z.object({
  HOST: z._default(z.string(), '127.0.0.1'),
  PORT: wholeNumber(3000, 0, 65535),
  PUBLIC_URL: z.optional(
    z.pipe(
      matchingText(isOrigin, ORIGIN),
      z.transform((value: string) => new URL(value).origin),
    ),
  ),
  PUBLIC_URL_ALIASES: list(isOrigin, `must be addresses separated by commas, and each ${ORIGIN}`),
  HSTS_PRELOAD: flag,
  DATABASE_URL: z.optional(postgresUrl),
  DIRECT_DATABASE_URL: z.optional(postgresUrl),
  DATA_DIR: z._default(z.string(), '.data'),
  BACKUP_DIR: z.optional(z.string()),
  // It is sent as a header. Chats add invisible spaces and curly quotes.
  RESEND_API_KEY: z.optional(
    matchingText(/^[!-~]+$/, 'must be the key that Resend shows (re_…), without other characters'),
  ),
  RESEND_BASE_URL: z.optional(matchingText(isSafeTarget, SAFE_TARGET)),
  MAIL_FROM: z._default(
    matchingText(
      (value) => isEmail(/^[^<>\r\n]*<([^<>]+)>$/.exec(value)?.[1] ?? value),
      'must be name@domain or Name <name@domain>',
    ),
    brand.mailFrom,
  ),
  STAFF_EMAILS: list(isEmail, 'must be mail addresses separated by commas', [brand.email]),
  MAIL_LEASE_SECONDS: wholeNumber(60, 1, 3600),
  MAIL_RETRY_SECONDS: wholeNumber(5, 1, 3600),
  RESEND_WEBHOOK_SECRET: z.optional(
    matchingText(/^whsec_[A-Za-z0-9+/]+=*$/, 'must be the signing secret that Resend shows: whsec_…'),
  ),
  MAIL_DAILY_BUDGET: wholeNumber(100, 0, 100_000_000),
  MAIL_MAX_AGE_DAYS: wholeNumber(7, 1, 3650),
  DIGEST_AT: z._default(
    matchingText(/^(([01]\d|2[0-3]):[0-5]\d|off)$/, 'must be a time of day such as 09:00, or off'),
    '09:00',
  ),
  NOTIFY_URL: z.optional(matchingText(isSafeTarget, SAFE_TARGET)),
  NOTIFY_SECRET: z.optional(
    matchingText(
      /^whsec_(?=[A-Za-z0-9+/=]{32,88}$)(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
      'must be whsec_ and 24 to 64 bytes in base64: echo whsec_$(openssl rand -base64 32) makes one',
    ),
  ),
  NOTIFY_FORMAT: z._default(z.enum(['text', 'json'], 'must be text or json'), 'text'),
  TRUST_PROXY: list(
    isProxyRange,
    'must be IP addresses or ranges such as 10.0.0.0/8, separated by commas; none wider than /8 (IPv6: /7), which would trust strangers',
  ),
  RATE_LIMIT_MAX: wholeNumber(10, 0, 1_000_000),
  RETENTION_MONTHS: wholeNumber(24, 0, 1200),
  METRICS_PORT: wholeNumber(0, 0, 65535),
  STAFF_NAME: z.optional(z.string()),
  STUDIO_IN_CONTAINER: flag,
  LOG_LEVEL: z._default(z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`), 'info'),
})

export type Env = z.infer<typeof envSchema> & { unknown: string[] }

/** Words with which variables of other programs begin, too. */
const COMMON_WORDS = ['DATA', 'LOG']
const firstWord = (name: string) => /^([A-Z]+)_/.exec(name)?.[1] ?? ''
const known = Object.keys(envSchema.shape)
const words = new Set(known.map(firstWord))
for (const word of ['', ...COMMON_WORDS]) words.delete(word)

/** Names that are none of ours and begin like one, such as MAIL_FORM, or are one slip from one: BAKUP_DIR. */
function unknownNames(names: string[]): string[] {
  const isOurs = (name: string) => words.has(firstWord(name)) || meantBy(name)
  return names.filter((name) => !known.includes(name) && isOurs(name))
}

/** The variable of the site from which a name is one slip away. */
export function meantBy(name: string): string | undefined {
  return known.find((each) => each.includes('_') && isOneSlip(name, each))
}

/**
 * Reads the configuration. An empty variable counts as unset; spaces around a value are ignored.
 * @throws OperatorError naming every problem, a line each
 */
export function readEnv(variables: Record<string, string | undefined>): Env {
  const trimmed = Object.entries(variables).map(([name, value]) => [name, value?.trim()])
  const set = Object.fromEntries(trimmed.filter(([, value]) => value))
  const result = envSchema.safeParse(set)
  if (result.success) return assertCombination({ ...result.data, unknown: unknownNames(Object.keys(variables)) })
  const problems = new Map(result.error.issues.map((issue) => [String(issue.path[0]), issue.message]))
  const head = `The environment has ${problems.size === 1 ? 'a problem' : 'problems'}:`
  throw new OperatorError([head, ...[...problems].map(([name, message]) => `${name} ${message}`)].join('\n'))
}

/** With fewer mails in 24 hours summaries would come less than once a day. */
const MAILS_FOR_EACH = 4

/** Checks variables that depend on each other. */
function assertCombination(env: Env): Env {
  const problems: [isWrong: unknown, message: string][] = [
    [
      env.NOTIFY_URL && env.NOTIFY_FORMAT === 'json' && !env.NOTIFY_SECRET,
      'NOTIFY_FORMAT is json, which is signed: set NOTIFY_SECRET too, to the secret of the receiver.',
    ],
    [
      env.MAIL_DAILY_BUDGET > 0 && env.MAIL_DAILY_BUDGET < MAILS_FOR_EACH * env.STAFF_EMAILS.length,
      `MAIL_DAILY_BUDGET must allow ${MAILS_FOR_EACH} mails for each of STAFF_EMAILS: raise it to ${MAILS_FOR_EACH * env.STAFF_EMAILS.length}, or set 0 for no limit.`,
    ],
    [env.METRICS_PORT > 0 && env.METRICS_PORT === env.PORT, 'METRICS_PORT is PORT: choose another one.'],
    [env.DIRECT_DATABASE_URL && !env.DATABASE_URL, 'DIRECT_DATABASE_URL is set without DATABASE_URL: set that too.'],
  ]
  const wrong = problems.flatMap(([isWrong, message]) => (isWrong ? message : []))
  if (wrong.length > 0) throw new OperatorError(wrong.join('\n'))
  return env
}

/** The address that visitors use. */
export function publicUrlOf({ PUBLIC_URL, PORT }: Pick<Env, 'PUBLIC_URL' | 'PORT'>): string {
  return PUBLIC_URL ?? `http://localhost:${PORT}`
}

/** For entry points: prints what is wrong with the environment and exits. */
export function readEnvOrExit(variables: Parameters<typeof readEnv>[0]): Env {
  try {
    return readEnv(variables)
  } catch (error) {
    return exitWithReason(error)
  }
}
