// Staff are told of every enquiry: by a notice, or by a summary once no notice is on its way or has arrived.

import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { retryDeadlock } from '../../server/database/database.ts'
import { Prisma } from '../../server/database/generated/client.ts'
import type { MailStatus } from '../../server/database/generated/enums.ts'
import { isLeased } from '../../server/database/lease.ts'
import { readEnv } from '../../server/env.ts'
import { ANY_SENDER, MAIL_LEASE, REFUSED_LEASE } from '../../server/mail/states.ts'
import { createSummaryWriter, writeDigestIfDue, writeSummary } from '../../server/mail/summary.ts'
import { insertEnquiries, markSpam, toInsertRow } from '../../server/orders/storing.ts'
import { products } from '../../shared/catalogue.ts'
import { anOrder } from '../support/an-order.ts'
import { eventually, untilSomeoneWaits } from '../support/eventually.ts'
import { anApp, anOpenDatabase } from '../support/fixtures.ts'
import { columnsOf, hoursAgo, storeEnquiry } from '../support/stored-enquiry.ts'
import { administer } from '../support/test-database.ts'

const [ASHA, RAVI, MEERA] = ['asha@quvera.test', 'ravi@quvera.test', 'meera@quvera.test']
const DAY_MINUTES = 24 * 60

/** A database, whose time passes when a test says so, with what staff were told. */
async function aDesk(staff = [ASHA]) {
  const { db, env: variables } = await anOpenDatabase()
  const env = { ...readEnv({}), RESEND_API_KEY: 're_test', STAFF_EMAILS: staff }
  await db.lease.create({ data: { name: MAIL_LEASE, holder: 'one of the two', until: new Date() } })
  const failures: unknown[] = []
  const log = { error: (fields: unknown) => failures.push(fields) }
  const writers = [createSummaryWriter(db, env, log), createSummaryWriter(db, env, log)]
  return {
    db,
    env,
    variables,
    /** Stores an order as the site does. */
    async order(changes: Record<string, unknown> = {}) {
      const row = toInsertRow(anOrder(changes))
      await insertEnquiries(db, [row], { staff: env.STAFF_EMAILS, withPosts: true })
      return { id: row.Id, reference: row.Reference }
    },
    /** What becomes of notices, or of what `where` says. */
    async become(status: MailStatus, where: { enquiryId?: string; to?: string; kind?: 'Summary' } = {}) {
      await db.mail.updateMany({ where: { kind: 'Notice', ...where }, data: columnsOf(status) })
    },
    /** An order whose notices become bad, so that a summary has to tell of it. */
    async untold(status: MailStatus = 'Withheld') {
      const order = await this.order()
      await this.become(status, { enquiryId: order.id })
      return order.reference
    },
    async isUntold(id: string) {
      return (await db.enquiry.findUniqueOrThrow({ where: { id } })).untoldSince !== null
    },
    /** So many minutes pass, and the two processes that have the lease look for what is due. */
    async after(minutes: number) {
      const earlier = Prisma.sql`make_interval(secs => ${60 * minutes})`
      await db.$executeRaw`UPDATE "Quvera_Summary" SET "At" = "At" - ${earlier}`
      await db.$executeRaw`UPDATE "Quvera_Mail" SET "QueuedAt" = "QueuedAt" - ${earlier}`
      await db.$executeRaw`
        UPDATE "Quvera_Form" SET "UntoldSince" = "UntoldSince" - ${earlier}, "ReceivedAt" = "ReceivedAt" - ${earlier}`
      await Promise.all(writers.map((write) => write(false)))
      expect(failures).toEqual([])
    },
    summaries: () => db.summary.findMany({ orderBy: { id: 'asc' }, include: { mails: true } }),
  }
}

const references = (text = '') => text.match(/\b[A-Z]{2}-[0-9A-Z]{6}\b/g) ?? []

/** What becomes of each notice, and by what staff are told of the enquiry then. */
const cases: [notices: MailStatus[], told: 'by the notice' | 'by a summary' | 'later'][] = [
  [['Pending'], 'later'],
  [['Sent'], 'by the notice'],
  [['Delivered'], 'by the notice'],
  [['Complained'], 'by the notice'],
  [['Bounced'], 'by a summary'],
  [['Failed'], 'by a summary'],
  [['Unknown'], 'by a summary'],
  [['Withheld'], 'by a summary'],
  [['Delivered', 'Bounced'], 'by the notice'],
  [['Unknown', 'Pending'], 'later'],
  [['Withheld', 'Unknown'], 'by a summary'],
  [['Bounced', 'Failed', 'Complained'], 'by the notice'],
  [['Bounced', 'Failed', 'Withheld'], 'by a summary'],
]

describe('an enquiry whose notices become', () => {
  it.each(cases)('%j is told %s', async (notices, told) => {
    const desk = await aDesk([ASHA, RAVI, MEERA].slice(0, notices.length))
    const { id, reference } = await desk.order()
    for (const [index, status] of notices.entries())
      await desk.become(status, { enquiryId: id, to: desk.env.STAFF_EMAILS[index] ?? '' })
    expect(await desk.isUntold(id)).toBe(told === 'by a summary')
    await desk.after(0.9)
    expect(await desk.summaries()).toEqual([])
    await desk.after(1)
    const summaries = await desk.summaries()
    expect(summaries.flatMap(({ text }) => references(text))).toEqual(told === 'by a summary' ? [reference] : [])
    const receivers = summaries.flatMap(({ mails }) => mails.map(({ to }) => to))
    expect(receivers).toEqual(told === 'by a summary' ? desk.env.STAFF_EMAILS : [])
    expect(await desk.isUntold(id)).toBe(false)
    await desk.after(2 * DAY_MINUTES)
    expect(await desk.summaries()).toHaveLength(summaries.length) // told once
  })

  it('bad and then good again, by a retry or a late event, waits for no summary', async () => {
    const desk = await aDesk([ASHA, RAVI])
    const { id } = await desk.order()
    await desk.become('Failed', { enquiryId: id })
    expect(await desk.isUntold(id)).toBe(true)
    await desk.become('Pending', { enquiryId: id, to: RAVI })
    expect(await desk.isUntold(id)).toBe(false)
    await desk.become('Bounced', { enquiryId: id, to: RAVI })
    expect(await desk.isUntold(id)).toBe(true)
  })

  it('bad once staff have dealt with it is not untold, and neither is one that they deal with', async () => {
    const desk = await aDesk()
    const [first, second] = [await desk.order(), await desk.order()]
    await desk.db.enquiry.update({ where: { id: first.id }, data: { status: 'Contacted' } })
    await desk.become('Bounced')
    expect(await Promise.all([desk.isUntold(first.id), desk.isUntold(second.id)])).toEqual([false, true])
    await desk.db.enquiry.update({ where: { id: second.id }, data: { status: 'Closed' } })
    expect(await desk.isUntold(second.id)).toBe(false)
    await desk.after(DAY_MINUTES)
    expect(await desk.summaries()).toEqual([])
  })

  it('bad in two sessions at the same moment is untold', async () => {
    const desk = await aDesk([ASHA, RAVI])
    const { id } = await desk.order()
    let second: Promise<unknown> = Promise.resolve()
    await desk.db.$transaction(async (other) => {
      await other.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Failed', "DueAt" = NULL WHERE "To" = ${ASHA}`
      second = desk.become('Failed', { enquiryId: id, to: RAVI })
      await untilSomeoneWaits(other)
    })
    await second
    expect(await desk.isUntold(id)).toBe(true)
  })
})

describe('a summary', () => {
  it('waits an hour after the last one with a budget of 100, and names each enquiry once', async () => {
    const desk = await aDesk()
    const first = await desk.untold()
    await desk.after(2)
    await desk.become('Sent', { kind: 'Summary' })
    const others = [await desk.untold(), await desk.untold()]
    await desk.after(55)
    expect(await desk.summaries()).toHaveLength(1)
    await desk.after(5)
    const named = (await desk.summaries()).map(({ text }) => references(text).toSorted())
    expect(named).toEqual([[first], others.toSorted()])
  })

  it('that reaches nobody begets the next one a day later, or when there is a new address', async () => {
    const desk = await aDesk()
    await desk.untold()
    await desk.after(2)
    await desk.become('Bounced', { kind: 'Summary' })
    await desk.untold()
    await desk.after(DAY_MINUTES - 30)
    expect(await desk.summaries()).toHaveLength(1)
    desk.env.STAFF_EMAILS = [ASHA, RAVI]
    await desk.after(1)
    expect(await desk.summaries()).toHaveLength(2)
  })

  it.each<[minutes: number, newAddress: string, expected: object]>([
    [130, RAVI, [['Pending'], ['Pending', 'Pending']]], // begotten by the new address
    [DAY_MINUTES, ASHA, [['Withheld'], ['Pending']]],
  ])(
    'takes the place of one that was not tried for a day, and of no younger one: %i',
    async (minutes, address, expected) => {
      const desk = await aDesk()
      await desk.untold()
      await desk.after(2)
      desk.env.STAFF_EMAILS = [...new Set([ASHA, address])]
      await desk.untold()
      await desk.after(minutes)
      expect((await desk.summaries()).map(({ mails }) => mails.map(({ status }) => status))).toEqual(expected)
    },
  )

  it('names 2,000 enquiries, shows the newest ten and the number of the others, real ones before 7,000 bots', async () => {
    const desk = await aDesk()
    await desk.db.$executeRaw`
      INSERT INTO "Quvera_Form" ("Id", "Reference", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey", "SuspectedSpam", "UntoldSince")
      SELECT gen_random_uuid(), 'XX-' || n, 'x', 'x@shop.example', '9876543210', 1, 'Retailer', ${products[1]}::"Quvera_Product", '1', gen_random_uuid(), n > 5000, now() - interval '1 hour'
      FROM generate_series(1, 12000) n`
    const reference = await desk.untold()
    const untold = () => desk.db.enquiry.count({ where: { untoldSince: { not: null }, suspectedSpam: false } })
    const left: number[] = []
    for (let hour = 0; hour < 3; hour++) {
      await desk.after(61)
      await desk.become('Sent', { kind: 'Summary' })
      left.push(await untold())
    }
    expect(left).toEqual([3001, 1001, 0])
    const [first, , third] = await desk.summaries()
    expect(first?.text).toMatch(/^\S+: 2,000 enquiries, \d/)
    expect(first?.text.match(/XX-/g)).toHaveLength(10)
    expect(first?.text).toContain('and 1,990 more')
    expect(third?.text).toContain(reference)
    expect(third?.text).toMatch(/1,001 enquiries, 999 suspected/)
  })

  it('holds no text of a visitor', async () => {
    const desk = await aDesk()
    await desk.order({ name: 'Zoë Secret', email: 'secret@shop.example', quantity: 9_876_543_210 })
    await desk.become('Bounced')
    await desk.after(2)
    const [summary] = await desk.summaries()
    for (const secret of ['Zoë', 'Secret', 'secret', '9876543210', '9,876,543,210'])
      expect(summary?.text).not.toContain(secret)
  })

  it.each(['Quvera_Form', 'Quvera_Summary', 'Quvera_Mail'])(
    'that a crash ends before it writes %s leaves the enquiry untold',
    async (table) => {
      const { db } = await anOpenDatabase()
      await storeEnquiry(db, {}, { Notice: 'Bounced' })
      await db.$executeRaw`CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$`
      await db.$executeRawUnsafe(
        `CREATE TRIGGER crash BEFORE INSERT OR UPDATE ON "${table}" FOR EACH STATEMENT EXECUTE FUNCTION crash()`,
      )
      await expect(writeSummary(db, readEnv({}))).rejects.toThrow('crash')
      await db.$executeRaw`DROP FUNCTION crash CASCADE`
      expect(await db.enquiry.count({ where: { untoldSince: { not: null } } })).toBe(1)
      expect(await db.summary.count()).toBe(0)
    },
  )
})

it('suspected spam is told by a summary, apart, and by itself once a day', async () => {
  const desk = await aDesk()
  const first = await desk.order({ website: 'x' })
  await desk.after(2)
  await desk.become('Sent', { kind: 'Summary' })
  const second = await desk.order({ website: 'x' })
  await desk.after(DAY_MINUTES - 10)
  expect(await desk.summaries()).toHaveLength(1)
  await desk.after(10)
  const [one, two] = (await desk.summaries()).map(({ text }) => text)
  expect([references(one), references(two)]).toEqual([[first.reference], [second.reference]])
  expect(one).toMatch(/^\S+: 1 suspected, .*\n\nSuspected spam, without an acknowledgement:\n/)
})

it('mails to one who left STAFF_EMAILS are withheld ten minutes after they were queued, and a summary tells the others', async () => {
  const app = await anApp({ mails: false })
  const row = toInsertRow(anOrder())
  await insertEnquiries(app.db, [row], { staff: [ASHA], withPosts: false })
  /** What has become of the notice once so many mails were sent to the others. */
  async function afterMails(count: number) {
    const senders = app.startSenders({ STAFF_EMAILS: [RAVI] })
    await eventually(() => expect(app.resend.mails).toHaveLength(count))
    await senders.stop(1000)
    return app.db.mail.findFirst({ where: { kind: 'Notice' } })
  }
  expect(await afterMails(1)).toMatchObject({ to: ASHA, status: 'Pending' }) // it was the acknowledgement
  await app.db.mail.updateMany({ where: { kind: 'Notice' }, data: { queuedAt: hoursAgo(0.2) } })
  expect(await afterMails(2)).toMatchObject({ to: ASHA, status: 'Withheld', withheldBecause: 'NotStaff' })
  expect(app.resend.mails[1]).toMatchObject({ to: [RAVI], text: expect.stringContaining(row.Reference) })
})

it.each([
  ['waits for one who left', { to: ASHA, queuedAt: hoursAgo(0.2) }],
  ['bounced at one who was replaced', { to: ASHA, ...columnsOf('Bounced') }],
  ['was withheld from one who is back', { to: RAVI, ...columnsOf('Withheld'), withheldBecause: 'NotStaff' as const }],
])('a summary that %s is sent to whom nobody has sent it, once', async (_, mail) => {
  const app = await anApp({ mails: false })
  const mails = { create: { kind: 'Summary' as const, ...mail } }
  await app.db.summary.create({ data: { text: 'Quvera: 1 enquiry', at: hoursAgo(0.2), mails } })
  await app.db.lease.create({ data: { name: REFUSED_LEASE, holder: ANY_SENDER, until: hoursAgo(-0.1) } })
  for (const _start of [1, 2]) {
    const senders = app.startSenders({ STAFF_EMAILS: [RAVI] })
    await eventually(async () => expect(await app.db.mail.count({ where: { to: RAVI, status: 'Sent' } })).toBe(1))
    await senders.stop(1000)
  }
  expect(app.resend.mails).toMatchObject([{ to: [RAVI], subject: 'Quvera: 1 enquiry' }])
  expect(await isLeased(app.db, REFUSED_LEASE, 600)).toBe(false) // no more an alarm of a key that was refused before
})

describe('the digest', () => {
  /** Today, at this time in India. */
  const atInIndia = (clock: string, days = 0) => {
    const day = new Date(Date.now() + 5.5 * 3_600_000 + days * 86_400_000).toISOString().slice(0, 10)
    return new Date(`${day}T${clock}:00+05:30`)
  }

  it('is written once from its time on, with what waits, and again the next day', async () => {
    const desk = await aDesk()
    const digestAt = (clock: string, days = 0) => writeDigestIfDue(desk.db, desk.env, atInIndia(clock, days))
    expect(await digestAt('09:00', -1)).toBe(false) // nothing waits
    const waiting = await storeEnquiry(desk.db, { receivedAt: hoursAgo(80) })
    expect(await digestAt('09:01', -1)).toBe(false) // nor later on that day
    await desk.db.lease.deleteMany({ where: { name: 'digest' } })
    const ring = await storeEnquiry(desk.db, { receivedAt: hoursAgo(2) }, { Acknowledgement: 'Bounced' })
    await storeEnquiry(desk.db, { receivedAt: hoursAgo(23) })
    expect([await digestAt('08:59'), await digestAt('09:30'), await digestAt('09:31')]).toEqual([false, true, false])
    const [digest] = await desk.summaries()
    expect(digest?.text).toMatch(/^\S+: 1 enquiry waits, 1 visitor to ring, \d\d /)
    expect(references(digest?.text)).toEqual([waiting, ring])
    const [lease] = await desk.db.lease.findMany({ where: { name: 'digest' } })
    expect((Number(lease?.until) - Date.now()) / 3_600_000).toBeCloseTo(23.5, 1)
    await desk.db.lease.updateMany({ where: { name: 'digest' }, data: { until: new Date() } }) // as if the night had passed
    expect([await digestAt('08:59', 1), await digestAt('09:00', 1)]).toEqual([false, true])
  })

  it('says that the database is new, the first time after it was made', async () => {
    const desk = await aDesk()
    const digestOfOneMade = async (minutes: number) => {
      const at = new Date(Number(atInIndia('09:00')) + minutes * 60_000)
      await desk.db.$executeRaw`UPDATE _prisma_migrations SET finished_at = ${at}`
      await desk.db.lease.deleteMany({ where: { name: 'digest' } })
      return writeDigestIfDue(desk.db, desk.env, atInIndia('09:30'))
    }
    expect([await digestOfOneMade(5), await digestOfOneMade(-5)]).toEqual([false, true])
    expect((await desk.summaries())[0]?.text).toMatch(/^\S+: a new database, /)
    await desk.db.$executeRaw`UPDATE _prisma_migrations SET finished_at = now() - interval '2 days'`
  })
})

it('after a restore a summary that was pending holds up none', async () => {
  const desk = await aDesk()
  const reference = await desk.untold()
  await desk.after(2)
  await administer(desk.variables.DATABASE_URL ?? '', await readFile('server/database/after-pg-restore.sql', 'utf8'))
  await desk.after(61)
  expect((await desk.summaries()).map(({ text }) => references(text))).toEqual([[reference], [reference]])
})

it('a mark and an event that lock each other’s rows end, and both count', async () => {
  const desk = await aDesk([ASHA])
  const { id } = await desk.order()
  const begun = Promise.withResolvers<void>()
  const marking = desk.db.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT "Id"::text FROM "Quvera_Form" WHERE "Id" = ${id}::uuid FOR NO KEY UPDATE`
    begun.resolve()
    await untilSomeoneWaits(desk.db)
    return markSpam(transaction, id)
  })
  await begun.promise
  const failing = retryDeadlock(() => desk.become('Failed', { enquiryId: id }))
  const results = await Promise.allSettled([marking, failing])
  expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(1)
  expect((await desk.db.mail.findFirstOrThrow({ where: { enquiryId: id, kind: 'Notice' } })).status).not.toBe('Pending')
})
