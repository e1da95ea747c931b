import { initTRPC, type TRPCError } from '@trpc/server'
import * as z from 'zod/mini'
import { firstProblem, messages } from '../shared/order.ts'
import type { Orders } from './orders.ts'
import type { Subscribers } from './subscribers.ts'

/** What a procedure may use. */
export interface Context {
  orders: Orders
  subscribers: Subscribers
}

const t = initTRPC.context<Context>().create({
  isDev: false, // else the answer carries the stack whenever NODE_ENV is not exactly "production"
  errorFormatter: ({ shape, error }) => ({
    code: shape.code,
    message: publicMessage(error),
    data: { code: shape.data.code, httpStatus: shape.data.httpStatus },
  }),
})

export const router = t.router
export const publicProcedure = t.procedure

/** Only texts written for visitors leave the server: ours, or the first broken rule; never those of zod or Prisma. */
function publicMessage(error: TRPCError): string {
  if (error.cause instanceof z.core.$ZodError) return firstProblem(error.cause).message
  switch (error.code) {
    case 'INTERNAL_SERVER_ERROR':
      return messages.failed
    case 'BAD_REQUEST':
    case 'PARSE_ERROR':
      return error.cause ? messages.malformed : error.message
    default:
      return error.message
  }
}
