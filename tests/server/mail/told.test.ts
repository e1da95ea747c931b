// Staff know of every enquiry that waits: by a notice, or by a summary that was written a minute after it came or later.
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { MailStatus } from '../../../server/database/generated/enums.ts'
import { takeLease } from '../../../server/database/lease.ts'
import { readEnv } from '../../../server/env.ts'
import { createSummaryWriter } from '../../../server/mail/summary.ts'
import { countUntold } from '../../../server/operations/problems.ts'
import { insertEnquiries, toInsertRow } from '../../../server/orders/storing.ts'
import { products } from '../../../shared/catalogue.ts'
import { formatIndianTime } from '../../../shared/indian-time.ts'
import { anOrder } from '../../support/an-order.ts'
import { eventually, untilSomeoneWaits } from '../../support/eventually.ts'
import { anApp, anOpenDatabase } from '../../support/fixtures.ts'
import { columnsOf, hoursAgo, storeEnquiry } from '../../support/stored-enquiry.ts'
import { administer } from '../../support/test-database.ts'

const [ASHA, RAVI] = ['asha@quvera.test', 'ravi@quvera.test']
const DAY_MINUTES = 24 * 60

/** A database, whose time passes when a test says so, with what staff were told. */
async function aDesk(staff = [ASHA], DIGEST_AT = 'off') {
  const { db, env: variables } = await anOpenDatabase()
  const env = { ...readEnv({}), RESEND_API_KEY: 're_test', STAFF_EMAILS: staff, DIGEST_AT }
  const failures: unknown[] = []
  const log = { error: (fields: unknown) => failures.push(fields) }
  const problems: string[] = []
  return {
    db,
    env,
    variables,
    problems,
    /** Stores an order as the site does. */
    async order(changes: Record<string, unknown> = {}) {
      const row = toInsertRow(anOrder(changes))
      await insertEnquiries(db, [row], { ...env, NOTIFY_URL: 'https://chat.example' })
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
    /** So many minutes pass, and two processes look for what is due. */
    async after(minutes: number) {
      await db.$executeRaw`UPDATE "Quvera_Mail" SET "QueuedAt" = "QueuedAt" - make_interval(secs => ${60 * minutes})`
      await db.$executeRaw`UPDATE "Quvera_Form" SET "ReceivedAt" = "ReceivedAt" - make_interval(secs => ${60 * minutes})`
      const writers = [1, 2].map(() => createSummaryWriter(db, env, { readProblems: async () => problems, log }))
      await Promise.all(writers.map((write) => write()))
      expect(failures).toEqual([])
    },
    /** Each with its mails, the oldest first. */
    async summaries() {
      const mails = await db.mail.findMany({
        where: { kind: 'Summary' },
        orderBy: [{ queuedAt: 'asc' }, { id: 'asc' }],
      })
      const byTime = Map.groupBy(mails, ({ queuedAt }) => Number(queuedAt))
      return [...byTime.values()].map((of) => ({ text: of[0]?.text ?? '', mails: of }))
    },
  }
}

const references = (text = '') => text.match(/\b[A-Z]{1,5}-[0-9A-Z]{6}\b/g) ?? []

/** What becomes of each notice, and by what staff know of the enquiry then. */
const cases: [notices: MailStatus[], told: 'by the notice' | 'by a summary'][] = [
  [['Pending'], 'by the notice'],
  [['Sent'], 'by the notice'],
  [['Delivered'], 'by the notice'],
  [['Complained'], 'by the notice'],
  [['Bounced'], 'by a summary'],
  [['Failed'], 'by a summary'],
  [['Unknown'], 'by a summary'],
  [['Withheld'], 'by a summary'],
  [['Delivered', 'Bounced'], 'by the notice'],
  [['Withheld', 'Unknown'], 'by a summary'],
]

describe('an enquiry whose notices become', () => {
  it.each(cases)('%j is known %s', async (notices, told) => {
    const desk = await aDesk([ASHA, RAVI].slice(0, notices.length))
    const { id, reference } = await desk.order()
    for (const [index, status] of notices.entries())
      await desk.become(status, { enquiryId: id, to: desk.env.STAFF_EMAILS[index] ?? '' })
    await desk.after(0.9)
    expect(await desk.summaries()).toEqual([])
    await desk.after(1)
    const summaries = await desk.summaries()
    expect(summaries.flatMap(({ text }) => references(text))).toEqual(told === 'by a summary' ? [reference] : [])
    const receivers = summaries.flatMap(({ mails }) => mails.map(({ to }) => to))
    expect(receivers).toEqual(told === 'by a summary' ? desk.env.STAFF_EMAILS : [])
    expect(await countUntold(desk.db)).toBe(0)
    await desk.after(2 * DAY_MINUTES)
    expect(await desk.summaries()).toHaveLength(summaries.length) // told once
  })

  it('bad and then good again, by a retry or a late event, waits for no summary', async () => {
    const desk = await aDesk([ASHA, RAVI])
    const { id } = await desk.order()
    await desk.become('Failed', { enquiryId: id })
    await desk.become('Delivered', { enquiryId: id, to: RAVI })
    await desk.after(2)
    expect(await desk.summaries()).toEqual([])
  })

  it('bad rings nobody once staff have dealt with it, want to ring later, or it is to be erased', async () => {
    const desk = await aDesk()
    const orders = await Promise.all([1, 2, 3, 4].map(() => desk.order()))
    const changes = [
      { status: 'Contacted' as const },
      { status: 'Closed' as const },
      { remindOn: new Date(Date.now() + 2 * 86_400_000) },
      { eraseAt: new Date() },
    ]
    for (const [index, data] of changes.entries())
      await desk.db.enquiry.update({ where: { id: orders[index]?.id ?? '' }, data })
    await desk.become('Bounced')
    await desk.after(DAY_MINUTES)
    expect(await desk.summaries()).toEqual([])
  })
})

describe('a summary', () => {
  it('comes an hour after the last one with a budget of 100, and again for what came in the minute before that', async () => {
    const desk = await aDesk()
    const first = await desk.untold()
    await desk.after(1.5)
    const inTheMinuteBefore = await desk.untold()
    await desk.become('Sent', { kind: 'Summary' })
    await desk.after(55)
    expect(await desk.summaries()).toHaveLength(1)
    await desk.after(5)
    const named = (await desk.summaries()).map(({ text }) => references(text))
    expect(named).toEqual([[first], [inTheMinuteBefore]])
  })

  it('that reaches nobody begets the next one a day later, or when there is a new address', async () => {
    const desk = await aDesk()
    await desk.untold()
    await desk.after(2)
    await desk.become('Bounced', { kind: 'Summary' })
    await desk.after(DAY_MINUTES - 30)
    expect(await desk.summaries()).toHaveLength(1)
    desk.env.STAFF_EMAILS = [ASHA, RAVI]
    await desk.after(1)
    expect(await desk.summaries()).toHaveLength(2)
  })

  it('withholds all that were not tried: it says more', async () => {
    const desk = await aDesk()
    await desk.untold()
    await desk.after(2)
    desk.env.STAFF_EMAILS = [ASHA, RAVI]
    await desk.untold('Bounced')
    await desk.become('Withheld', { kind: 'Summary' })
    await desk.db.mail.updateMany({ where: { kind: 'Summary' }, data: columnsOf('Pending') })
    await desk.after(DAY_MINUTES + 1)
    const states = (await desk.summaries()).map(({ mails }) => mails.map(({ status }) => status))
    expect(states).toEqual([['Withheld'], ['Pending', 'Pending']])
  })

  it('says how many wait and for how long, the oldest first with their ages, and real ones apart from 7,000 bots', async () => {
    const desk = await aDesk()
    await desk.db.$executeRaw`
      INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey", "SuspectedSpam")
      SELECT gen_random_uuid(), 'XX-' || n, now() - make_interval(hours => n), 'x', 'x@shop.example', '9876543210', 1, 'Retailer', ${products[1]}::"Quvera_Product", '1', gen_random_uuid(), n > 500
      FROM generate_series(1, 7500) n`
    await desk.after(1)
    const [{ text = '' } = {}] = await desk.summaries()
    const [subject, ...blocks] = text.split('\n\n')
    expect(subject).toMatch(
      /^.*: 500 waiting, the oldest for 20 days, 500 not mailed one by one, 477 for more than a day, 7,000 suspected, /,
    )
    const untold = blocks.find((block) => block.startsWith('No notice')) ?? ''
    expect(untold.split('\n')[1]).toMatch(/^XX-500: 1 × .*, Retailer, 20 days$/)
    expect(untold.match(/XX-/g)).toHaveLength(10)
    expect(untold).toContain('and 490 more')
    await desk.become('Sent', { kind: 'Summary' })
    await desk.after(61)
    expect(await desk.summaries()).toHaveLength(1) // nothing came since
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

  it('says first what is to be mended', async () => {
    const desk = await aDesk()
    desk.problems.push('Resend refuses the key.')
    await desk.after(2)
    expect(await desk.summaries()).toEqual([]) // a problem alone is for the digest
    await desk.untold()
    await desk.after(2)
    const [summary] = await desk.summaries()
    expect(summary?.text).toMatch(/^.*: 1 problem, 1 waiting, .*\n\nResend refuses the key\.\n\n/)
  })

  it('says so if what is to be mended cannot be read, which the log tells', async () => {
    const desk = await aDesk()
    const reference = await desk.untold()
    await desk.db.enquiry.updateMany({ data: { receivedAt: hoursAgo(1) } })
    const errors: unknown[] = []
    const readProblems = async (): Promise<string[]> => {
      throw new Error('the folder of backups cannot be read')
    }
    await createSummaryWriter(desk.db, desk.env, {
      readProblems,
      log: { error: (fields: unknown) => errors.push(fields) },
    })()
    const [summary] = await desk.summaries()
    expect(references(summary?.text)).toEqual([reference])
    expect(summary?.text).toContain('What has to be mended could not be read: see the log.')
    expect(errors).toHaveLength(1)
  })

  it('that is being written keeps no other process from asking for the lease', async () => {
    const desk = await aDesk()
    await desk.untold()
    await desk.db.enquiry.updateMany({ data: { receivedAt: hoursAgo(1) } })
    const lease = 'mail sender'
    await takeLease(desk.db, lease, 'one', 0)
    const log = { error: (fields: unknown) => expect(fields).toBeUndefined() }
    const write = createSummaryWriter(desk.db, desk.env, { readProblems: async () => [], log })
    let writing: Promise<void> | undefined
    await desk.db.$transaction(async (other) => {
      await other.$executeRaw`LOCK TABLE "Quvera_Mail" IN SHARE ROW EXCLUSIVE MODE`
      writing = write()
      await untilSomeoneWaits(desk.db)
      expect(await takeLease(desk.db, lease, 'another', 15)).toBe(true)
    })
    await writing
    expect(await desk.summaries()).toHaveLength(1)
  })

  it('that a crash ends leaves the enquiry untold', async () => {
    const desk = await aDesk()
    await desk.untold()
    await desk.db
      .$executeRaw`CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$`
    await desk.db
      .$executeRaw`CREATE TRIGGER crash BEFORE INSERT ON "Quvera_Mail" FOR EACH STATEMENT EXECUTE FUNCTION crash()`
    await expect(desk.after(2)).rejects.toThrow() // which is logged
    await desk.db.$executeRaw`DROP FUNCTION crash CASCADE`
    expect([await countUntold(desk.db), await desk.summaries()]).toEqual([1, []])
  })

  it('dated tomorrow, by a clock that was ahead, tells of nothing and holds up none', async () => {
    const desk = await aDesk()
    const tomorrow = {
      kind: 'Summary' as const,
      to: ASHA,
      text: 'x',
      queuedAt: hoursAgo(-24),
      ...columnsOf('Delivered'),
    }
    await desk.db.mail.create({ data: tomorrow })
    const reference = await desk.untold()
    await desk.after(2)
    expect((await desk.summaries()).map(({ text }) => references(text))).toEqual([[reference], []])
  })
})

it('suspected spam is told by a summary once a day where there is no digest', async () => {
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
  expect(one).toMatch(/^.*: nothing waits, 1 suspected, .*\n\n/)
})

it('a mail to one who left STAFF_EMAILS is withheld ten minutes after it was queued, and a summary tells the others', async () => {
  const app = await anApp({ mails: false })
  const row = toInsertRow(anOrder())
  await insertEnquiries(app.db, [row], { STAFF_EMAILS: [ASHA] })
  await app.db.enquiry.updateMany({ data: { receivedAt: hoursAgo(0.1) } })
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

describe('the digest', () => {
  /** A desk whose digest was due so many minutes ago. */
  async function aDeskWithDigest(minutes: number) {
    const clock = formatIndianTime(new Date(Date.now() - minutes * 60_000)).slice(12, 17)
    const desk = await aDesk([ASHA], clock)
    await desk.db.$executeRaw`UPDATE _prisma_migrations SET finished_at = now() - interval '9 days'`
    return desk
  }

  it('is written once, with what waits: the oldest, whom to ring, reminders, problems', async () => {
    const desk = await aDeskWithDigest(5)
    await desk.after(0)
    expect(await desk.summaries()).toEqual([]) // there is nothing to say
    const oldest = await storeEnquiry(desk.db, { receivedAt: hoursAgo(80) })
    const ring = await storeEnquiry(desk.db, { receivedAt: hoursAgo(2) }, { Acknowledgement: 'Bounced' })
    const corrected = await storeEnquiry(desk.db, { receivedAt: hoursAgo(4) }, { Acknowledgement: 'Bounced' })
    await desk.db
      .$executeRaw`INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Status", "DueAt", "FirstTriedAt", "SentAt")
      SELECT "Id", 'Acknowledgement', 'Delivered', NULL, now(), now() FROM "Quvera_Form" WHERE "Reference" = ${corrected}` // it has one now
    const unknown = await storeEnquiry(desk.db, { receivedAt: hoursAgo(1) }, { Acknowledgement: 'Unknown' })
    await storeEnquiry(desk.db, { receivedAt: hoursAgo(3), suspectedSpam: true }, { Acknowledgement: 'Bounced' })
    const reminded = await storeEnquiry(desk.db, {
      receivedAt: hoursAgo(30),
      status: 'Contacted',
      remindOn: hoursAgo(24),
    })
    await storeEnquiry(desk.db, { receivedAt: hoursAgo(30), suspectedSpam: true, remindOn: hoursAgo(24) })
    await storeEnquiry(desk.db, { receivedAt: hoursAgo(30), status: 'Contacted', remindOn: hoursAgo(-48) })
    await storeEnquiry(desk.db, { receivedAt: hoursAgo(23) })
    await desk.after(0)
    await desk.after(0)
    const summaries = await desk.summaries()
    expect(summaries).toHaveLength(1)
    expect(summaries[0]?.text).toMatch(
      /^.*: 5 waiting, the oldest for 3 days, 1 for more than a day, 2 to ring, 1 to ring again, /,
    )
    expect(references(summaries[0]?.text)).toEqual([oldest, ring, unknown, reminded])
  })

  it('says that the database was made within the last day', async () => {
    const desk = await aDeskWithDigest(5)
    await desk.db.$executeRaw`UPDATE _prisma_migrations SET finished_at = now() - interval '1 hour'`
    await storeEnquiry(desk.db, { receivedAt: hoursAgo(80) })
    await desk.after(0)
    expect((await desk.summaries())[0]?.text).toContain('The database was made within the last day.')
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
