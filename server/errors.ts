/** An operator can correct this: the message says what and how, and is shown without a stack. */
export class OperatorError extends Error {}

/** Messages of PostgreSQL, its driver and Prisma when a connection ends. */
export const LOST =
  /^(Connection terminated|Client has encountered a connection error|Server has closed|terminating connection)/

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

/** Prisma's last line has the database's message, sometimes in quotes. */
export function messageOf({ name, message }: Error): string {
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
