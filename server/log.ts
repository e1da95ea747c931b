import pino, { type Logger, type LoggerOptions } from 'pino'
import pretty from 'pino-pretty'
import { errorFields } from './errors.ts'

/**
 * One JSON object a line, or plain text on a terminal. Nothing of a request is logged but its method, the name of its
 * route and the outcome: paths, query strings and bodies carry what people typed.
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

/** How errors become log fields: without the texts that may quote what people typed. */
export const serializers = { err: errorFields }
