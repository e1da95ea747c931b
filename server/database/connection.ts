// One connection: what is set for it, and what to say when it cannot be opened.

import pg, { type ClientConfig } from 'pg'
import { OperatorError, propertiesOf, redact } from '../errors.ts'
import { sqlState } from './errors.ts'

const CONNECT_MS = 5000
const IDLE_IN_TRANSACTION_MS = 10_000
/** Poolers refuse the parameter `options` with these error codes. */
const OPTIONS_REFUSED = ['08P01', '0A000']
/** pg treats them as verify-full, with a warning of ten lines. */
const AS_VERIFY_FULL = ['prefer', 'require', 'verify-ca']

const ESCAPES = 'In its password % is written %25, and # is written %23.'
/** What to correct in the URL, by what is wrong: PostgreSQL's error code, Node's, or a message. */
const HINTS: [found: RegExp, hint: string][] = [
  [/^28P01|URI malformed/, ESCAPES],
  // Also with sslmode=prefer.
  [/does not support SSL/, 'Without TLS it says sslmode=disable.'],
  [
    /self-signed certificate|unable to (get|verify)/,
    'If the server has a certificate authority of its own, it says sslmode=verify-full&sslrootcert=/path/ca.pem.',
  ],
  [/no encryption$/, 'If the server wants TLS, it says sslmode=verify-full.'],
]

/** By Prisma's convention for the URL of a pooler. */
export function isPooled(url: string): boolean {
  return /[?&]pgbouncer=true(&|$)/.test(url)
}

/**
 * A direct connection gets its time zone and limits by the parameter `options`. Poolers refuse or drop it: prisma/roles.sql
 * gives them to the role.
 * @param statementMs the limit of a statement; 0: none
 */
export function withSettings(connection: ClientConfig, statementMs: number): ClientConfig {
  const idleMs = statementMs && IDLE_IN_TRANSACTION_MS
  const options = `-c TimeZone=UTC -c statement_timeout=${statementMs} -c idle_in_transaction_session_timeout=${idleMs}`
  const base = { ...connection, application_name: 'quvera' }
  const url = URL.parse(connection.connectionString ?? '')
  if (!url) return { ...base, options }
  const { searchParams } = url
  if (AS_VERIFY_FULL.includes(searchParams.get('sslmode') ?? '') && !searchParams.has('uselibpqcompat'))
    searchParams.set('sslmode', 'verify-full')
  if (!isPooled(url.href)) searchParams.set('options', `${searchParams.get('options') ?? ''} ${options}`.trim())
  return { ...base, connectionString: url.href }
}

export function poolerRefusal(variable: string): string {
  return `${variable} leads to a pooler, which refuses or drops the settings of a connection: add pgbouncer=true to its parameters (?pgbouncer=true), and log in as quvera_app, to which prisma/roles.sql gives them.`
}

/**
 * @param variable the one that holds the URL; none for the embedded database
 * @param statementMs the limit of a statement; 0: none
 */
export async function openConnection(connection: ClientConfig, variable?: string, statementMs = 0): Promise<pg.Client> {
  try {
    const client = new pg.Client({ ...withSettings(connection, statementMs), connectionTimeoutMillis: CONNECT_MS })
    client.on('error', () => {})
    await client.connect()
    return client
  } catch (error) {
    throw toConnectionError(error, variable)
  }
}

function toConnectionError(error: unknown, variable: string | undefined): OperatorError {
  const cause = redact(reasonOf(error))
  if (!variable)
    return new OperatorError(
      `The database cannot be reached: ${cause}. Does the process that serves it still answer?`,
      { cause: error },
    )
  const { code } = propertiesOf(error)
  if (OPTIONS_REFUSED.includes(String(code))) return new OperatorError(poolerRefusal(variable)) // no cause: it will not pass
  const found = `${sqlState(error) ?? ''} ${cause}`.trim()
  const hint = HINTS.find(([pattern]) => pattern.test(found))?.[1]
  const advice = [`Check ${variable}.`, hint].filter(Boolean).join(' ')
  return new OperatorError(`The database cannot be reached: ${cause}. ${advice}`, { cause: error })
}

/** For several addresses Node throws an error without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}
