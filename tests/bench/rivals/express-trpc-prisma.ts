/** The usual stack: Express, tRPC and `prisma.create`, storing only the order. */
import { PrismaPg } from '@prisma/adapter-pg'
import { initTRPC } from '@trpc/server'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import express from 'express'
import { v7 as uuidv7 } from 'uuid'
import { PrismaClient } from '../../../server/database/generated/client.ts'
import type { Product } from '../../../server/database/generated/enums.ts'
import { orderSchema } from '../../../shared/order.ts'

const db = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL, max: 10 }) })
const t = initTRPC.create({ isDev: false })
const router = t.router({
  order: t.router({
    submit: t.procedure.input(orderSchema).mutation(async ({ input }) => {
      const { reference } = await db.enquiry.create({
        data: {
          id: uuidv7(),
          reference: input.submissionKey,
          name: input.name,
          email: input.email,
          mobile: input.mobile,
          quantity: input.quantity,
          retailerSelfUse: input.retailerSelfUse === 'Retailer' ? 'Retailer' : 'SelfUse',
          products: input.products.replace(' ', '') as Product,
          privacyNoticeVersion: '1',
          submissionKey: input.submissionKey,
        },
        select: { reference: true },
      })
      return { reference }
    }),
  }),
})
const app = express()
app.use('/trpc', createExpressMiddleware({ router, allowBatching: false }))
app.listen(Number(process.env.PORT), '127.0.0.1')
