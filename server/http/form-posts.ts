import { randomUUID } from 'node:crypto'
import { getHTTPStatusCodeFromError } from '@trpc/server/http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readOrderFields, readSubscriptionFields } from '../../shared/form-fields.ts'
import type { FormOutcome } from '../../shared/form-outcome.ts'
import { type Order, orderSchema } from '../../shared/order.ts'
import { orderPaths, pagePaths, RECEIVED_PATH, SUBSCRIBED_PATH } from '../../shared/page-paths.ts'
import { isReference } from '../../shared/reference-shape.ts'
import type { Admission } from './admission.ts'
import { HttpError, logFailure, toTrpcError } from './error-answers.ts'
import { formKey } from './form-key.ts'
import { appRouter } from './router.ts'
import { type Site, sendNotFound } from './site.ts'
import { type Context, problemOf } from './trpc.ts'

const FORM = 'application/x-www-form-urlencoded'
/** Stands in the page that follows an order where its reference belongs. */
const REFERENCE_PLACEHOLDER = 'the-reference-of-this-order'

/**
 * Forms that browsers send without scripts, to the page they stand on. They go through the same procedures; what
 * follows is a page: after success another one, so that a reload sends nothing, else the same with what was typed.
 */
export function serveFormPosts(app: FastifyInstance, options: Context & { site: Site }, admission: Admission): void {
  const { orders, subscribers, site } = options
  const procedures = appRouter.createCaller({ orders, subscribers })

  async function submitOrder(fields: URLSearchParams): Promise<string> {
    const order = { ...readOrderFields(fields), submissionKey: randomUUID() as string }
    const checked = orderSchema.safeParse(order)
    if (checked.success) order.submissionKey = await formKey(orders, { ...checked.data, submissionKey: '' })
    const { reference } = await procedures.order.submit(order as Order)
    return `${RECEIVED_PATH}?reference=${reference}`
  }

  async function post(request: FastifyRequest, reply: FastifyReply) {
    const fields = fieldsOf(request)
    try {
      const isOrder = holdsOrder(request, fields)
      await admission.count(isOrder ? 'order' : 'subscription', request, reply)
      if (isOrder) return reply.redirect(await submitOrder(fields), 303)
      await procedures.subscription.subscribe(readSubscriptionFields(fields))
      return reply.redirect(`${SUBSCRIBED_PATH}#main`, 303) // else the form's own fragment stays
    } catch (cause) {
      return sendFailure(cause, request, reply)
    }
  }

  function sendFailure(cause: unknown, request: FastifyRequest, reply: FastifyReply) {
    const error = toTrpcError(cause)
    logFailure(error, request.log)
    const status = getHTTPStatusCodeFromError(error)
    const problem = problemOf(error, status)
    const fields = fieldsOf(request)
    const isOrder = holdsOrder(request, fields)
    const { url = '/' } = request.routeOptions
    const path = isOrder && !orderPaths.includes(url) ? '/buy-now' : url
    const isFlood = cause instanceof HttpError && cause.isFlood
    const values = isFlood ? {} : Object.fromEntries(fields)
    const outcome = isOrder ? { order: { problem, values } } : { subscription: { problem, values } }
    return sendPage(path, outcome, reply.code(status))
  }

  /** In development there are no built pages: Vite makes one of the answer. */
  async function sendPage(path: string, outcome: FormOutcome, reply: FastifyReply) {
    const page = reply.request.headers.accept === 'application/json' ? undefined : site.get(path)
    if (!page) return reply.send(outcome)
    return reply
      .type('text/html; charset=utf-8')
      .send(await render(path, Buffer.from(page.identity.body, 'latin1'), outcome))
  }

  /** Rendering takes milliseconds: what holds nothing that was typed is rendered once. */
  const rendered = new Map<string, string>()

  async function render(path: string, page: Buffer, outcome: FormOutcome): Promise<string> {
    const { reference, ...refused } = outcome
    const isTyped = Object.values(refused).some(({ values }) => Object.keys(values).length > 0)
    const general = reference ? { reference: REFERENCE_PLACEHOLDER } : outcome
    const key = JSON.stringify([path, general])
    let html = isTyped ? undefined : rendered.get(key)
    if (html === undefined) {
      const { renderOutcome } = await import('../../client/renderer.tsx') // only who has no scripts needs React here
      html = renderOutcome(page.toString(), path, general)
      if (!isTyped) rendered.set(key, html)
    }
    return reference ? html.replaceAll(REFERENCE_PLACEHOLDER, reference) : html
  }

  app.get<{ Querystring: { reference?: unknown } }>(RECEIVED_PATH, (request, reply) => {
    const { reference } = request.query
    if (typeof reference !== 'string' || !isReference(reference)) return sendNotFound(request, reply, site)
    return sendPage(RECEIVED_PATH, { reference }, reply)
  })

  app.register(async (forms) => {
    forms.removeAllContentTypeParsers()
    forms.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, done) =>
      done(null, new URLSearchParams(String(body))),
    )
    forms.addHook('onRequest', async (request) => {
      admission.checkOrigin(request)
      admission.checkType(request, FORM)
    })
    forms.setErrorHandler(sendFailure)
    for (const path of pagePaths) forms.post(path, post)
  })
}

function fieldsOf(request: FastifyRequest): URLSearchParams {
  return request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
}

/** The box in the footer holds an address and nothing else that is typed. */
function holdsOrder({ routeOptions }: FastifyRequest, fields: URLSearchParams): boolean {
  if (fields.size === 0) return orderPaths.includes(routeOptions.url ?? '')
  return [...fields.keys()].some((name) => name !== 'email' && name !== 'website')
}
