import { TRPCError } from '@trpc/server'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import type { FastifyBaseLogger } from 'fastify'
import { messages } from '../../shared/order.ts'

/** A request is turned away before any procedure sees it. */
export class HttpError extends Error {
  readonly statusCode: number
  /** It comes far too often: the answer is to cost nothing. */
  readonly isFlood: boolean
  constructor(statusCode: number, isFlood = false) {
    super(`HTTP ${statusCode}`)
    this.statusCode = statusCode
    this.isFlood = isFlood
  }
}

type TrpcCode = keyof typeof TRPC_ERROR_CODES_BY_KEY

const answers: Record<number, [code: TrpcCode, message: string]> = {
  400: ['BAD_REQUEST', messages.malformed],
  401: ['UNAUTHORIZED', 'The signature is not valid.'],
  403: ['FORBIDDEN', 'Orders are taken from our own pages only.'],
  404: ['NOT_FOUND', 'There is nothing here.'],
  405: ['METHOD_NOT_SUPPORTED', 'This address does not take that method.'],
  408: ['TIMEOUT', 'The request took too long. Please try again.'],
  413: ['PAYLOAD_TOO_LARGE', 'The form holds too much text.'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'Orders are sent as application/json.'],
  429: ['TOO_MANY_REQUESTS', 'Too many enquiries in a short time. Please wait a minute, then send it again.'],
  503: ['SERVICE_UNAVAILABLE', messages.failed],
}

/** What a developer of the client is told. */
export const developerMessages = {
  batch: 'One call a request: use httpLink, not httpBatchLink.',
} as const

function answerFor(status: number): [code: TrpcCode, message: string] {
  const other: [TrpcCode, string] =
    status < 500 ? ['BAD_REQUEST', messages.malformed] : ['INTERNAL_SERVER_ERROR', messages.failed]
  return answers[status] ?? other
}

/** The text for visitors that goes with a status. */
export function publicMessage(status: number): string {
  return answerFor(status)[1]
}

/** An answer of the same shape as a procedure's, so that the client has one kind of error to read. */
export function errorAnswer(status: number) {
  const [code, message] = answerFor(status)
  return { error: { message, code: TRPC_ERROR_CODES_BY_KEY[code], data: { code, httpStatus: status } } }
}

/** What Fastify and our own checks throw, as tRPC knows it. */
export function toTrpcError(error: unknown): TRPCError {
  if (error instanceof TRPCError) return error
  const { statusCode } = Object(error) as { statusCode?: unknown }
  const status = typeof statusCode === 'number' && statusCode >= 400 ? statusCode : 500
  return new TRPCError({ code: answerFor(status)[0], cause: error })
}

/** What is worth a look into the log: a fault of ours, or a row that the database refuses. */
const FAULTS = new Set(['INTERNAL_SERVER_ERROR', 'UNPROCESSABLE_CONTENT'])

/** That the database is away is said once, where it is noticed. */
export function logFailure(error: TRPCError, log: FastifyBaseLogger): void {
  if (FAULTS.has(error.code)) log.error({ err: error.cause ?? error }, 'a request could not be served')
  else log.debug({ code: error.code }, 'a request was turned away')
}
