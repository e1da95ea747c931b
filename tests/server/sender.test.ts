// The sender runs in one process at a time, keeps to the pace of Resend, and continues by itself after a failure.
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { claimUntried } from '../../server/mail/queue.ts'
import { startSender, type Transport } from '../../server/mail/sender.ts'
import { createTurns } from '../../server/mail/turns.ts'
import { anOrder, call, postForm, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { type Behaviour, STAFF } from '../support/fake-resend.ts'
import { anApp } from '../support/fixtures.ts'
import { hoursAgo, storeEnquiries } from '../support/stored-enquiry.ts'

describe('the sender', () => {
  it('does not call a failing Resend more often when the clock of its machine is ten minutes behind the database’s', async () => {
    const app = await anApp({ mails: false, retrySeconds: 2 })
    app.resend.behaviour = { status: 500, name: 'internal_server_error' }
    await submit(app.url, anOrder())
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000 })
    atEnd(() => vi.useRealTimers())
    const outbox = app.startOutbox()
    await sleep(4000)
    await outbox.stop(1000)
    expect(app.resend.calls.all).toBeGreaterThan(1)
    expect(app.resend.calls.all).toBeLessThanOrEqual(6)
  })

  it('withholds all old mails before it sends one, and tells of their enquiries in a summary', async () => {
    const app = await anApp({ mails: false })
    await submit(app.url, anOrder())
    await storeEnquiries(app.db, 3000, hoursAgo(60 * 24))
    const withheldAtFirstMail = new Promise<number>((done) => {
      app.resend.onMail = () => done(app.db.mail.count({ where: { status: 'Withheld' } }))
    })
    const outbox = app.startOutbox()
    expect(await withheldAtFirstMail).toBe(6000)
    await eventually(() => expect(app.resend.mails).toHaveLength(3))
    await outbox.stop(1000)
    expect(app.resend.mails.map(({ subject }) => subject).join()).not.toMatch(/QV-\d{1,4}\b/)
    const [summary] = app.resend.mails.filter(({ key }) => key.startsWith('summary/'))
    expect(summary?.subject).toMatch(/at least 2,000 enquiries wait, 3,000 mails did not arrive/)
  })

  it('begins as soon as an order, a form or a subscription is stored, and not at the next poll', async () => {
    const app = await anApp({ pollMs: 3_600_000 })
    const { submissionKey: _, ...fields } = anOrder({ name: 'Ravi' })
    await submit(app.url, anOrder())
    await eventually(() => expect(app.resend.mails).toHaveLength(2))
    await postForm(app.url, fields)
    await eventually(() => expect(app.resend.mails).toHaveLength(4))
    await call(app.url, 'subscription.subscribe', { email: 'asha@shop.example' })
    await eventually(() => expect(app.resend.mails).toHaveLength(5))
  })

  it('reports a statement that times out once, and orders are stored as before', async () => {
    const app = await anApp()
    await eventually(async () => expect(await app.db.lease.count({ where: { name: 'mail sender' } })).toBe(1))
    await app.db.$executeRaw`
      CREATE FUNCTION too_slow() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE query_canceled USING MESSAGE = 'canceling statement due to statement timeout'; END $$`
    await app.db.$executeRaw`
      CREATE TRIGGER too_slow BEFORE UPDATE ON "Quvera_Mail" FOR EACH ROW EXECUTE FUNCTION too_slow()`
    expect((await submit(app.url, anOrder())).status).toBe(200)
    await eventually(() => expect(app.countLogged('the sender cannot work')).toBe(1))
    expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
    await sleep(500) // several polls
    expect((await submit(app.url, anOrder())).status).toBe(200)
    await app.db.$executeRaw`DROP FUNCTION too_slow CASCADE`
    await eventually(() => expect(app.resend.mails).toHaveLength(4))
    expect(app.countLogged('the sender cannot work')).toBe(1)
  })

  it('reports an error without a code of PostgreSQL, unless the database is away', async () => {
    const app = await anApp({ mails: false })
    const lines: unknown[] = []
    const log = { error: (...line: unknown[]) => lines.push(line), debug() {} }
    const onDatabaseAway = vi.fn()
    const failing = (error: Error): Transport => ({
      lease: error.message,
      prepare: () => Promise.reject(error),
      parallel: 1,
      turns: createTurns(() => 0),
      claim: async () => [],
      attempt: async () => ({ status: 'Sent', lastError: null }),
      logResult: () => undefined,
    })
    const messages = ['Query read timeout', 'Connection terminated', 'timeout exceeded when trying to connect']
    const away = messages.map((message) => new Error(message))
    const errors = [new RangeError('a fault'), new TypeError('another'), ...away]
    const senders = errors.map((error) =>
      startSender(app.db, failing(error), { log, leaseSeconds: 60, pollMs: 50, onDatabaseAway }),
    )
    await sleep(500) // several polls
    await Promise.all(senders.map(({ stop }) => stop(0)))
    expect(lines).toHaveLength(2)
    expect(onDatabaseAway.mock.calls.length).toBeGreaterThan(3) // of all three, at several polls
  })

  it('begins tries so far apart that Resend refuses hardly any', async () => {
    const app = await anApp({ mails: false })
    app.resend.behaviour = { limitASecond: 4 }
    for (let index = 0; index < 8; index++) await submit(app.url, anOrder({ email: `v${index}@shop.example` }))
    const outbox = app.startOutbox()
    await eventually(() => expect(app.resend.mails).toHaveLength(16))
    await outbox.stop(1000)
    expect(new Set(app.resend.calls.keys).size).toBe(16)
    // All at once, twelve would be refused. On a loaded machine two may arrive together.
    expect(app.resend.calls.limited).toBeLessThanOrEqual(2)
  })

  it.each<[string, Behaviour, number]>([
    ['its limit is not named', { limitASecond: 2, isUnnamed: true }, 8],
    ['the address for replies is refused', { limitASecond: 2, refusesReplyTo: true }, 16],
    ['one of three receivers is refused', { limitASecond: 4, refusesAddress: 'bad@quvera.test' }, 20],
  ])(
    'keeps to the pace of Resend also where %s',
    async (_, behaviour, requests) => {
      const app = await anApp({ mails: false })
      app.resend.behaviour = behaviour
      for (let index = 0; index < 4; index++) await submit(app.url, anOrder({ email: `v${index}@shop.example` }))
      const isGroup = 'refusesAddress' in Object(behaviour)
      const outbox = app.startOutbox({
        MAIL_LEASE_SECONDS: 20,
        ...(isGroup && { STAFF_EMAILS: [STAFF, 'bad@quvera.test', 'desk@quvera.test'] }),
      })
      await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(8), 30_000)
      await outbox.stop(1000)
      expect(app.resend.calls.all - app.resend.calls.limited).toBe(requests)
      // Without turns more than half of all would be refused. On a loaded machine two may arrive together.
      expect(app.resend.calls.limited).toBeLessThanOrEqual(4)
    },
    60_000,
  )

  it('pauses when Resend refuses the key, and continues by itself', async () => {
    const app = await anApp({ retrySeconds: 0.1 })
    app.resend.behaviour = { status: 401, name: 'invalid_api_key' }
    for (let index = 0; index < 5; index++) await submit(app.url, anOrder({ email: `v${index}@shop.example` }))
    await eventually(() => expect(app.countLogged('the sender pauses')).toBeGreaterThan(0))
    const calls = app.resend.calls.all
    await sleep(600)
    expect(app.resend.calls.all - calls).toBeLessThan(5)
    app.resend.behaviour = 'accept'
    await eventually(() => expect(app.resend.mails).toHaveLength(10))
  })

  it('keeps the pause for which Resend asked when the database fails meanwhile', async () => {
    const app = await anApp()
    app.resend.behaviour = { status: 429, name: 'daily_quota_exceeded' }
    await submit(app.url, anOrder())
    await eventually(() => expect(app.countLogged('the sender pauses')).toBe(1))
    app.resend.behaviour = 'accept'
    await app.db.$executeRaw`ALTER TABLE "Quvera_Lease" RENAME TO "away"`
    await eventually(() => expect(app.countLogged('the sender cannot work')).toBe(1))
    await app.db.$executeRaw`ALTER TABLE "away" RENAME TO "Quvera_Lease"`
    await app.db.mail.updateMany({ data: { dueAt: new Date() } })
    await sleep(1000) // several polls
    expect(app.resend.mails).toHaveLength(0)
  })

  it('claims nothing when another process has taken over during a long preparation', async () => {
    const app = await anApp({ mails: false })
    const claims: string[] = []
    const work = (name: string, prepareMs: number): Transport => ({
      lease: 'tested',
      prepare: () => sleep(prepareMs),
      parallel: 1,
      turns: createTurns(() => 0),
      async claim() {
        claims.push(name)
        return []
      },
      attempt: async () => ({ status: 'Sent', lastError: null }),
      logResult: () => undefined,
    })
    const log = { error() {}, debug() {} }
    const slow = startSender(app.db, work('slow', 1500), { log, leaseSeconds: 60 })
    await sleep(500)
    await app.db.lease.updateMany({ where: { name: 'tested' }, data: { until: new Date(0) } })
    const other = startSender(app.db, work('other', 0), { log, leaseSeconds: 60 })
    await sleep(1500)
    await Promise.all([slow.stop(0), other.stop(0)])
    expect(new Set(claims)).toEqual(new Set(['other']))
  })

  it('does not get mails that another process claims at the same moment', async () => {
    const app = await anApp({ mails: false })
    await submit(app.url, anOrder())
    let late: Promise<unknown[]> = Promise.resolve([])
    await app.db.$transaction(async (other) => {
      expect(await claimUntried(other as Db, 'Notice', 10, 60)).toHaveLength(1)
      late = claimUntried(app.db, 'Notice', 10, 60)
      await eventually(async () => {
        const waiting = await app.db.$queryRaw`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        expect(waiting).toHaveLength(1)
      })
    })
    expect(await late).toEqual([])
  })

  it('runs in one of several processes; another one takes over when that process ends', async () => {
    const app = await anApp()
    await eventually(async () => expect(await app.db.lease.count({ where: { name: 'mail sender' } })).toBe(1))
    const other = app.startOutbox()
    await submit(app.url, anOrder())
    await eventually(() => expect(app.resend.mails).toHaveLength(2))
    const holders = () => app.db.lease.findMany({ where: { name: 'mail sender' } })
    const [first] = await holders()
    await sleep(500) // several polls
    expect((await holders())[0]?.holder).toBe(first?.holder)
    await app.outbox.stop(1000)
    await submit(app.url, anOrder({ email: 'next@shop.example' }))
    await eventually(() => expect(app.resend.mails).toHaveLength(4))
    await other.stop(1000)
  })
})
