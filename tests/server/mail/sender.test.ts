// The sender runs in one process at a time, keeps to the pace of Resend, and continues by itself after a failure.

import { describe, expect, it, vi } from 'vitest'
import type { Db } from '../../../server/database/database.ts'
import { isLeased, takeLease } from '../../../server/database/lease.ts'
import { queuedKinds } from '../../../server/mail/kinds.ts'
import { type ClaimedMail, claimNext, recordAnswer } from '../../../server/mail/queue.ts'
import { type Channel, startSender } from '../../../server/mail/sender.ts'
import type { Answer } from '../../../server/mail/states.ts'
import { anOrder, submit } from '../../support/an-order.ts'
import { atEnd } from '../../support/at-end.ts'
import { eventually, untilSomeoneWaits } from '../../support/eventually.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, theApp } from '../../support/fixtures.ts'
import { storeEnquiries } from '../../support/stored-enquiry.ts'

const silent = { error() {}, warn() {}, debug() {} }
/** Its mails wait until a test starts to send them. */
const app = await theApp({ mails: false })
const countSent = () => app.db.mail.count({ where: { status: 'Sent' } })

/** A channel that sends as fast as it can. */
function channelOf(answer: (mail: ClaimedMail) => Answer, changes: Partial<Channel> = {}): Channel {
  const claim = { of: queuedKinds, open: queuedKinds, staff: [STAFF], claimSeconds: 60 }
  return {
    lease: 'tested',
    retrySeconds: 0.05,
    intervalMs: () => 0,
    prepare: async () => {},
    claim: (isProbing) => claimNext(app.db, { ...claim, isProbing }),
    attempt: async (mail) => answer(mail),
    logAnswer() {},
    ...changes,
  }
}

/** Sends through it until the test ends. */
function start(channel: Channel, options = {}) {
  const sender = startSender(app.db, channel, { log: silent, claimSeconds: 60, pollMs: 20, ...options })
  atEnd(() => sender.stop(0))
  return sender
}

const claimOne = (db: Db = app.db) =>
  claimNext(db, { of: ['Notice'], open: ['Notice'], staff: [STAFF], isProbing: false, claimSeconds: 60 })

describe('the sender', () => {
  it('sends one mail at a time, so far apart that Resend refuses hardly any', async () => {
    app.resend.behaviour = { limitASecond: 8 }
    await storeEnquiries(app.db, 10)
    let mostUnderWay = 0
    app.resend.onMail = () => {
      mostUnderWay = Math.max(mostUnderWay, app.resend.calls.underWay)
    }
    const senders = app.startSenders()
    await eventually(() => expect(app.resend.mails).toHaveLength(20))
    await senders.stop(1000)
    expect(mostUnderWay).toBe(1)
    expect(app.resend.calls.limited).toBeLessThanOrEqual(1) // the first second, while the limit is unknown
  })

  it('keeps to three mails while answers are unclear, with growing pauses, and then sends all', async () => {
    await storeEnquiries(app.db, 30)
    let isDown = true
    const tries: number[] = []
    const answer = (): Answer =>
      tries.push(performance.now()) && isDown ? { is: 'unclear', error: '502' } : { is: 'taken' }
    // So far apart, as Resend's limit keeps them, that one of the tried is due after each pause, whatever the jitter.
    start(channelOf(answer, { intervalMs: () => (isDown ? 40 : 0) }))
    await eventually(() => expect(tries.length).toBeGreaterThanOrEqual(7))
    expect(await app.db.mail.count({ where: { firstTriedAt: { not: null } } })).toBe(3)
    const pauses = tries.slice(3).map((time, index) => time - (tries[index + 2] ?? 0))
    expect(pauses[3]).toBeGreaterThan(290) // 400 ms, with jitter of a quarter; the first one is of 50 ms
    isDown = false
    await eventually(async () => expect(await countSent()).toBe(60))
  })

  it('tries at once after a start what Resend had not taken, as its limit or the key may be another one', async () => {
    app.resend.behaviour = {
      status: 429,
      name: 'monthly_quota_exceeded',
      message: 'You have reached your monthly quota',
    }
    await storeEnquiries(app.db, 1)
    const before = app.startSenders()
    const waiting = { status: 'Pending', attempts: 1, dueAt: { gt: new Date(Date.now() + 1_800_000) } } as const
    await eventually(async () => expect(await app.db.mail.count({ where: waiting })).toBe(1))
    await before.stop(1000)
    app.resend.behaviour = 'accept'
    const after = app.startSenders()
    await eventually(async () => expect(await countSent()).toBe(2))
    await after.stop(1000)
  })

  it('sends nothing when another process has taken over during a long preparation', async () => {
    await storeEnquiries(app.db, 1)
    const sent = vi.fn(() => ({ is: 'taken' }) as const)
    const begun = Promise.withResolvers<void>()
    const prepared = Promise.withResolvers<void>()
    const taken = Promise.withResolvers<void>()
    const prepareSlowly = () => {
      begun.resolve()
      return prepared.promise
    }
    const slow = start(channelOf(sent, { prepare: prepareSlowly }))
    await begun.promise
    await app.db.lease.updateMany({ where: { name: 'tested' }, data: { until: new Date(0) } })
    start(channelOf(sent, { prepare: async () => taken.resolve(), claim: async () => undefined }))
    await taken.promise
    prepared.resolve()
    await slow.stop(5000)
    expect(sent).not.toHaveBeenCalled()
  })

  it('runs in one of several processes; another one takes over when that process ends', async () => {
    const site = await anApp()
    const holder = async () => (await site.db.lease.findFirst({ where: { name: 'mail sender' } }))?.holder
    await eventually(async () => expect(await holder()).toBeDefined())
    const first = await holder()
    const other = site.startSenders()
    await submit(site.url, anOrder())
    await eventually(() => expect(site.resend.mails).toHaveLength(2))
    expect(await holder()).toBe(first)
    await site.senders.stop(1000)
    await submit(site.url, anOrder({ email: 'next@shop.example' }))
    await eventually(() => expect(site.resend.mails).toHaveLength(4))
    await other.stop(1000)
  })
})

describe('a claim', () => {
  it('is of one process, when two want it at the same moment', async () => {
    await storeEnquiries(app.db, 1)
    let late: Promise<ClaimedMail | undefined> = Promise.resolve(undefined)
    await app.db.$transaction(async (other) => {
      expect(await claimOne(other as Db)).toBeDefined()
      late = claimOne()
      await untilSomeoneWaits(app.db)
    })
    expect(await late).toBeUndefined()
  })

  it('that another process has taken over, or a retry has ended, records no answer', async () => {
    await storeEnquiries(app.db, 1)
    const taken: Answer = { is: 'taken', resendId: 'x' }
    const stale = (await claimOne()) as ClaimedMail
    await app.db.mail.updateMany({ data: { dueAt: new Date() } })
    const fresh = (await claimOne()) as ClaimedMail
    expect(await recordAnswer(app.db, stale, taken, 0)).toBe(false)
    expect(await recordAnswer(app.db, { ...fresh, tag: crypto.randomUUID() }, taken, 0)).toBe(false)
    expect(await recordAnswer(app.db, fresh, taken, 0)).toBe(true)
  })
})

it('a failed mail is due again by the database’s clock, also where that of this machine is behind', async () => {
  await storeEnquiries(app.db, 1)
  app.resend.behaviour = { status: 500, name: 'internal_server_error' }
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000 })
  atEnd(() => vi.useRealTimers())
  const senders = app.startSenders({ MAIL_RETRY_SECONDS: 100 })
  await eventually(async () => expect(await app.db.mail.count({ where: { lastError: { not: null } } })).toBe(2))
  await senders.stop(1000)
  const due = await app.db.$queryRaw`
    SELECT FROM "Quvera_Mail" WHERE "DueAt" NOT BETWEEN now() + interval '70 seconds' AND now() + interval '125 seconds'`
  expect(due).toEqual([])
})

it('a lease is one holder’s until its time is over, and nobody’s from before the clock was set back', async () => {
  const take = (holder: string) => takeLease(app.db, 'one', holder, 10)
  expect([await take('a'), await take('b'), await take('a')]).toEqual([true, false, true])
  await app.db.$executeRaw`UPDATE "Quvera_Lease" SET "Until" = now() - interval '1 second'`
  expect([await take('b'), await take('a')]).toEqual([true, false])
  expect(await isLeased(app.db, 'one', 10)).toBe(true)
  await app.db.$executeRaw`UPDATE "Quvera_Lease" SET "Until" = now() + interval '1 hour'`
  expect(await isLeased(app.db, 'one', 10)).toBe(false)
  expect([await take('a'), await take('b')]).toEqual([true, false])
})

it('in an outage a tried mail that is not due, or for who has left, keeps no untried one from being a probe', async () => {
  await storeEnquiries(app.db, 3)
  const [later, left, untried] = await app.db.mail.findMany({ where: { kind: 'Notice' }, orderBy: { id: 'asc' } })
  const tried = { firstTriedAt: new Date() }
  const inAnHour = new Date(Date.now() + 3_600_000)
  await app.db.mail.deleteMany({ where: { kind: 'Acknowledgement' } })
  await app.db.mail.update({ where: { id: later?.id ?? 0n }, data: { ...tried, dueAt: inAnHour } })
  await app.db.mail.update({ where: { id: left?.id ?? 0n }, data: { ...tried, to: 'left@quvera.test' } })
  const probe = () =>
    claimNext(app.db, { of: ['Notice'], open: ['Notice'], staff: [STAFF], isProbing: true, claimSeconds: 60 })
  expect((await probe())?.id).toBe(untried?.id)
  await app.db.mail.updateMany({ data: { dueAt: new Date(Date.now() - 1000), firstTriedAt: null } })
  await app.db.mail.update({ where: { id: later?.id ?? 0n }, data: tried })
  expect((await probe())?.id).toBe(later?.id) // a tried one that is due goes first
})
