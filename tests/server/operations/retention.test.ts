// Enquiries past the retention period are erased with their mails, and none while the clock is in doubt.
import pino from 'pino'
import { expect, it, vi } from 'vitest'
import type { Db } from '../../../server/database/database.ts'
import { takeLease } from '../../../server/database/lease.ts'
import { readEnv } from '../../../server/env.ts'
import { readProblems } from '../../../server/operations/problems.ts'
import { monthsBefore, startRetention } from '../../../server/operations/retention.ts'
import { DAY_MS } from '../../../shared/indian-time.ts'
import { atEnd } from '../../support/at-end.ts'
import { eventually } from '../../support/eventually.ts'
import { anOpenDatabase } from '../../support/fixtures.ts'
import { storeEnquiries, storeEnquiry } from '../../support/stored-enquiry.ts'

const MINUTE_MS = 60_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

/** Two enquiries received a minute before and a minute after the limit, and one of now. */
async function aSiteWithOldEnquiries() {
  const { db } = await anOpenDatabase()
  const limit = monthsBefore(new Date(), 24).getTime()
  const references: string[] = []
  for (const time of [limit - MINUTE_MS, limit + MINUTE_MS, Date.now()])
    references.push(await storeEnquiry(db, { receivedAt: new Date(time) }))
  await takeLease(db, 'retention', 'the last run', 0)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }) // of what is started from here on
  atEnd(() => vi.useRealTimers())
  const lines: { level: number; msg: string }[] = []
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) })
  const left = async () =>
    (await db.enquiry.findMany({ orderBy: { receivedAt: 'asc' } })).map(({ reference }) => reference)
  const start = (months = 24) => {
    const end = startRetention(db, readEnv({ RETENTION_MONTHS: String(months) }), log)
    atEnd(end)
    return end
  }
  return { db, references, lines, left, start }
}

it('erases old enquiries with their mails, once among all processes, and logs how many', async () => {
  const { db, references, lines, left, start } = await aSiteWithOldEnquiries()
  const line = { who: 'somebody', command: 'list', what: '' }
  await db.access.createMany({ data: [line, { ...line, at: new Date(Date.now() - 367 * 24 * 60 * MINUTE_MS) }] })
  for (let process = 0; process < 3; process++) start()
  vi.advanceTimersByTime(59 * MINUTE_MS) // in which a clock that was wrong at the start is put right
  for (let query = 0; query < 20; query++) expect(await left()).toEqual(references)
  vi.advanceTimersByTime(MINUTE_MS)
  await eventually(() => lines.length > 0)
  expect(await left()).toEqual(references.slice(1))
  expect(await db.mail.count()).toBe(4)
  expect(await db.access.count()).toBe(1) // who looked is kept for a year
  expect(lines).toEqual([expect.objectContaining({ erased: 1, months: 24, msg: 'old enquiries were erased' })])
})

it.each<[string, inDoubt: number, (db: Db) => Promise<unknown>]>([
  ['a month without a run keeps all for 31 days', 1, (db) => db.lease.updateMany({ data: { until: daysAgo(32) } })],
  ['a restore keeps enquiries for a day', 0, (db) => db.lease.deleteMany()],
])('after %s, and then erases them by itself', async (_, inDoubt, happen) => {
  const { db, references, lines, left, start } = await aSiteWithOldEnquiries()
  await db.enquiry.deleteMany({ where: { reference: references[2] ?? '' } }) // the newest is 24 months old now
  await happen(db)
  start()
  await db.subscriber.create({ data: { email: 'a@shop.example', consentVersion: '1', endsAt: daysAgo(2) } })
  const leases = (from: Date) => db.lease.count({ where: { until: { gt: from } } })
  vi.advanceTimersByTime(60 * MINUTE_MS)
  await eventually(async () => expect(await leases(new Date())).toBe(1 + inDoubt))
  await eventually(async () => expect(await db.subscriber.count()).toBe(inDoubt))
  vi.advanceTimersByTime(60 * MINUTE_MS)
  for (let query = 0; query < 20; query++) expect(await left()).toHaveLength(2)
  expect(await db.subscriber.count()).toBe(inDoubt)
  expect(lines.filter(({ level }) => level > 30)).toHaveLength(inDoubt)
  expect(await leases(new Date(Date.now() + 30 * DAY_MS))).toBe(inDoubt)
  await db.lease.updateMany({ data: { until: new Date() } }) // that time later
  vi.advanceTimersByTime(60 * MINUTE_MS)
  await eventually(async () => expect(await left()).toEqual([references[1]]))
  expect(await db.subscriber.count()).toBe(0)
})

it('a doubt that a wrong clock began years ahead ends when the clock is put right', async () => {
  const { db, references, left, start } = await aSiteWithOldEnquiries()
  await db.lease.create({ data: { name: 'retention is in doubt', holder: 'x', until: daysAgo(-700) } })
  start()
  vi.advanceTimersByTime(60 * MINUTE_MS)
  await eventually(async () => expect(await left()).toEqual(references.slice(1)))
})

it.each([
  ['right', [0, 0]],
  ['ahead', [1, 1]],
])(
  'without RETENTION_MONTHS old access log lines and unconfirmed subscriptions go; clock %s: leaves %j',
  async (clock, left) => {
    const { db, start } = await aSiteWithOldEnquiries()
    const at = daysAgo(366)
    await db.access.create({ data: { at, who: 'x', command: 'list', what: '' } })
    await db.subscriber.create({ data: { email: 'a@shop.example', consentVersion: '1', endsAt: at } })
    if (clock === 'ahead') await db.lease.updateMany({ data: { until: at } })
    start(0)
    const counts = async () => [await db.access.count(), await db.subscriber.count()]
    vi.advanceTimersByTime(59 * MINUTE_MS)
    for (let query = 0; query < 20; query++) expect(await counts()).toEqual([1, 1])
    vi.advanceTimersByTime(MINUTE_MS)
    await eventually(
      async () => (await db.lease.count({ where: { name: 'retention', until: { gt: new Date() } } })) > 0,
    )
    await eventually(async () => expect(await counts()).toEqual(left))
    expect(await db.enquiry.count()).toBe(3)
  },
)

/** Rows of all that retention deletes, so many of each, and past the time of each. */
async function aFloodOfOldRows(count: number) {
  const site = await aSiteWithOldEnquiries()
  const { db } = site
  await storeEnquiries(db, count, daysAgo(800))
  const times = Array.from({ length: count }, () => daysAgo(800))
  await db.access.createMany({ data: times.map((at) => ({ at, who: 'x', command: 'list', what: '' })) })
  await db.mail.createMany({
    data: times.map((queuedAt) => ({ queuedAt, kind: 'Summary' as const, to: 'x', text: 'x' })),
  })
  await db.mail.createMany({ data: times.map((queuedAt) => ({ queuedAt, kind: 'SignIn' as const, to: 'x' })) })
  const subscribers = times.map((endsAt, index) => ({ email: `${index}@shop.example`, consentVersion: '1', endsAt }))
  await db.subscriber.createMany({ data: subscribers })
  const leftOver = async () => [
    await db.access.count(),
    await db.mail.count({ where: { kind: { in: ['SignIn', 'Summary'] } } }),
    await db.subscriber.count(),
    await db.enquiry.count({ where: { receivedAt: { lt: daysAgo(750) } } }),
  ]
  return { ...site, leftOver }
}

const TABLES = ['Access', 'Mail', 'Subscriber', 'Form']

it('erases in portions of at most 500 rows, whatever has gathered', async () => {
  const { db, start, leftOver, lines } = await aFloodOfOldRows(1201)
  await db.$executeRaw`CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT count(*) FROM gone WHERE TG_TABLE_NAME <> 'Quvera_Mail' OR to_jsonb(gone) ->> 'Kind' IN ('SignIn', 'Summary')) > 500
    THEN RAISE 'too many rows'; END IF; -- the mails of 500 enquiries are more
    RETURN NULL;
  END $$`
  for (const table of TABLES)
    await db.$executeRawUnsafe(`CREATE TRIGGER refuse_many AFTER DELETE ON "Quvera_${table}"
      REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`)
  start()
  vi.advanceTimersByTime(60 * MINUTE_MS)
  await eventually(async () => expect(await leftOver()).toEqual([0, 0, 0, 0]))
  expect(lines.filter(({ level }) => level > 30)).toEqual([])
})

it.each(TABLES)('what cannot be erased from Quvera_%s keeps nothing else, and is logged', async (table) => {
  const { db, start, leftOver, lines } = await aFloodOfOldRows(2)
  await db.$executeRaw`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken'; END $$`
  const condition = table === 'Mail' ? `WHEN (OLD."Kind" IN ('SignIn', 'Summary'))` : ''
  await db.$executeRawUnsafe(`CREATE TRIGGER a_refusal BEFORE DELETE ON "Quvera_${table}"
    FOR EACH ROW ${condition} EXECUTE FUNCTION refuse()`)
  start()
  vi.advanceTimersByTime(60 * MINUTE_MS)
  await eventually(async () =>
    expect(await leftOver()).toEqual(TABLES.map((each) => (each === table ? (each === 'Mail' ? 4 : 2) : 0))),
  )
  await eventually(() => expect(lines.filter(({ level }) => level > 30)).toHaveLength(1))
  expect(lines.find(({ level }) => level > 30)?.msg).toContain('could not be erased')
})

it('erases each hour what somebody asked for a day ago, fifty in a day, with a line for each; not while the clock is in doubt', async () => {
  const { db, lines, start } = await aSiteWithOldEnquiries()
  await db.enquiry.deleteMany()
  for (let index = 0; index < 52; index++)
    await storeEnquiry(db, { eraseAt: new Date(Date.now() - 1000 * (60 - index)) })
  await storeEnquiry(db, { eraseAt: new Date(Date.now() + DAY_MS) })
  await db.lease.updateMany({ data: { until: daysAgo(32) } })
  const end = start(0)
  vi.advanceTimersByTime(60 * MINUTE_MS)
  await eventually(async () => expect(await db.lease.count({ where: { name: 'retention is in doubt' } })).toBe(1))
  expect(await db.enquiry.count()).toBe(53)
  await db.lease.updateMany({ data: { until: new Date() } })
  const oldest = await db.enquiry.findFirst({ orderBy: { eraseAt: 'asc' } })
  vi.advanceTimersByTime(60 * MINUTE_MS)
  await eventually(async () => expect(await db.enquiry.count()).toBe(3))
  const erased = await db.access.findMany({ where: { command: 'erased as asked' } })
  expect(erased).toHaveLength(50)
  expect(erased.map(({ what }) => what)).toContain(oldest?.reference)
  expect(JSON.stringify(lines)).toContain(oldest?.reference)
  await db.enquiry.updateMany({ data: { eraseAt: daysAgo(1) } })
  vi.advanceTimersByTime(60 * MINUTE_MS)
  await end() // once the run is through
  expect(await db.enquiry.count()).toBe(3)
  const env = readEnv({ STAFF_EMAILS: 'a@quvera.test' })
  expect(await readProblems(db, env)).toContainEqual(expect.stringMatching(/^3 enquiries should be erased/))
})

it('withholds each hour posts that have waited since NOTIFY_URL was unset, where no sender does', async () => {
  const { db, start } = await aSiteWithOldEnquiries()
  const enquiries = await db.enquiry.findMany({ orderBy: { receivedAt: 'desc' }, take: 2 })
  const queued = [new Date(Date.now() - 20 * MINUTE_MS), new Date()]
  await db.mail.createMany({
    data: enquiries.map(({ id }, index) => ({ enquiryId: id, kind: 'Post', queuedAt: queued[index] ?? new Date() })),
  })
  start()
  vi.advanceTimersByTime(60 * MINUTE_MS)
  const posts = () => db.mail.findMany({ where: { kind: 'Post' }, orderBy: { queuedAt: 'asc' } })
  await eventually(async () =>
    expect(await posts()).toMatchObject([{ withheldBecause: 'NoUrl' }, { status: 'Pending' }]),
  )
})

it('empties after a day what was taken back, and what was before a correction; who and when stay', async () => {
  const { db, start } = await aSiteWithOldEnquiries()
  const { id: enquiryId = '' } = (await db.enquiry.findFirst()) ?? {}
  const keys = Array.from({ length: 8 }, () => crypto.randomUUID())
  const at = daysAgo(2)
  const who = 'a@quvera.test'
  const entry = (key: number, what: string, more: object = {}) => ({
    enquiryId,
    at,
    who,
    what,
    key: keys[key] ?? '',
    ...more,
  })
  await db.historyEntry.createMany({
    data: [
      entry(0, 'Note', { text: 'taken back' }),
      entry(1, 'Note', { text: 'taken back an hour ago' }),
      entry(2, 'Note', { text: 'taken back and put back' }),
      entry(3, 'Correction', { before: { Mobile: '1', Quantity: 1 }, after: { Mobile: '2', Quantity: 2 } }),
      entry(4, 'Status', { before: { Status: 'New' }, after: { Status: 'Closed' } }),
      entry(5, 'Taken back', { takesBack: keys[0] }),
      entry(6, 'Taken back', { takesBack: keys[1], at: new Date(Date.now() - 3_600_000) }),
      entry(7, 'Taken back', { takesBack: keys[2] }),
      { ...entry(0, 'Put back', { takesBack: keys[2] }), key: crypto.randomUUID() },
      {
        ...entry(0, 'Taken back', { takesBack: keys[3] }),
        key: crypto.randomUUID(),
        before: { Mobile: '2', Quantity: 2 },
        after: { Mobile: '1', Quantity: 1 },
      },
      // What a later one has changed goes; what the enquiry has, and the proposal that stands, stay.
      { ...entry(0, 'Correction', { after: { Name: 'Stranger', Email: 'a@b.example' } }), key: crypto.randomUUID() },
      { ...entry(0, 'Correction', { after: { Name: 'Asha' } }), key: crypto.randomUUID() },
      { ...entry(0, 'Proposal', { after: { Mobile: '8' } }), key: crypto.randomUUID() },
      { ...entry(0, 'Proposal', { after: { Mobile: '9' } }), key: crypto.randomUUID() },
    ],
  })
  start(0)
  vi.advanceTimersByTime(60 * MINUTE_MS)
  const read = () => db.historyEntry.findMany({ orderBy: { id: 'asc' } })
  await eventually(async () => expect((await read())[0]?.text).toBeNull())
  const rows = await read()
  expect(rows.map(({ text, before, after }) => [text, before, after]).slice(0, 5)).toEqual([
    [null, null, null],
    ['taken back an hour ago', null, null],
    ['taken back and put back', null, null],
    [null, {}, {}],
    [null, { Status: 'New' }, { Status: 'Closed' }],
  ])
  expect(rows.slice(-5).map(({ before, after }) => [before, after])).toEqual([
    [{}, { Mobile: '1', Quantity: 1 }],
    [null, { Email: 'a@b.example' }],
    [null, { Name: 'Asha' }],
    [null, {}],
    [null, { Mobile: '9' }],
  ])
  expect(rows.every((row) => row.who === who)).toBe(true)
})
