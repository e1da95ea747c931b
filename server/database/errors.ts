import { LOST, messageOf, propertiesOf } from '../errors.ts'

/** Of a database that could not be reached when the site started. */
export const NOT_CHECKED = 'The database was not checked yet'

/** pg's message when no connection of its pool gets free. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect'

/*
 *                                            isConnectionLost   isDatabaseAway   isDatabaseRefusal
 * connection ended while in use              yes                yes              no
 * cannot connect, no connection free,
 * no answer, 08…, 57P…                      no                 yes              no
 * statement over its time limit (57014)      no                 no               no
 * too many connections, disk full (53…),
 * read-only (25006)                          no                 no               no
 * any other code of PostgreSQL               no                 no               yes
 *
 * Where it is neither away nor refuses, orders cannot be stored either.
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

export const INSUFFICIENT_PRIVILEGE = '42501'
export const TOO_MANY_CONNECTIONS = '53300'

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

const REASONS: Record<string, string> = { '53100': 'the disk is full', '25006': 'the database is read-only' }

/** Why nothing can be stored, where words say it better than a code. */
export function reasonOf(error: unknown): string | undefined {
  return REASONS[sqlState(error) ?? ''] ?? (isDatabaseAway(error) ? 'the database cannot be reached' : undefined)
}

/** Whether PostgreSQL refused, for a missing right, say. */
export function isDatabaseRefusal(error: unknown): boolean {
  const state = sqlState(error)
  return state !== undefined && !/^(08|53|57|25006)/.test(state)
}
