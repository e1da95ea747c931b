import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import { messages } from '../../shared/order.ts'

/** A request that is refused before any procedure sees it. */
export class HttpError extends Error {
  readonly statusCode: number
  constructor(statusCode: number) {
    super(`HTTP ${statusCode}`)
    this.statusCode = statusCode
  }
}

type TrpcCode = keyof typeof TRPC_ERROR_CODES_BY_KEY

const refusals: Record<number, [code: TrpcCode, message: string]> = {
  400: ['BAD_REQUEST', messages.malformed],
  403: ['FORBIDDEN', 'Orders are taken from our own pages only.'],
  404: ['NOT_FOUND', 'There is nothing here.'],
  405: ['METHOD_NOT_SUPPORTED', 'Orders are sent by POST.'],
  408: ['TIMEOUT', 'The request took too long. Please try again.'],
  413: ['PAYLOAD_TOO_LARGE', 'The form holds too much text.'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'Orders are sent as application/json.'],
  429: ['TOO_MANY_REQUESTS', 'Too many enquiries in a short time. Please wait a minute, then send it again.'],
  503: ['SERVICE_UNAVAILABLE', messages.failed],
}

/** An answer of the same shape as a procedure's, so that the client has one kind of error to read. */
export function refusal(status: number) {
  const [code, message] =
    refusals[status] ??
    (status < 500 ? ['BAD_REQUEST', messages.malformed] : ['INTERNAL_SERVER_ERROR', messages.failed])
  return { error: { message, code: TRPC_ERROR_CODES_BY_KEY[code as TrpcCode], data: { code, httpStatus: status } } }
}
