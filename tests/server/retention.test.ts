import pino from 'pino'
import { afterEach, expect, it } from 'vitest'
import { monthsBefore, startRetention } from '../../server/enquiries/retention.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { startTestApp } from '../support/test-app.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action()
})

it('erases enquiries past their time with their mails, once among all processes, and says how many', async () => {
  const app = await startTestApp({ mails: false })
  cleanUp.push(app.close)
  const references: (string | undefined)[] = []
  for (let index = 0; index < 3; index++) references.push((await submit(app.url, anOrder())).reference)
  const limit = monthsBefore(new Date(), 24)
  const age = (reference: string | undefined, receivedAt: Date) =>
    app.db.enquiry.updateMany({ where: { reference: reference ?? '' }, data: { receivedAt } })
  await age(references[0], new Date(limit.getTime() - 60_000))
  await age(references[1], new Date(limit.getTime() + 60_000))
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => lines.push(line) })
  for (let process = 0; process < 3; process++) cleanUp.push(startRetention(app.db, 24, log))

  await eventually(() => lines.length > 0)
  const left = await app.db.enquiry.findMany({ select: { reference: true } })
  expect(left.map(({ reference }) => reference).sort()).toEqual(references.slice(1).sort())
  expect(await app.db.mail.count()).toBe(4)
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ erased: 1, months: 24, msg: 'enquiries past their time were erased' }),
  ])
})

it('counts months as the calendar does', () => {
  expect(monthsBefore(new Date('2028-02-29T10:00:00Z'), 24).toISOString()).toBe('2026-02-28T10:00:00.000Z')
  expect(monthsBefore(new Date('2026-11-22T10:00:00Z'), 24).toISOString()).toBe('2024-11-22T10:00:00.000Z')
})
