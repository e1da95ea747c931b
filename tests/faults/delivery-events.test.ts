// Delivery events leave each mail in its final state, though the events are repeated, out of order, early or forged,
// and the server is killed meanwhile.
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import type { ReceivedMail } from '../support/fake-resend.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { sendOrders } from '../support/load.ts'
import { deliveryEvent, sendEvent, WEBHOOK_SECRET } from '../support/resend-events.ts'
import { freePort } from '../support/server-process.ts'

const { setUp } = createFaultFixtures()
const FORGER = `whsec_${Buffer.from('somebody else’s secret').toString('base64')}`

/** What Resend tells of a mail, and what staff have to see in the end. */
const fates = [
  { types: ['sent', 'delivered'], final: 'Delivered' },
  { types: ['sent', 'delivery_delayed', 'delivered'], final: 'Delivered' },
  { types: ['delivery_delayed', 'bounced'], final: 'Bounced' },
  { types: ['delivered', 'complained'], final: 'Complained' },
  { types: ['suppressed'], final: 'Bounced' },
  { types: ['delivery_delayed'], final: 'Sent' },
] as const

it('events that are repeated, out of order, early and forged leave every mail as it ended, across kills', async () => {
  const fixture = await setUp()
  const PORT = String(await freePort())
  const url = `http://127.0.0.1:${PORT}`
  const env = { PORT, RESEND_WEBHOOK_SECRET: WEBHOOK_SECRET }
  let server = await fixture.start(env)
  const numbers = fc.sample(fc.noBias(fc.nat(999)), { seed: 20261122, numRuns: 5000 })
  const random = () => (numbers.pop() ?? 0) / 1000
  const finals = new Map<string, string>()
  const counts = { events: 0, repeatedAfterKill: 0, forged: 0, forgedTaken: 0, old: 0, oldTaken: 0 }
  const telling: Promise<unknown>[] = []

  /** Like Resend, until it is answered with 200. */
  async function tell(event: object, id: string) {
    for (;;) {
      const answer = await sendEvent(url, event, { id }).catch(() => undefined)
      if (answer?.status === 200) return
      counts.repeatedAfterKill++
      await sleep(100)
    }
  }
  async function lie(id: string) {
    const event = deliveryEvent('bounced', id, 'made up')
    const forged = await sendEvent(url, event, { secret: FORGER }).catch(() => undefined)
    const old = await sendEvent(url, event, { at: new Date(Date.now() - 600_000) }).catch(() => undefined)
    counts.forged++
    counts.old++
    if (forged && forged.status !== 401) counts.forgedTaken++
    if (old && old.status !== 401) counts.oldTaken++
  }
  fixture.resend.onMail = ({ tag: id, subject }: ReceivedMail) => {
    if (!subject.includes(brand.referencePrefix)) return // a summary of notices that bounced
    const fate = fates[Math.floor(random() * fates.length)] ?? fates[0]
    finals.set(id, fate.final)
    const events = fate.types.flatMap((type) => {
      const told = { event: deliveryEvent(type, id, 'mailbox unknown'), id: `msg_${type}_${id}` }
      return [told, told]
    })
    for (const { event, id: eventId } of events) {
      counts.events++
      telling.push(sleep(random() * 600).then(() => tell(event, eventId)))
    }
    if (random() < 0.3) telling.push(sleep(random() * 600).then(() => lie(id)))
  }

  let kills = 0
  async function kill() {
    kills++
    await server.stop('SIGKILL')
    server = await fixture.start(env)
  }
  const load = await sendOrders({
    url: () => url,
    orders: 120,
    concurrency: 4,
    retry: true,
    at: { 40: kill, 90: kill },
  })
  const result = await fixture.inspect((db) => audit(db, load, fixture.resend))
  await Promise.all(telling)
  const wrong = await fixture.inspect(async (db) => {
    const mails = await db.mail.findMany({ where: { kind: { not: 'Summary' } } })
    return mails.filter(({ tag, status }) => finals.get(tag) !== status)
  })
  report('events', { mails: finals.size, wrong: wrong.length, ...counts, ...result })
  expect(kills).toBe(2)
  expect(finals.size).toBe(240)
  expect(wrong).toEqual([])
  expect(counts).toMatchObject({ forgedTaken: 0, oldTaken: 0 })
  expect(counts.forged).toBeGreaterThan(20)
  expectNothingLost(result)
})
