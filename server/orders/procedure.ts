import { initTRPC } from '@trpc/server'
import { orderSchema } from '../../shared/order.ts'
import type { Orders } from './orders.ts'

const { router, procedure } = initTRPC.create()

export type OrderRouter = ReturnType<typeof createOrderRouter>

export function createOrderRouter(orders: Pick<Orders, 'submit'>) {
  return router({
    order: router({ submit: procedure.input(orderSchema).mutation(({ input }) => orders.submit(input)) }),
  })
}
