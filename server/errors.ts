/** An operator can correct this: the message says what and how, and is shown without a stack. */
export class OperatorError extends Error {}

/** Why a request is not served: an HTTP status, and a message for whoever sent it, if the status has no fixed one. */
export class RequestError extends Error {
  readonly statusCode: number
  /** Of a form that the browser posts: the key under which the order may be stored. */
  readonly submissionKey: string | undefined
  /** The client is far over its limit: the answer must be cheap. */
  readonly isFlood: boolean
  constructor(
    statusCode: number,
    message?: string,
    { submissionKey, isFlood = false, ...options }: RequestErrorOptions = {},
  ) {
    super(message, options)
    this.statusCode = statusCode
    this.submissionKey = submissionKey
    this.isFlood = isFlood
  }
}

interface RequestErrorOptions extends ErrorOptions {
  submissionKey?: string | undefined
  isFlood?: boolean
}

/** Messages of PostgreSQL, its driver and Prisma when a connection ends. */
const LOST =
  /^(Connection terminated|Client has encountered a connection error|Server has closed|terminating connection)/

/** Of a database that could not be reached when the site started. */
export const NOT_CHECKED = 'The database was not checked yet'

/** pg's message when no connection of its pool gets free. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect'

const REMEDIES: Record<string, string> = {
  EADDRNOTAVAIL: 'HOST must be an address or a name of this machine.',
  ENOTFOUND: 'HOST must be an address or a name of this machine.',
  EADDRINUSE: 'Choose another PORT, or METRICS_PORT.',
}

/** The reason why a process ends. Only unexpected errors have a stack. */
export function describeFailure(error: unknown): string {
  if (error instanceof OperatorError) return error.message
  if (!(error instanceof Error)) return String(error)
  const message = messageOf(error)
  if (LOST.test(message)) return `The connection to the database was lost: ${message.replace(/\.$/, '')}.`
  if (error.name.startsWith('PrismaClient')) return redact(message)
  if (!('code' in error)) return error.stack ?? error.message
  const remedy = REMEDIES[String(error.code)]
  return remedy ? `${message.replace(/^listen /, '')}. ${remedy}` : redact(message)
}

/*
 *                                            isConnectionLost   isDatabaseAway   isDatabaseRefusal
 * connection ended while in use              yes                yes              no
 * cannot connect, no connection free,
 * no answer, 08…, 57P…                      no                 yes              no
 * statement over its time limit (57014)      no                 no               no
 * any other code of PostgreSQL               no                 no               yes
 */

/** Whether a connection ended while it was in use, so that its statement may have run. */
export function isConnectionLost(error: unknown): boolean {
  const message = error instanceof Error ? messageOf(error) : ''
  // 'Connection terminated due to connection timeout' means that it never opened.
  return LOST.test(message) && !message.includes('timeout')
}

/** Whether no connection opened or got free in time, so that nothing was asked of the database. */
export function isConnectTimeout(error: unknown): boolean {
  const message = error instanceof Error ? messageOf(error) : ''
  return message.includes('due to connection timeout') || message === POOL_TIMEOUT
}

/** Prisma's last line has the database's message, sometimes in quotes. */
function messageOf({ name, message }: Error): string {
  if (!name.startsWith('PrismaClient')) return message
  const last = message.trim().split('\n').at(-1) ?? ''
  return /Message: `(.*)`$/.exec(last)?.[1] ?? last
}

/** Prints the reason and exits. */
export function exitWithReason(error: unknown): never {
  console.error(describeFailure(error))
  process.exit(1)
}

/** Removes mail addresses, numbers of ten digits or more, keys and logins. */
export function redact(text: string): string {
  return text
    .replace(/(?<![^\s@"'<>])[^\s@"'<>]+@[^\s@"'<>]+/g, '[address]')
    .replace(/\d(?:[\s-]?\d){9,}/g, '[number]')
    .replace(/\bre_\w+/g, '[key]')
    .replace(/:\/\/[^\s/@]*@/g, '://[login]@')
}

/** The properties of any value; none of null and undefined. */
export function propertiesOf(value: unknown): Record<string, unknown> {
  return Object(value)
}

export const INSUFFICIENT_PRIVILEGE = '42501'

/** By class, because codes of Prisma (P1001) and of the operating system (EPIPE) have five characters too. */
const SQL_STATE = /^(\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/

/** PostgreSQL's error code, if PostgreSQL answered. */
export function sqlState(error: unknown): string | undefined {
  const { code, originalCode } = propertiesOf(error)
  for (const value of [originalCode, code]) if (typeof value === 'string' && SQL_STATE.test(value)) return value
  const inner = innerError(error)
  return inner ? sqlState(inner) : undefined
}

/** The error that caused this one. Prisma keeps that of its driver in a property of its own. */
export function innerError(error: unknown): unknown {
  const { cause, meta } = propertiesOf(error)
  return cause ?? propertiesOf(meta).driverAdapterError
}

/** Messages of pg when its time limit for a statement is over (PostgreSQL's own is shorter), or that for a connection. */
const NO_ANSWER = ['Query read timeout', POOL_TIMEOUT, 'timeout expired', NOT_CHECKED]
/** What Node, Prisma and its adapter call a connection that could not be opened or has ended. */
const NOT_CONNECTED = /^(E[A-Z]+|EAI_AGAIN|P1001|P1017|DatabaseNotReachable|ConnectionClosed|SocketTimeout)$/

/** Whether the database cannot be reached, does not answer or ends its connections. */
export function isDatabaseAway(error: unknown): boolean {
  const state = sqlState(error)
  if (state) return /^(08|57P)/.test(state)
  const { code, kind } = propertiesOf(error)
  const inner = innerError(error)
  if (isConnectionLost(error) || (error instanceof Error && NO_ANSWER.includes(error.message))) return true
  return NOT_CONNECTED.test(String(kind ?? code)) || (inner ? isDatabaseAway(inner) : false)
}

/** Whether PostgreSQL refused, for a missing right, say. */
export function isDatabaseRefusal(error: unknown): boolean {
  const state = sqlState(error)
  return state !== undefined && !/^(08|57)/.test(state)
}

/** The log fields of an error. Messages of the database are left out, because they quote the row. */
export function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { name, message, stack = '', cause } = error
  const type = error.constructor.name
  const state = sqlState(error)
  const isFromDatabase = state !== undefined || /Prisma|Driver|DatabaseError/.test(`${name} ${type}`)
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '))
  return {
    type,
    ...(state && { sqlState: state }),
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    ...(!isFromDatabase && { message: redact(message) }),
    ...(cause instanceof Error && { cause: errorFields(cause) }),
    stack: frames.slice(0, 12).join('\n'),
  }
}
