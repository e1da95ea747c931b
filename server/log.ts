import pino, { type Logger } from 'pino'
import pretty from 'pino-pretty'
import { sqlState } from './database/database.ts'

/**
 * One JSON object a line, or plain text on a terminal. Nothing of a request is logged but its method, its path and
 * the outcome: query strings and bodies carry what people typed.
 */
export function createLogger(level: string): Logger {
  const options = { level, serializers, base: { pid: process.pid } }
  return process.stdout.isTTY
    ? pino(options, pretty({ translateTime: 'SYS:HH:MM:ss', ignore: 'pid', sync: true }))
    : pino(options)
}

/** How objects become log fields: errors without the texts that may quote what people typed. */
export const serializers = { err: describeError, error: describeError }

/** Where an error came from and of what kind it is. Texts of the database quote the row, so they are left out. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const state = sqlState(error)
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  const fromDatabase =
    state !== undefined || /Prisma|Driver|DatabaseError/.test(`${error.name} ${error.constructor.name}`)
  return {
    type: error.constructor.name,
    ...(state && { sqlState: state }),
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    ...(!fromDatabase && { message: scrub(error.message) }),
    ...(error.cause instanceof Error && { cause: describeError(error.cause) }),
    stack: frames.slice(0, 12).join('\n'),
  }
}

/** Takes out what may identify a person or open a door: addresses, numbers of ten digits or more, keys. */
export function scrub(text: string): string {
  return text
    .replace(/[^\s@"'<>]+@[^\s@"'<>]+/g, '[address]')
    .replace(/\d(?:[\s-]?\d){9,}/g, '[number]')
    .replace(/\bre_\w+/g, '[key]')
    .replace(/:\/\/[^\s/@]*@/g, '://[login]@')
}
