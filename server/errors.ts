/** Something an operator can put right: the message says what and how. It is shown as it is, without a stack. */
export class OperatorError extends Error {}

/** What PostgreSQL, its driver and Prisma say when the database has gone. */
const LOST =
  /^(Connection terminated|Client has encountered a connection error|Server has closed|terminating connection)/

const REMEDIES: Record<string, string> = {
  EADDRNOTAVAIL: 'HOST must be an address or a name of this machine.',
  ENOTFOUND: 'HOST must be an address or a name of this machine.',
  EADDRINUSE: 'Choose another PORT.',
}

/** Why a process ends, in words for whoever started it; the stack only of what nobody foresaw. */
export function describeFailure(error: unknown): string {
  if (error instanceof OperatorError) return error.message
  if (!(error instanceof Error)) return String(error)
  const words = messageOf(error)
  if (LOST.test(words)) return `The connection to the database was lost: ${words.replace(/\.$/, '')}.`
  if (error.name.startsWith('PrismaClient')) return redact(words)
  if (!('code' in error)) return error.stack ?? error.message
  const remedy = REMEDIES[String(error.code)]
  return remedy ? `${words.replace(/^listen /, '')}. ${remedy}` : redact(words)
}

/** Whether a connection ended while it was in use: what it was asked may have been done. Not one that never opened. */
export function isConnectionLost(error: unknown): boolean {
  const words = error instanceof Error ? messageOf(error) : ''
  return LOST.test(words) && !words.includes('timeout')
}

/** Prisma puts the place in the code first, and what the database said last, at times in quotes. */
function messageOf({ name, message }: Error): string {
  if (!name.startsWith('PrismaClient')) return message
  const last = message.trim().split('\n').at(-1) ?? ''
  return /Message: `(.*)`$/.exec(last)?.[1] ?? last
}

/** Ends a program and tells why. */
export function exitFor(error: unknown): never {
  console.error(describeFailure(error))
  process.exit(1)
}

/** Takes out what may identify a person or open a door: addresses, numbers of ten digits or more, keys. */
export function redact(text: string): string {
  return text
    .replace(/(?<![^\s@"'<>])[^\s@"'<>]+@[^\s@"'<>]+/g, '[address]')
    .replace(/\d(?:[\s-]?\d){9,}/g, '[number]')
    .replace(/\bre_\w+/g, '[key]')
    .replace(/:\/\/[^\s/@]*@/g, '://[login]@')
}

/** By their classes: codes of Prisma (P1001) and of the operating system (EPIPE) have five characters too. */
const SQL_STATE = /^(\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/

/** PostgreSQL's own code for what went wrong, if it was PostgreSQL that answered. */
export function sqlState(error: unknown): string | undefined {
  const { code, originalCode, cause, meta } = Object(error) as Record<string, unknown>
  for (const value of [originalCode, code]) if (typeof value === 'string' && SQL_STATE.test(value)) return value
  const inner = cause ?? Object(meta).driverAdapterError
  return inner ? sqlState(inner) : undefined
}

/** Whether PostgreSQL answered, with a no: a right that is missing, say. Classes 08 and 57 tell that it goes away. */
export function isDatabaseRefusal(error: unknown): boolean {
  const state = sqlState(error)
  return state !== undefined && !/^(08|57)/.test(state)
}

/** What a log line tells of an error: kind, codes and place. Texts of the database quote the row, so they are left out. */
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
