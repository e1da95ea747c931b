import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { formKey } from '../../server/http/form-posts.ts'
import { orderSchema } from '../../shared/order.ts'
import { anOrder } from '../support/an-order.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const MINUTE_MS = 60_000
/** The begin of a window of ten minutes. */
const START = Date.UTC(2026, 10, 22, 12)

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ mails: false })
})
afterAll(() => app?.close())
beforeEach(() => app.db.enquiry.deleteMany())

const typed = anOrder({ submissionKey: '' })

async function submitAt(minutes: number, fields = typed) {
  const submissionKey = await formKey(app.orders, fields, START + minutes * MINUTE_MS)
  expect(orderSchema.safeParse({ ...fields, submissionKey }).success).toBe(true)
  return app.orders.submit({ ...fields, submissionKey })
}

it('the same form twice is one enquiry, also over the edge of a window', async () => {
  const first = await submitAt(9.9)
  expect(await submitAt(9.95)).toEqual(first)
  expect(await submitAt(10.1)).toEqual(first)
  expect(await app.db.enquiry.count()).toBe(1)
})

it('after twenty minutes it is another one', async () => {
  await submitAt(5)
  await submitAt(20.1)
  expect(await app.db.enquiry.count()).toBe(2)
})

it('another quantity is another one at once', async () => {
  await submitAt(5)
  await submitAt(5, { ...typed, quantity: typed.quantity + 1 })
  expect(await app.db.enquiry.count()).toBe(2)
})

it('one that is still on its way into the table when the window changes is waited for', async () => {
  const late = submitAt(10 - 1e-4)
  const next = submitAt(10 + 1e-4)
  expect(await next).toEqual(await late)
  expect(await app.db.enquiry.count()).toBe(1)
})
