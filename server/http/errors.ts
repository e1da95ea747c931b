import { TRPCError } from '@trpc/server'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod/mini'
import { brand } from '../../shared/brand.ts'
import { messages, type Problem, problemOf } from '../../shared/order.ts'
import { propertiesOf, RequestError } from '../errors.ts'

type TrpcCode = keyof typeof TRPC_ERROR_CODES_BY_KEY

const texts: Record<number, [code: TrpcCode, message: string]> = {
  400: ['BAD_REQUEST', messages.malformed],
  401: ['UNAUTHORIZED', 'The signature is not valid.'],
  403: ['FORBIDDEN', `Forms are taken from our own pages only. If you are on one, please call ${brand.phone}.`],
  404: ['NOT_FOUND', 'There is nothing here.'],
  405: ['METHOD_NOT_SUPPORTED', 'This address does not take that method.'],
  409: ['CONFLICT', messages.conflict],
  413: ['PAYLOAD_TOO_LARGE', 'The form holds too much text.'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'Orders are sent as application/json.'],
  422: ['UNPROCESSABLE_CONTENT', messages.failed],
  429: ['TOO_MANY_REQUESTS', 'Too many requests in a short time. Please wait a minute, then send it again.'],
  500: ['INTERNAL_SERVER_ERROR', messages.failed],
  503: ['SERVICE_UNAVAILABLE', messages.failed],
}

function textOf(status: number) {
  return texts[status] ?? (texts[status < 500 ? 400 : 500] as (typeof texts)[number])
}

/**
 * The status and message for whoever sent the request. Only texts of our own leave the server: the first broken rule, why
 * an order was not stored, or a fixed text. Never those of zod, tRPC, Fastify or Prisma.
 */
export function toProblem(error: unknown): { status: number; problem: Problem } {
  const known = error instanceof TRPCError ? error.cause : error
  if (known instanceof z.core.$ZodError) return { status: 400, problem: problemOf(known) }
  const statusCode = Number(propertiesOf(known).statusCode)
  const status = statusCode >= 400 ? statusCode : 500
  const own = known instanceof RequestError ? known.message : ''
  return { status, problem: { message: own || textOf(status)[1], fields: {} } }
}

/** The shape that tRPC's client reads: of all errors that are not shown on a page. A flooded form gets plain text. */
export function trpcErrorBody(status: number, message = textOf(status)[1]) {
  const [code] = textOf(status)
  return { error: { message, code: TRPC_ERROR_CODES_BY_KEY[code], data: { code, httpStatus: status } } }
}

/** A fault of ours, or a row that the database rejects. */
const LOGGED_AS_ERRORS = [500, 422]

/** An unavailable database is logged once, by orders/availability.ts. */
export function logFailure(error: unknown, { id, log }: FastifyRequest): void {
  const { status } = toProblem(error)
  const err = propertiesOf(error).cause ?? error
  if (LOGGED_AS_ERRORS.includes(status)) log.error({ reqId: id, err }, 'a request could not be served')
  else log.debug({ status }, 'a request was refused')
}
