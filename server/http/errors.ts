import { TRPCError } from '@trpc/server'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod/mini'
import { brand } from '../../shared/brand.ts'
import { messages, type Problem, problemOf } from '../../shared/order.ts'
import { propertiesOf } from '../errors.ts'

/** Why a request is not served: an HTTP status, and a message for whoever sent it, if the status has no fixed one. */
export class RequestError extends Error {
  readonly statusCode: number
  /** Of a form that the browser posts: the key under which the order may be stored. */
  readonly submissionKey: string | undefined
  /** The client is far over its limit: the answer must be cheap. */
  readonly isFlood: boolean
  constructor(
    statusCode: number,
    message?: string,
    { submissionKey, isFlood = false, ...options }: RequestErrorOptions = {},
  ) {
    super(message, options)
    this.statusCode = statusCode
    this.submissionKey = submissionKey
    this.isFlood = isFlood
  }
}

interface RequestErrorOptions extends ErrorOptions {
  submissionKey?: string | undefined
  isFlood?: boolean
}

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

function answerFor(status: number) {
  return texts[status] ?? (texts[status < 500 ? 400 : 500] as (typeof texts)[number])
}

/** A fault of ours, or a row that the database rejects. An unavailable database is logged once, by orders/availability.ts. */
const LOGGED_AS_ERRORS = [500, 422]

interface AnswerOptions {
  /** Fixed texts in place of those for visitors. */
  textOf?: (status: number) => string
  /** What is said of an input that a schema refuses. */
  toProblem?: (error: z.core.$ZodError) => Problem
  /** The status of an error that has none of its own. */
  statusOf?: (error: unknown) => number | undefined
}

/**
 * What an error says to whoever sent the request; logs it. Only texts of our own leave the server: the first broken rule, why
 * an order was not stored, or a fixed text. Never those of zod, tRPC, Fastify or Prisma.
 */
export function answerTo(
  error: unknown,
  { id, log }: FastifyRequest,
  { textOf = (status) => answerFor(status)[1], toProblem = problemOf, statusOf }: AnswerOptions = {},
): { status: number; problem: Problem } {
  const known = (error instanceof TRPCError && error.cause) || error
  const isInput = known instanceof z.core.$ZodError
  const status = isInput ? 400 : (ownStatus(known) ?? statusOf?.(known) ?? 500)
  if (LOGGED_AS_ERRORS.includes(status))
    log.error({ reqId: id, err: propertiesOf(known).cause ?? known }, 'a request could not be served')
  else log.debug({ status }, 'a request was refused')
  if (isInput) return { status, problem: toProblem(known) }
  const own = known instanceof RequestError ? known.message : ''
  return { status, problem: { message: own || textOf(status), fields: {} } }
}

/** Of a RequestError, or an error of Fastify. */
function ownStatus(error: unknown): number | undefined {
  const given = Number(propertiesOf(error).statusCode)
  return given >= 400 ? given : undefined
}

/** The shape that tRPC's client reads: of all errors that are not shown on a page. A flooded form gets plain text. */
export function trpcErrorBody(status: number, message = answerFor(status)[1]) {
  const [code] = answerFor(status)
  return { error: { message, code: TRPC_ERROR_CODES_BY_KEY[code], data: { code, httpStatus: status } } }
}
