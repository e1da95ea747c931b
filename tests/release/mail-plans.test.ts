// The queries of mails, summaries and the access log read a bounded number of rows beside a million others.
import pino from 'pino'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { Prisma } from '../../server/database/generated/client.ts'
import { eraseOldEnquiries } from '../../server/enquiries/retention.ts'
import { readBacklog } from '../../server/mail/backlog.ts'
import { readCount } from '../../server/mail/budget.ts'
import { recordEvent } from '../../server/mail/delivery.ts'
import { claimTried, claimUntried, type StoredMail } from '../../server/mail/queue.ts'
import { readWithholdReason } from '../../server/mail/resend-transport.ts'
import { mailKinds } from '../../server/mail/states.ts'
import { readSummary } from '../../server/mail/summary.ts'
import { atEnd } from '../support/at-end.ts'
import { openTestDatabase, type TestDatabase } from '../support/open-test-database.ts'
import { storeEnquiry } from '../support/stored-enquiry.ts'

/** Of a transaction that reads a million rows' worth of plans. */
const NO_LIMIT = { timeout: 300_000 }
const BUDGET = { mails: 100, receivers: 1 }

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

/** A million mails that were sent within a month, and a hundred thousand that wait. */
describe('beside 1,000,000 sent and 100,000 pending mails', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await openTestDatabase()
    const { db } = database
    for (let part = 0; part < 10; part++)
      await db.$executeRaw`
        INSERT INTO "Quvera_Mail" ("Kind", "Status", "Attempts", "Key", "ResendId", "TriedAt", "Mailbox")
        SELECT (ARRAY['Notice', 'Acknowledgement'])[1 + n % 2]::"Quvera_MailKind", 'Sent', 1, 'sent', 'sent-' || ${part}::int || '-' || n,
          now() - n * interval '26 seconds', 'v' || n || '@shop.example'
        FROM generate_series(1, 100000) n`
    await db.$executeRaw`
      INSERT INTO "Quvera_Mail" ("Kind", "Key", "DueAt")
      SELECT (ARRAY['Notice', 'Acknowledgement'])[1 + n % 2]::"Quvera_MailKind", 'pending', now() - n * interval '1 second'
      FROM generate_series(1, 100000) n`
    await db.$executeRaw`ANALYZE`
    return database.close
  }, 300_000)

  /** What PostgreSQL did for each statement on the table that `work` sends. */
  async function explain(table: string, work: (db: Db) => Promise<unknown>): Promise<Plan[]> {
    const { db } = database
    const plans: Plan[] = []
    const explaining = db.$extends({
      query: {
        async $queryRaw({ args, query }) {
          if ((args as Prisma.Sql).sql.includes(table))
            await db
              .$transaction(async (transaction) => {
                const explained = Prisma.sql`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) ${args as Prisma.Sql}`
                const rows = await transaction.$queryRaw<{ 'QUERY PLAN': { Plan: Plan }[] }[]>(explained)
                plans.push(...rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan }) => Plan)))
                throw new Error('taken back')
              })
              .catch((error: Error) => expect(error.message).toBe('taken back'))
          return query(args)
        },
      },
    })
    await work(explaining as unknown as Db)
    if (plans.length === 0) throw new Error(`No statement on ${table}`)
    return plans.flatMap(nodes)
  }

  it.each<[string, number, (db: Db) => Promise<unknown>]>([
    ['due notices', 10, (db) => claimUntried(db, 'Notice', 10, 60)],
    ['due acknowledgements, the newest first', 10, (db) => claimUntried(db, 'Acknowledgement', 10, 60)],
    ['mails without a clear answer', 10, (db) => claimTried(db, mailKinds, 10, 60)],
    ['the mails of 24 hours', 40_000, (db) => readCount(db, BUDGET)],
    [
      'the limit of a mailbox',
      10,
      (db) => readWithholdReason(db, { mailbox: 'v7@shop.example', id: 0n } as StoredMail),
    ],
    ['the oldest pending, and counts that end at 10,000 a kind', 20_000, readBacklog],
  ])('%s read no more rows than they return', async (_, most, work) => {
    const plan = await explain('Quvera_Mail', work)
    const scans = plan.filter((node) => /Quvera_Mail/.test(`${node['Relation Name']} ${node['Index Name']}`))
    expect(scans.length).toBeGreaterThan(0)
    for (const scan of scans) {
      const what = JSON.stringify(scan)
      expect(scan['Node Type'], what).not.toBe('Seq Scan')
      expect(scan['Actual Rows'] * scan['Actual Loops'], what).toBeLessThanOrEqual(most)
      expect(scan['Rows Removed by Filter'] ?? 0, what).toBeLessThanOrEqual(20) // claimed by the cases before
    }
  })

  it('an event of a mail reads that mail by an index', async () => {
    const { db } = database
    const [row] = await db.$queryRaw<{ tag: string }[]>`
      SELECT "Tag"::text AS "tag" FROM "Quvera_Mail" WHERE "TriedAt" IS NOT NULL LIMIT 1`
    await db.$transaction(async (transaction) => {
      const read = () => transaction.$queryRaw<[{ scanned: number; fetched: number }]>`
        SELECT seq_tup_read::int AS "scanned", idx_tup_fetch::int AS "fetched" FROM pg_stat_xact_user_tables
        WHERE relname = 'Quvera_Mail'`
      const [before] = await read()
      const event = { tag: row?.tag ?? '', state: 'Delivered', reason: 'delivered', resendId: 'x' } as const
      await recordEvent(transaction as Db, pino({ level: 'silent' }), event, ['a@b.in'])
      const [after] = await read()
      expect(after.scanned).toBe(before.scanned)
      expect(after.fetched - before.fetched).toBeLessThan(5)
    })
  })
})

describe('beside 1,000,000 enquiries that are still New, and 100,000 mails that did not arrive', () => {
  it('a summary reads a bounded number of rows, by indexes', async () => {
    const { db, close } = await openTestDatabase()
    atEnd(close)
    for (let part = 0; part < 10; part++)
      await db.$executeRaw`
        WITH form AS (
          INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
          SELECT gen_random_uuid(), 'QV-' || ${part}::int || '-' || n, now() - interval '2 days' - n * interval '1 second', 'x', 'a@b.in', '9876543210', 1, 'Self Use', 'Quvera XT', '1', gen_random_uuid()
          FROM generate_series(1, 100000) n RETURNING "Id"
        )
        INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Status", "DueAt")
        SELECT "Id", kind::"Quvera_MailKind", 'Bounced', now()
        FROM (SELECT "Id" FROM form LIMIT 5000) form CROSS JOIN (VALUES ('Notice'), ('Acknowledgement')) AS mails (kind)`
    await db.$executeRaw`ANALYZE`
    await db.$transaction(async (transaction) => {
      const read = () => transaction.$queryRaw<[{ rows: number }]>`
        SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS "rows" FROM pg_stat_xact_user_tables`
      const [before] = await read()
      const text = await readSummary(transaction as Db, new Date())
      expect(text).toMatch(/^\w+: at least 2,000 enquiries wait, /)
      expect((await read())[0].rows - before.rows).toBeLessThan(50_000)
    }, NO_LIMIT)
  })
})

describe('beside 300,000 changes of enquiries and lines of the access log in a year', () => {
  it('a summary reads the changes of a day, a look at the access log what it shows, its deletion what it deletes', async () => {
    const { db, close } = await openTestDatabase()
    atEnd(close)
    await storeEnquiry(db)
    await db.$executeRaw`
      INSERT INTO "Quvera_History" ("EnquiryId", "At", "Who", "Column", "Before", "After")
      SELECT "Id", now() - n * interval '100 seconds', 'Asha', 'Status', 'New', 'Contacted'
      FROM "Quvera_Form" CROSS JOIN generate_series(1, 300000) n`
    await db.$executeRaw`
      INSERT INTO "Quvera_Access" ("At", "Who", "Command", "What")
      SELECT now() - n * interval '100 seconds', 'Asha', 'list', '' FROM generate_series(1, 300000) n`
    await db.$executeRaw`ANALYZE`
    const rowsRead = (table: string, work: (db: Db) => Promise<unknown>) =>
      db.$transaction(async (transaction) => {
        const read = () => transaction.$queryRaw<[{ rows: number }]>`
          SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS "rows"
          FROM pg_stat_xact_user_tables WHERE relname = ${table}`
        const [before] = await read()
        await work(transaction as Db)
        return (await read())[0].rows - before.rows
      }, NO_LIMIT)
    const shown = (db: Db) => db.access.findMany({ orderBy: { at: 'desc' }, take: 50 })
    expect(await rowsRead('Quvera_History', (db) => readSummary(db, new Date()))).toBeLessThanOrEqual(864)
    expect(await rowsRead('Quvera_Access', shown)).toBe(50)
    expect(await rowsRead('Quvera_Access', (db) => eraseOldEnquiries(db, new Date(0)))).toBeLessThan(10)
  })
})
