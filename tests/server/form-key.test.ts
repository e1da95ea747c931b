import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { formKey } from '../../server/http/form-posts.ts'
import { orderSchema } from '../../shared/order.ts'
import { anOrder } from '../support/an-order.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const MINUTE_MS = 60_000
/** The begin of a window of ten minutes. */
const START = Date.UTC(2026, 10, 22, 12)
/** Connections on which nothing moves are cut after a second. */
const PATIENCE = { headersMs: 1000, requestMs: 1000, standstillMs: 1000 }

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ mails: false, patience: PATIENCE })
})
afterAll(() => app?.close())
beforeEach(() => app.db.enquiry.deleteMany())
afterEach(() => {
  vi.useRealTimers()
})

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

it('one that the database takes ten seconds for, over the edge of a window, is the same enquiry', async () => {
  const first = await formKey(app.orders, typed, START + 9.99 * MINUTE_MS)
  let looks = 0
  const waking = { ...app.orders, knows: async () => ++looks === 2 }
  expect(await formKey(waking, typed, START + 10.15 * MINUTE_MS)).toBe(first)
})

it('servers of two versions, side by side in an update, make the same key', async () => {
  const later = START + MINUTE_MS // when nothing of the window before is waited for
  expect(await formKey(app.orders, { name: 'Asha Verma' }, later)).toBe('20581d09-9f4b-8ebf-94fb-05bed932235f')
})

/** As a browser without scripts, of a site without built pages. */
async function post(fields: object, minutes = 1) {
  vi.useFakeTimers({ toFake: ['Date'], now: START + minutes * MINUTE_MS })
  const body = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))
  const answer = await fetch(`${app.url}/buy-now`, { method: 'POST', redirect: 'manual', body })
  const outcome = answer.status === 303 ? undefined : await answer.json()
  return { status: answer.status, reference: answer.headers.get('location')?.split('=')[1], outcome }
}

it('one that may be stored comes back with its key: unchanged it is the same order however late, changed another', async () => {
  const { submissionKey: _, ...fields } = typed
  await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" RENAME TO "Away"`
  const failed = await post(fields).finally(() => app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Mail"`)
  expect(failed.status).toBe(503)
  const { submissionKey } = failed.outcome.order.uncertain
  const { reference } = await app.orders.submit({ ...typed, submissionKey }) // what the database did after we gave up
  expect(await post({ ...fields, submissionKey })).toMatchObject({ status: 303, reference })
  expect((await post({ ...fields, quantity: typed.quantity + 1, submissionKey })).status).toBe(303)
  expect(await app.db.enquiry.count()).toBe(2)
})

it('one at the edge of a window waits for it and is answered, though nothing moves on its connection meanwhile', async () => {
  const { submissionKey: _, ...fields } = typed
  expect(await post(fields, 10 + 17.8 / 60)).toMatchObject({ status: 303 })
  expect(await app.db.enquiry.count()).toBe(1)
})

it('a repeat does not make the ten minutes begin anew', async () => {
  const first = await submitAt(9)
  for (const minutes of [11, 19]) expect(await submitAt(minutes)).toEqual(first)
  const later = await submitAt(21)
  expect(later).not.toEqual(first)
  expect(await submitAt(31)).toEqual(later)
  expect(await app.db.enquiry.count()).toBe(2)
})

it('after twenty minutes it is another one', async () => {
  await submitAt(5)
  await submitAt(20.4)
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
