import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RECEIVED_PATH, receivedUrl } from '../../shared/form-outcome.ts'
import { orderContentSchema, readOrderFields, submissionKeySchema } from '../../shared/order.ts'
import { orderPaths } from '../../shared/page-paths.ts'
import { enquiryFields, REFERENCE_PATTERN } from '../database/enquiry.ts'
import { isDatabaseAway } from '../database/errors.ts'
import { answerTo, RequestError } from '../http/errors.ts'
import type { RateLimits } from '../http/limits.ts'
import { type PostedForm, pickTyped } from '../http/posted-forms.ts'
import type { SendPage } from '../http/rendered-pages.ts'
import { type StaticPages, sendNotFound } from '../http/static-pages.ts'
import { serveProcedure } from '../http/trpc.ts'
import type { Orders } from './orders.ts'
import { createOrderRouter } from './procedure.ts'

/* How an order comes in: by a script, or as a form that the browser posts. Both are stored by orders.ts. */

/** The name of the route of a posted order, in the log and in metrics. */
export const ORDER_FORM = 'order form'
export const ORDER_PROCEDURE = 'order.submit'

export function serveOrderProcedure(app: FastifyInstance, orders: Orders, limits: RateLimits): void {
  serveProcedure(app, { router: createOrderRouter(orders), path: ORDER_PROCEDURE, limit: 'order' }, limits)
}

/** The order form as the browser posts it. */
export function createOrderForm(orders: Pick<Orders, 'submitForm'>): PostedForm {
  return {
    name: ORDER_FORM,
    limit: 'order',
    isMine: ({ routeOptions, query }: FastifyRequest) =>
      orderPaths.includes(routeOptions.url ?? '') && !Object.hasOwn(query ?? {}, 'subscribe'),
    async take(fields, countStored) {
      const order = orderContentSchema.parse(readOrderFields(fields))
      const { reference } = await countStored(() => orders.submitForm(order, readSubmissionKey(fields)))
      return receivedUrl(reference)
    },
    refused(fields, { problem, status, error }) {
      const storedUnder = error instanceof RequestError ? error.submissionKey : undefined
      const submissionKey = storedUnder ?? readSubmissionKey(fields)
      const order = { problem, values: pickTyped(fields, enquiryFields), submissionKey }
      if (fields.size === 0) return { order: { ...order, note: 'unread' } }
      return { order: { ...order, note: submissionKey && status >= 500 ? 'uncertain' : undefined } }
    },
  }
}

/** The key of a page that reported a failure, or of the script that adds one to a form which the browser posts. */
function readSubmissionKey(fields: URLSearchParams): string | undefined {
  return submissionKeySchema.safeParse(fields.get('submissionKey')).data
}

/**
 * Serves the page behind a posted order. If the enquiry cannot be read, or the client is over its limit but no flood, it shows
 * only the reference.
 */
export function serveReceived(
  app: FastifyInstance,
  orders: Pick<Orders, 'findReceipt'>,
  { pages, limits, sendPage }: { pages: StaticPages; limits: RateLimits; sendPage: SendPage },
): void {
  app.get<{ Querystring: { reference?: unknown } }>(RECEIVED_PATH, async (request, reply) => {
    const reference = String(request.query.reference)
    if (!REFERENCE_PATTERN.test(reference)) return sendNotFound(request, reply, pages)
    try {
      await limits.countOrRefuse('look', request, reply)
      const receipt = await orders.findReceipt(reference)
      if (!receipt) return sendNotFound(request, reply, pages)
      return sendPage(RECEIVED_PATH, { received: receipt }, reply)
    } catch (error) {
      if (error instanceof RequestError && error.isFlood) throw error
      answerTo(error, request, { statusOf: (known) => (isDatabaseAway(known) ? 503 : undefined) }) // logs a fault of ours
      return sendPage(RECEIVED_PATH, { received: { reference } }, reply)
    }
  })
}
