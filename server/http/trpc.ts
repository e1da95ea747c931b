import { initTRPC, type TRPCError } from '@trpc/server'
import * as z from 'zod/mini'
import { firstProblem, messages } from '../../shared/order.ts'
import type { Orders } from '../enquiries/orders.ts'
import type { Subscribers } from '../enquiries/subscribers.ts'
import { refusal } from './refusals.ts'

/** What a procedure may use. */
export interface Context {
  orders: Orders
  subscribers: Subscribers
}

const t = initTRPC.context<Context>().create({
  isDev: false, // else the answer carries the stack whenever NODE_ENV is not exactly "production"
  errorFormatter: ({ shape, error }) => ({
    code: shape.code,
    message: publicMessage(error, shape.data.httpStatus),
    data: { code: shape.data.code, httpStatus: shape.data.httpStatus },
  }),
})

export const router = t.router
export const publicProcedure = t.procedure

/** Only texts written for visitors leave the server: the first broken rule, or a fixed text; never those of zod, tRPC or Prisma. */
function publicMessage(error: TRPCError, status: number): string {
  if (error.cause instanceof z.core.$ZodError) return firstProblem(error.cause).message
  const isOurs = Object.values<string>(messages).includes(error.message)
  return isOurs ? error.message : refusal(status).error.message
}
