// The sender runs in one process at a time, keeps to the pace of Resend, and continues by itself after a failure.
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { type ClaimedMail, claimNext, recordAnswer } from '../../server/mail/queue.ts'
import { type Channel, startSender } from '../../server/mail/sender.ts'
import { type Answer, queuedKinds } from '../../server/mail/states.ts'
import { anOrder, call, postForm, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anApp } from '../support/fixtures.ts'
import { storeEnquiries } from '../support/stored-enquiry.ts'

const silent = { error() {}, warn() {}, debug() {} }

/** A channel that sends the notices of a database, as fast as it can. */
function channelOf(
  db: Db,
  answer: (mail: ClaimedMail) => Answer | Promise<Answer>,
  changes: Partial<Channel> = {},
): Channel {
  const claim = { kinds: queuedKinds, open: queuedKinds, staff: [STAFF], leaseSeconds: 60 }
  return {
    lease: 'tested',
    retrySeconds: 0.05,
    intervalMs: () => 0,
    prepare: async () => {},
    claim: (isProbing) => claimNext(db, { ...claim, isProbing }),
    attempt: async (mail) => answer(mail),
    logAnswer() {},
    ...changes,
  }
}

const claimOne = (db: Db) =>
  claimNext(db, { kinds: ['Notice'], open: ['Notice'], staff: [STAFF], isProbing: false, leaseSeconds: 60 })

describe('the sender', () => {
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

  it('sends one mail at a time, so far apart that Resend refuses hardly any', async () => {
    const app = await anApp({ mails: false })
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

  it('pauses when Resend refuses the key, and continues by itself', async () => {
    const app = await anApp({ mails: false })
    await storeEnquiries(app.db, 5)
    let isRefused = true
    const answers: Answer[] = []
    const sender = startSender(
      app.db,
      channelOf(app.db, () => {
        const answer: Answer = isRefused
          ? { is: 'not taken', error: '401', pauseMs: 300, isOurs: true }
          : { is: 'taken' }
        answers.push(answer)
        return answer
      }),
      { log: silent, leaseSeconds: 60, pollMs: 50 },
    )
    await eventually(() => expect(answers.length).toBeGreaterThan(1))
    const [started, before] = [performance.now(), answers.length]
    await eventually(() => expect(answers.length).toBeGreaterThan(before + 1))
    expect(performance.now() - started).toBeGreaterThan(250)
    isRefused = false
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(10))
    await sender.stop(0)
  })

  it('keeps to three mails while answers are unclear, with growing pauses, and then sends all', async () => {
    const app = await anApp({ mails: false })
    await storeEnquiries(app.db, 30)
    let isDown = true
    const tries: number[] = []
    const sender = startSender(
      app.db,
      channelOf(app.db, () => {
        tries.push(performance.now())
        return isDown ? { is: 'unclear', error: '502' } : { is: 'taken' }
      }),
      { log: silent, leaseSeconds: 60, pollMs: 20 },
    )
    await eventually(() => expect(tries.length).toBeGreaterThanOrEqual(7))
    const tried = await app.db.mail.count({ where: { firstTriedAt: { not: null } } })
    expect(tried).toBe(3)
    const pauses = tries.slice(3).map((time, index) => time - (tries[index + 2] ?? 0))
    expect(pauses[3]).toBeGreaterThan(290) // 400 ms, with jitter of a quarter; the first one is of 50 ms
    isDown = false
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(60))
    await sender.stop(0)
  })

  it('goes on while one mail gets an unclear answer again and again', async () => {
    const app = await anApp({ mails: false })
    await storeEnquiries(app.db, 20)
    const poisoned = await app.db.mail.findFirstOrThrow({ where: { kind: 'Notice' } })
    const sender = startSender(
      app.db,
      channelOf(app.db, ({ id }) => (id === poisoned.id ? { is: 'unclear', error: '403' } : { is: 'taken' })),
      { log: silent, leaseSeconds: 60, pollMs: 20 },
    )
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(39))
    await sender.stop(0)
  })

  it('reports a statement that fails once, sends nothing meanwhile, and orders are stored as before', async () => {
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
    expect((await submit(app.url, anOrder())).status).toBe(200)
    const since = app.logLines.length
    await eventually(() => expect(app.logLines.length).toBeGreaterThan(since - 1))
    await app.db.$executeRaw`DROP FUNCTION too_slow CASCADE`
    await eventually(() => expect(app.resend.mails).toHaveLength(4))
    expect(app.countLogged('the sender cannot work')).toBe(1)
  })

  it('reports an error without a code of PostgreSQL, unless the database is away', async () => {
    const app = await anApp({ mails: false })
    const lines: unknown[] = []
    const log = { ...silent, error: (...line: unknown[]) => lines.push(line) }
    const onDatabaseAway = vi.fn()
    const messages = ['Query read timeout', 'Connection terminated', 'timeout exceeded when trying to connect']
    const errors = [
      new RangeError('a fault'),
      new TypeError('another'),
      ...messages.map((message) => new Error(message)),
    ]
    const failing = vi.fn()
    const senders = errors.map((error) => {
      const prepare = () => {
        failing()
        return Promise.reject(error)
      }
      const channel = channelOf(app.db, () => ({ is: 'taken' }), { lease: error.message, prepare })
      return startSender(app.db, channel, { log, leaseSeconds: 60, pollMs: 20, onDatabaseAway })
    })
    await eventually(() => expect(failing.mock.calls.length).toBeGreaterThan(20)) // several polls of each
    await Promise.all(senders.map(({ stop }) => stop(0)))
    expect(lines).toHaveLength(2)
    expect(onDatabaseAway.mock.calls.length).toBeGreaterThan(3)
  })

  it('sends nothing when another process has taken over during a long preparation', async () => {
    const app = await anApp({ mails: false })
    await storeEnquiries(app.db, 1)
    const sentBy: string[] = []
    const prepared = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const channel = (name: string, prepare: () => Promise<void>) =>
      channelOf(
        app.db,
        () => {
          sentBy.push(name)
          return { is: 'taken' }
        },
        { prepare },
      )
    const options = { log: silent, leaseSeconds: 60, pollMs: 20 }
    const slow = startSender(
      app.db,
      channel('slow', () => {
        begun.resolve()
        return prepared.promise
      }),
      options,
    )
    await begun.promise
    await app.db.lease.updateMany({ where: { name: 'tested' }, data: { until: new Date(0) } })
    const other = startSender(
      app.db,
      channel('other', async () => {}),
      options,
    )
    await eventually(() => expect(sentBy).toHaveLength(2))
    prepared.resolve()
    await Promise.all([slow.stop(0), other.stop(0)])
    expect(new Set(sentBy)).toEqual(new Set(['other']))
  })

  it('runs in one of several processes; another one takes over when that process ends', async () => {
    const app = await anApp()
    const holders = () => app.db.lease.findMany({ where: { name: 'mail sender' } })
    await eventually(async () => expect(await holders()).toHaveLength(1))
    const [first] = await holders()
    const other = app.startSenders()
    await submit(app.url, anOrder())
    await eventually(() => expect(app.resend.mails).toHaveLength(2))
    expect((await holders())[0]?.holder).toBe(first?.holder)
    await app.senders.stop(1000)
    await submit(app.url, anOrder({ email: 'next@shop.example' }))
    await eventually(() => expect(app.resend.mails).toHaveLength(4))
    await other.stop(1000)
  })

  it('waits for the try under way when it is stopped, and then ends it', async () => {
    const app = await anApp({ mails: false })
    await storeEnquiries(app.db, 1)
    app.resend.behaviour = { answersAfterMs: 200 }
    const patient = app.startSenders()
    await eventually(() => expect(app.resend.calls.all).toBe(1))
    await patient.stop(5000)
    expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(1)
    app.resend.behaviour = 'hang'
    const impatient = app.startSenders()
    await eventually(() => expect(app.resend.calls.all).toBe(2))
    await impatient.stop(0)
    expect(await app.db.mail.findMany({ where: { status: 'Pending' } })).toMatchObject([
      { lastError: expect.stringContaining('no answer') },
    ])
  })
})

describe('a claim', () => {
  it('is of one process, when two want it at the same moment', async () => {
    const app = await anApp({ mails: false })
    await storeEnquiries(app.db, 1)
    let late: Promise<ClaimedMail | undefined> = Promise.resolve(undefined)
    await app.db.$transaction(async (other) => {
      expect(await claimOne(other as Db)).toBeDefined()
      late = claimOne(app.db)
      await eventually(async () => {
        const waiting = await app.db.$queryRaw`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        expect(waiting).toHaveLength(1)
      })
    })
    expect(await late).toBeUndefined()
  })

  it('that another process has taken over, or a retry has ended, records no answer', async () => {
    const app = await anApp({ mails: false })
    await storeEnquiries(app.db, 1)
    const taken: Answer = { is: 'taken', resendId: 'x' }
    const stale = (await claimOne(app.db)) as ClaimedMail
    await app.db.mail.updateMany({ data: { dueAt: new Date() } })
    const fresh = (await claimOne(app.db)) as ClaimedMail
    expect(await recordAnswer(app.db, stale, taken, 0)).toBe(false)
    expect(await recordAnswer(app.db, { ...fresh, tag: crypto.randomUUID() }, taken, 0)).toBe(false)
    expect(await recordAnswer(app.db, fresh, taken, 0)).toBe(true)
  })
})

it('does not call a failing Resend more often when the clock of its machine is behind the database’s', async () => {
  const app = await anApp({ mails: false, retrySeconds: 0.3 })
  await storeEnquiries(app.db, 1)
  app.resend.behaviour = { status: 500, name: 'internal_server_error' }
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000 })
  try {
    const senders = app.startSenders()
    await sleep(1000)
    await senders.stop(1000)
  } finally {
    vi.useRealTimers()
  }
  expect(app.resend.calls.all).toBeGreaterThan(1)
  expect(app.resend.calls.all).toBeLessThanOrEqual(8)
})
