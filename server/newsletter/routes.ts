import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { SubscriptionState } from '../../shared/form-outcome.ts'
import { SUBSCRIBED_PATH, SUBSCRIPTION_PATH } from '../../shared/page-paths.ts'
import { readSubscriptionFields, subscriptionSchema } from '../../shared/subscription.ts'
import { LINK_BODY_LIMIT, takeTexts } from '../http/bodies.ts'
import { answerTo, RequestError } from '../http/errors.ts'
import type { RateLimits } from '../http/limits.ts'
import { type PostedForm, pickTyped } from '../http/posted-forms.ts'
import type { SendPage } from '../http/rendered-pages.ts'
import { serveProcedure } from '../http/trpc.ts'
import { createNewsletterRouter } from './procedure.ts'
import type { Subscribers } from './subscribers.ts'

interface Link {
  Querystring: { token?: unknown }
}

export function serveSubscriptionProcedure(app: FastifyInstance, subscribers: Subscribers, limits: RateLimits): void {
  const router = createNewsletterRouter(subscribers)
  serveProcedure(app, { router, path: 'subscription.subscribe', limit: 'mailToStranger' }, limits)
}

/** The subscribe form as the browser posts it, on any page. */
export function createSubscribeForm(subscribers: Pick<Subscribers, 'subscribe'>): PostedForm {
  return {
    limit: 'mailToStranger',
    isMine: () => true,
    async take(fields, countStored) {
      const subscription = subscriptionSchema.parse(readSubscriptionFields(fields))
      await countStored(() => subscribers.subscribe(subscription))
      return `${SUBSCRIBED_PATH}#main` // otherwise the browser keeps the form's fragment
    },
    refused: (fields, { problem }) => ({ refusedSubscription: { problem, values: pickTyped(fields, ['email']) } }),
  }
}

/** Serves the link in a subscriber's mails. GET changes nothing, as mail scanners follow links. */
export async function serveSubscriptionLinks(
  app: FastifyInstance,
  subscribers: Subscribers,
  { limits, sendPage }: { limits: RateLimits; sendPage: SendPage },
): Promise<void> {
  const find = (request: FastifyRequest<Link>) => subscribers.find(String(request.query.token))
  const send = (subscriptionState: SubscriptionState, reply: FastifyReply, status = 200) =>
    sendPage(SUBSCRIPTION_PATH, { subscriptionState }, reply.code(status))

  app.setErrorHandler((error, request, reply) => {
    return send('failed', reply, answerTo(error, request).status)
  })
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST') return limits.countOrRefuse('look', request, reply)
    await limits.countOrRefuse('service', request, reply)
    await limits.countOrRefuse('token', request, reply)
  })
  app.get<Link>(SUBSCRIPTION_PATH, async (request, reply) => {
    const subscriber = await find(request)
    if (!subscriber) return send('unknown', reply, 404)
    return send(subscriber.confirmedAt ? 'confirmed' : 'unconfirmed', reply)
  })
  // Mail services unsubscribe by a POST of their own (RFC 8058), possibly as multipart/form-data.
  takeTexts(app)
  app.post<Link>(SUBSCRIPTION_PATH, { bodyLimit: LINK_BODY_LIMIT }, async (request, reply) => {
    const action = /^do=(?:confirm|end)$|List-Unsubscribe["=\s]+One-Click/.exec(String(request.body))?.[0]
    if (!action) throw new RequestError(400)
    const subscriber = await find(request)
    if (action !== 'do=confirm') {
      if (subscriber) await subscribers.end(subscriber)
      return send('ended', reply)
    }
    if (!subscriber) return send('unknown', reply, 404)
    await subscribers.confirm(subscriber)
    return reply.redirect(request.url, 303)
  })
}
