import { initTRPC } from '@trpc/server'
import { subscriptionSchema } from '../../shared/subscription.ts'
import type { Subscribers } from './subscribers.ts'

const { router, procedure } = initTRPC.create()

export type NewsletterRouter = ReturnType<typeof createNewsletterRouter>

export function createNewsletterRouter(subscribers: Pick<Subscribers, 'subscribe'>) {
  return router({
    subscription: router({
      subscribe: procedure.input(subscriptionSchema).mutation(({ input }) => subscribers.subscribe(input)),
    }),
  })
}
