import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { sqlState } from './database/errors.ts'
import { redact } from './errors.ts'

/** What may wait to be written, in bytes. Further lines are lost. */
const WAITING_MAX = 2 ** 18

/**
 * Writes a JSON object a line, or plain text on a terminal. Paths, query strings and bodies are not logged, because they
 * may contain personal data. The process goes on while nothing reads the log, as in a paused terminal.
 */
export function createLogger(level: string): Logger {
  const output = pino.destination({ sync: false, maxLength: WAITING_MAX })
  const options: LoggerOptions = { level, serializers, base: { pid: process.pid } }
  const logger = process.stdout.isTTY ? pino(options, prettyStream(output)) : pino({ ...options, ...json }, output)
  // The terminal was closed (EIO), or the log file's disk is full: the site goes on without a log. Otherwise the error would end
  // the process, and pino's flush at exit tries again without end.
  output.on('error', () => Object.assign(output, { write: ignore, flush: ignore, flushSync: ignore }))
  let lost = 0
  output.on('drop', () => lost++)
  output.on('drain', () => {
    if (lost === 0) return
    const lines = lost
    lost = 0
    logger.warn(`${lines} lines of this log were lost, because nothing read it`)
  })
  return logger
}

function ignore(): void {}

const json: LoggerOptions = {
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label) => ({ level: label }) },
}

function prettyStream(output: DestinationStream): DestinationStream {
  const format = prettyFactory({ translateTime: 'SYS:HH:MM:ss', ignore: 'pid,reqId', singleLine: true })
  return { write: (line) => output.write(format(line)) }
}

/** Log fields of errors, without personal data. */
export const serializers = { err: errorFields }

/** The log fields of an error. Messages of the database are left out, because they quote the row. */
function errorFields(error: unknown): object {
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
