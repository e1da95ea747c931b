import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { v4 as uuidv4 } from 'uuid'
import type { FormOutcome, SubscriberLink } from '../../shared/form-outcome.ts'
import { KEY_MAX_MS, orderContentSchema, readOrderFields, submissionKeySchema } from '../../shared/order.ts'
import { orderPaths, pagePaths, RECEIVED_PATH, SUBSCRIBED_PATH, SUBSCRIPTION_PATH } from '../../shared/page-paths.ts'
import { readSubscriptionFields, subscriptionSchema } from '../../shared/subscription.ts'
import { enquiryFields } from '../enquiries/enquiry.ts'
import { NotStored, type Orders, REFERENCE, type Submitted } from '../enquiries/orders.ts'
import { answerTo, HttpError, logFailure } from './error-answers.ts'
import type { RateLimits } from './rate-limit.ts'
import type { Context } from './router.ts'
import { type StaticPages, sendNotFound } from './static-pages.ts'

const FORM = 'application/x-www-form-urlencoded'
/** Far more than our forms have: reading thousands of empty ones costs milliseconds of processor. */
const FIELDS_MAX = 50
/** What follows a form's address: of a stored order, or of a subscriber's link. */
interface Asked {
  Querystring: { reference?: unknown; token?: unknown }
}

/** What an order that came in this way is called in the log and in metrics. */
export const ORDER_FORM = 'order form'

let renderer: Promise<typeof import('../../client/renderer.tsx')> | undefined

/** Kept, because a new build takes the file away while this process runs. Tests and `npm run dev` do without React. */
export function loadRenderer() {
  renderer ??= import('../../client/renderer.tsx')
  return renderer
}

/**
 * Forms that browsers send without scripts, to the page they stand on. What follows is a page: after success another
 * one, so that a reload sends nothing, else the same with what was typed.
 */
export function serveFormPosts(
  app: FastifyInstance,
  options: Pick<Context, 'orders' | 'subscribers'> & { pages: StaticPages },
  limits: RateLimits,
): void {
  const { orders, subscribers, pages } = options
  /** Short of a flood a form over the limit is read all the same: its page gives back what was typed. */
  const overLimit = new WeakMap<FastifyRequest, HttpError>()

  async function countForm(request: FastifyRequest, reply: FastifyReply) {
    await limits.count('order', request, reply).catch((error: HttpError) => {
      if (error.isFlood) throw error
      overLimit.set(request, error)
    })
  }

  async function post(request: FastifyRequest, reply: FastifyReply) {
    const refusal = overLimit.get(request)
    if (refusal) throw refusal
    const fields = fieldsOf(request)
    if (isOrderForm(request)) {
      const { reference } = await limits.store('order', request, reply, (how) => submitForm(orders, fields, how))
      return reply.redirect(`${RECEIVED_PATH}?reference=${reference}`, 303)
    }
    const subscription = subscriptionSchema.parse(readSubscriptionFields(fields))
    await limits.store('subscription', request, reply, () => subscribers.subscribe(subscription))
    return reply.redirect(`${SUBSCRIBED_PATH}#main`, 303) // else the form's own fragment stays
  }

  function sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    logFailure(error, request)
    const { status, problem } = answerTo(error)
    reply.code(status)
    if (error instanceof HttpError && error.isFlood) return reply.send(problem.message) // a page costs milliseconds
    const fields = fieldsOf(request)
    const isOrder = isOrderForm(request)
    const values = echo(fields, isOrder ? enquiryFields : ['email'])
    const uncertain = status >= 500 && { uncertain: { submissionKey: fields.get('submissionKey') ?? undefined } }
    const outcome = isOrder ? { order: { problem, values, ...uncertain } } : { subscription: { problem, values } }
    return sendPage(request.routeOptions.url ?? '/', outcome, reply)
  }

  /** What holds nothing that was typed is rendered once. */
  const rendered = new Map<string, string>()

  /** In development there are no built pages: Vite makes one of the answer. */
  async function sendPage(path: string, outcome: FormOutcome, reply: FastifyReply) {
    const page = reply.request.headers.accept === 'application/json' ? undefined : pages.get(path)
    if (!page) return reply.send(outcome)
    const key = JSON.stringify([path, outcome])
    let html = rendered.get(key)
    if (html === undefined) {
      const { renderOutcome } = await loadRenderer()
      html = renderOutcome(Buffer.from(page.identity.body, 'latin1').toString(), path, outcome)
      const { values = {} } = outcome.order ?? outcome.subscription ?? {}
      if (!outcome.received && Object.keys(values).length === 0) rendered.set(key, html)
    }
    return reply.type('text/html; charset=utf-8').send(html)
  }

  const limitLinks = (request: FastifyRequest, reply: FastifyReply) => limits.count('link', request, reply)

  /** Whoever is led here has an order that is stored: over the limit, short of a flood, the page still holds its reference. */
  app.get<Asked>(RECEIVED_PATH, async (request, reply) => {
    const reference = String(request.query.reference)
    if (!REFERENCE.test(reference)) return sendNotFound(request, reply, pages)
    const received = await limitLinks(request, reply).then(
      () => orders.received(reference),
      (error: HttpError) => {
        if (error.isFlood) throw error
        return { reference }
      },
    )
    return sendPage(RECEIVED_PATH, { received }, reply)
  })

  /** A subscriber's link. To look at it changes nothing, as programs look at the links of mails. */
  app.register(async (links) => {
    const find = (request: FastifyRequest<Asked>) => subscribers.find(String(request.query.token))
    const send = (link: SubscriberLink, reply: FastifyReply, status = 200) =>
      sendPage(SUBSCRIPTION_PATH, { link }, reply.code(status))
    links.setErrorHandler((error, request, reply) => {
      logFailure(error, request)
      return send('failed', reply, answerTo(error).status)
    })
    links.addHook('onRequest', limitLinks)
    links.get<Asked>(SUBSCRIPTION_PATH, async (request, reply) => {
      const subscriber = await find(request)
      if (!subscriber) return send('unknown', reply, 404)
      return send(subscriber.confirmedAt ? 'confirmed' : 'unconfirmed', reply)
    })
    // Mail services press the button of a mail themselves (RFC 8058), and may send it as multipart/form-data.
    links.removeAllContentTypeParsers()
    links.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    links.post<Asked>(SUBSCRIPTION_PATH, async (request, reply) => {
      const asked = /^do=(?:confirm|end)$|List-Unsubscribe["=\s]+One-Click/.exec(String(request.body))?.[0]
      if (!asked) throw new HttpError(400)
      const subscriber = await find(request)
      if (asked !== 'do=confirm') {
        if (subscriber) await subscribers.end(subscriber)
        return send('ended', reply)
      }
      if (!subscriber) return send('unknown', reply, 404)
      await subscribers.confirm(subscriber)
      return reply.redirect(request.url, 303)
    })
  })

  app.register(async (forms) => {
    forms.removeAllContentTypeParsers()
    forms.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, done) => {
      const isOurs = String(body).split('&', FIELDS_MAX + 1).length <= FIELDS_MAX
      if (isOurs) done(null, new URLSearchParams(String(body)))
      else done(new HttpError(413))
    })
    forms.setErrorHandler(sendFailure)
    for (const path of pagePaths) forms.post(path, { onRequest: countForm }, post)
  })
}

/** Of a form that was sent without scripts and read; of any other request none. */
export function fieldsOf({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams()
}

/** The box in the footer holds an address and no number; what was not read is judged by the page it was sent to. */
function isOrderForm(request: FastifyRequest): boolean {
  const fields = fieldsOf(request)
  return fields.size > 0 ? fields.has('mobile') : orderPaths.includes(request.routeOptions.url ?? '')
}

function echo(fields: URLSearchParams, names: string[]): Record<string, string> {
  const typed = names.map((name) => [name, fields.get(name) ?? ''] as const)
  return Object.fromEntries(typed.filter(([, value]) => value))
}

/**
 * Submits what was typed. A page that could not tell whether an order is stored holds the key it was sent under: sent
 * again unchanged within a day it is the same order.
 * @throws what `answerTo` knows; `fields` then hold the key under which it may be stored
 */
async function submitForm(orders: Orders, fields: URLSearchParams, how: { acknowledge: boolean }) {
  const order = orderContentSchema.parse(readOrderFields(fields))
  const given = submissionKeySchema.safeParse(fields.get('submissionKey'))
  if (given.success) {
    const answer = await orders.submit({ ...order, submissionKey: given.data }, how).catch((error: unknown) => {
      const isChanged = error instanceof NotStored && error.reason === 'conflict' // since it was stored
      if (!isChanged) throw error
    })
    if (answer && !isOlder(answer)) return answer
  }
  const { current, neighbours } = formKeys(order)
  const onWriting = () => fields.set('submissionKey', current)
  return orders.submitOnce({ ...order, submissionKey: current }, neighbours, { ...how, onWriting })
}

/** Than a key lasts: the same order on purpose. */
function isOlder({ receivedAt }: Submitted): boolean {
  return receivedAt !== undefined && Date.now() - Date.parse(receivedAt) > KEY_MAX_MS
}

const WINDOW_MS = 10 * 60_000

/**
 * The submission keys of a form that was sent without scripts and so without one: made of what was sent and of the
 * window of time in which it was. The same form sent again within ten minutes of the one that was stored, by a double
 * click or a reload, is that enquiry. So are two equal orders on purpose, unless ten to twenty minutes lie between them:
 * who wants twice as much says so in the quantity. A repeat does not make the time begin anew: else a form that is sent
 * every nine minutes would be one enquiry for ever.
 */
export function formKeys(order: object, now = Date.now()): { current: string; neighbours: string[] } {
  const window = Math.floor(now / WINDOW_MS)
  // A form that came later may have been stored before this one: its window may be the next.
  return { current: keyOf(order, window), neighbours: [keyOf(order, window - 1), keyOf(order, window + 1)] }
}

/** A UUID of version 8: one of our own making. Servers of two versions side by side make the same one. */
function keyOf(order: object, window: number): string {
  const random = hash('sha256', JSON.stringify([window, order]), 'buffer')
  return uuidv4({ random }).replace(/^(.{14})4/, '$18')
}
