// /readyz tells the public whether orders can be stored and nothing else, and an outage is two lines of the log.
import { expect, it } from 'vitest'
import { anOrder, call, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { theApp } from '../support/fixtures.ts'

const app = await theApp({ mails: false })

const ready = async () => (await fetch(`${app.url}/readyz`)).status

it('a failed write makes the site unready until writing works again: two lines of the log, and nothing else for the public', async () => {
  expect(await (await fetch(`${app.url}/readyz`)).json()).toEqual({ status: 'ok' })
  await app.db.$executeRaw`ALTER TABLE "Quvera_Form" RENAME TO "Away"`
  for (let index = 0; index < 5; index++) {
    const answer = await submit(app.url, anOrder())
    expect([answer.status, answer.message]).toEqual([503, 'Error adding document'])
  }
  expect(await ready()).toBe(503)
  expect(await (await fetch(`${app.url}/readyz`)).json()).toEqual({ status: 'unavailable' })
  await app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Form"`
  await eventually(async () => expect(await ready()).toBe(200))
  expect(await app.db.enquiry.count()).toBe(0)
  const lines = app.logLines
    .map((line) => JSON.parse(line))
    .filter(({ level, msg, route }) => level >= 50 || /again/.test(msg) || (level > 20 && route === '/readyz'))
  expect(lines).toMatchObject([
    { level: 50, cause: '42P01', msg: 'enquiries cannot be stored' },
    { level: 30, msg: 'enquiries can be stored again' },
  ])
})

it('a pool that is busy does not make the site unready', async () => {
  const busy = app.db.$transaction(async (transaction) => {
    await transaction.$executeRaw`LOCK TABLE "Quvera_Lease"`
    const waiting = Array.from({ length: 30 }, () => app.db.lease.count())
    expect(await ready()).toBe(200)
    return waiting
  })
  expect(await Promise.all(await busy)).toEqual(Array(30).fill(0))
})

it('a subscription that is refused says nothing of orders: one error in the log, and the site stays ready', async () => {
  await app.db.$executeRaw`ALTER TABLE "Quvera_Subscriber" RENAME TO "Away"` // refused as for a right that is missing
  for (let index = 0; index < 3; index++) {
    const answer = await call(app.url, 'subscription.subscribe', { email: 'asha@shop.example' })
    expect(answer.status).toBe(503)
  }
  expect(await ready()).toBe(200)
  await app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Subscriber"`
  expect((await call(app.url, 'subscription.subscribe', { email: 'asha@shop.example' })).status).toBe(200)
  expect(app.loggedErrors()).toMatchObject([{ msg: 'subscriptions cannot be stored' }])
})
