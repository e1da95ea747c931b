import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RECEIVED_PATH, receivedUrl } from '../../shared/form-outcome.ts'
import { orderContentSchema, readOrderFields, submissionKeySchema } from '../../shared/order.ts'
import { orderPaths, pagePaths, SUBSCRIBED_PATH } from '../../shared/page-paths.ts'
import { readSubscriptionFields, subscriptionSchema } from '../../shared/subscription.ts'
import { enquiryFields, REFERENCE_PATTERN } from '../database/enquiry.ts'
import { RequestError } from '../errors.ts'
import { fieldsOf, takeForms } from './bodies.ts'
import type { Context } from './context.ts'
import { logFailure, toProblem } from './errors.ts'
import type { RateLimits } from './limits.ts'
import type { SendPage } from './rendered-pages.ts'
import { sendNotFound } from './static-pages.ts'

/** The name of the route in the log and in metrics. */
export const ORDER_FORM = 'order form'

/**
 * Takes forms that browsers post without scripts, each to the page of the form. Success redirects to another page, so that
 * a reload sends nothing; a failure shows the form's page again, with what was typed. Also serves `/received`.
 */
export function serveFormPosts(
  app: FastifyInstance,
  { orders, subscribers, pages }: Context,
  limits: RateLimits,
  sendPage: SendPage,
): void {
  /** Before the body is read, so the address decides which form it probably is. */
  function countForm(request: FastifyRequest, reply: FastifyReply) {
    return limits.countOrRefuse(isOrderForm(request) ? 'order' : 'mailToStranger', request, reply)
  }

  async function post(request: FastifyRequest, reply: FastifyReply) {
    const fields = fieldsOf(request)
    if (isOrderForm(request)) {
      const order = orderContentSchema.parse(readOrderFields(fields))
      const { reference } = await limits.countIfSuccessful('order', request, reply, () =>
        orders.submitForm(order, readSubmissionKey(fields)),
      )
      return reply.redirect(receivedUrl(reference), 303)
    }
    const subscription = subscriptionSchema.parse(readSubscriptionFields(fields))
    await limits.countIfSuccessful('mailToStranger', request, reply, () => subscribers.subscribe(subscription))
    return reply.redirect(`${SUBSCRIBED_PATH}#main`, 303) // otherwise the browser keeps the form's fragment
  }

  function sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    logFailure(error, request)
    const { status, problem } = toProblem(error)
    reply.code(status)
    if (error instanceof RequestError && error.isFlood) return reply.send(problem.message) // rendering a page would take milliseconds
    const fields = fieldsOf(request)
    const path = request.routeOptions.url ?? '/'
    if (!isOrderForm(request))
      return sendPage(path, { refusedSubscription: { problem, values: pick(fields, ['email']) } }, reply)
    const storedUnder = error instanceof RequestError ? error.submissionKey : undefined
    const submissionKey = storedUnder ?? readSubmissionKey(fields)
    const note = fields.size === 0 ? 'unread' : submissionKey && status >= 500 ? 'uncertain' : undefined
    return sendPage(path, { order: { problem, values: pick(fields, enquiryFields), submissionKey, note } }, reply)
  }

  /** If the database is unavailable, or the client is over its limit but no flood, the page shows only the reference. */
  app.get<{ Querystring: { reference?: unknown } }>(RECEIVED_PATH, async (request, reply) => {
    const reference = String(request.query.reference)
    if (!REFERENCE_PATTERN.test(reference)) return sendNotFound(request, reply, pages)
    try {
      await limits.countOrRefuse('look', request, reply)
      const received = await orders.findReceived(reference)
      if (!received) return sendNotFound(request, reply, pages)
      return sendPage(RECEIVED_PATH, { received }, reply)
    } catch (error) {
      if (error instanceof RequestError && error.isFlood) throw error
      return sendPage(RECEIVED_PATH, { received: { reference } }, reply)
    }
  })

  app.register(async (forms) => {
    takeForms(forms)
    forms.setErrorHandler(sendFailure)
    for (const path of pagePaths) forms.post(path, { onRequest: countForm }, post)
  })
}

/** Whether a posted form is an order: the subscribe form has no mobile number. Before the body is read the address decides. */
export function isOrderForm(request: FastifyRequest): boolean {
  const fields = fieldsOf(request)
  if (fields.size > 0) return fields.has('mobile')
  return orderPaths.includes(request.routeOptions.url ?? '') && !Object.hasOwn(request.query ?? {}, 'subscribe')
}

function pick(fields: URLSearchParams, names: string[]): Record<string, string> {
  const typed = names.map((name) => [name, fields.get(name) ?? ''] as const)
  return Object.fromEntries(typed.filter(([, value]) => value))
}

/** The key of a page that reported a failure, or of the script that adds one to a form which the browser posts. */
function readSubmissionKey(fields: URLSearchParams): string | undefined {
  return submissionKeySchema.safeParse(fields.get('submissionKey')).data
}
