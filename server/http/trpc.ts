import { initTRPC } from '@trpc/server'
import type { Desk } from '../desk/desk.ts'
import type { Session } from '../desk/sessions.ts'
import type { Orders } from '../enquiries/orders.ts'
import type { Subscribers } from '../enquiries/subscribers.ts'
import { HttpError } from './error-answers.ts'

export interface Context {
  orders: Orders
  subscribers: Subscribers
  desk: Desk
  /** Of a call of the desk. */
  session?: Session | undefined
}

export const { router, procedure } = initTRPC.context<Context>().create()

/** For a session only. desk-routes.ts refuses calls without one before their input is read. */
export const deskProcedure = procedure.use(({ ctx, next }) => {
  const { desk, session } = ctx
  if (!session) throw new HttpError(401)
  return next({ ctx: { desk, session } })
})
