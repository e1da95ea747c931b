import pino, { type Logger, type LoggerOptions } from 'pino'
import pretty from 'pino-pretty'
import { errorFields } from './errors.ts'

/**
 * Writes a JSON object a line, or plain text on a terminal. Paths, query strings and bodies are not logged, because they
 * may contain personal data.
 */
export function createLogger(level: string): Logger {
  const options: LoggerOptions = { level, serializers, base: { pid: process.pid } }
  return process.stdout.isTTY
    ? pino(options, pretty({ translateTime: 'SYS:HH:MM:ss', ignore: 'pid,reqId', singleLine: true, sync: true }))
    : pino({
        ...options,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
      })
}

/** Log fields of errors, without personal data. */
export const serializers = { err: errorFields }
