import { initTRPC, type TRPCError } from '@trpc/server'
import * as z from 'zod/mini'
import { firstProblem, messages, type Problem } from '../../shared/order.ts'
import type { Orders } from '../enquiries/orders.ts'
import type { Subscribers } from '../enquiries/subscribers.ts'
import { developerMessages, publicMessage } from './error-answers.ts'

/** What a procedure may use. */
export interface Context {
  orders: Orders
  subscribers: Subscribers
}

const t = initTRPC.context<Context>().create({
  isDev: false, // else the answer carries the stack whenever NODE_ENV is not exactly "production"
  errorFormatter: ({ shape, error }) => ({
    code: shape.code,
    message: problemOf(error, shape.data.httpStatus).message,
    data: { code: shape.data.code, httpStatus: shape.data.httpStatus },
  }),
})

export const router = t.router
export const publicProcedure = t.procedure

/** Only texts of our own leave the server: the first broken rule, or a fixed text; never those of zod, tRPC or Prisma. */
export function problemOf(error: TRPCError, status: number): Problem {
  if (error.cause instanceof z.core.$ZodError) return firstProblem(error.cause)
  const isOurs = [...Object.values(messages), ...Object.values(developerMessages)].some(
    (text) => text === error.message,
  )
  return { message: isOurs ? error.message : publicMessage(status), fields: [] }
}
