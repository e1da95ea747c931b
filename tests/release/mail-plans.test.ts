// The queries of mails, summaries, problems and the access log read a bounded number of rows beside a million others.
import pino from 'pino'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { eraseOldEnquiries } from '../../server/enquiries/retention.ts'
import { readEnv } from '../../server/env.ts'
import { readBacklog } from '../../server/mail/backlog.ts'
import { readCount } from '../../server/mail/budget.ts'
import { recordEvent } from '../../server/mail/delivery.ts'
import { readProblems } from '../../server/mail/problems.ts'
import { claimNext } from '../../server/mail/queue.ts'
import { queuedKinds } from '../../server/mail/states.ts'
import { createSummaryWriter } from '../../server/mail/summary.ts'
import { atEnd } from '../support/at-end.ts'
import { STAFF } from '../support/fake-resend.ts'
import { openTestDatabase, type TestDatabase } from '../support/open-test-database.ts'
import { storeEnquiry } from '../support/stored-enquiry.ts'

const NO_LIMIT = { timeout: 300_000 }
const env = { ...readEnv({}), STAFF_EMAILS: [STAFF] }
const silent = pino({ level: 'silent' })

/** The rows that a piece of work reads of all tables. */
function rowsRead(db: Db, work: (db: Db) => Promise<unknown>, table = '%'): Promise<number> {
  return db.$transaction(async (transaction) => {
    const read = () => transaction.$queryRaw<[{ rows: number }]>`
      SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS "rows" FROM pg_stat_xact_user_tables WHERE relname LIKE ${table}`
    const [before] = await read()
    await work(transaction as Db)
    return (await read())[0].rows - before.rows
  }, NO_LIMIT)
}

/** A million enquiries that are New, their mails sent within a month, and a hundred thousand that wait. */
describe('beside 1,000,000 sent and 100,000 pending mails', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await openTestDatabase()
    const { db } = database
    for (let part = 0; part < 11; part++) {
      const isPending = part === 10
      await db.$executeRaw`
        WITH form AS (
          INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
          SELECT gen_random_uuid(), 'QV-' || ${part}::int || '-' || n, now() - interval '2 days' - n * interval '26 seconds', 'x', 'v' || n || '@b.in', '9876543210', 1, 'Self Use', 'Quvera XT', '1', gen_random_uuid()
          FROM generate_series(1, 100000) n RETURNING "Id", "Email", "ReceivedAt"
        )
        INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "To", "Mailbox", "Status", "DueAt", "FirstTriedAt", "SentAt")
        SELECT "Id", kind::"Quvera_MailKind", receiver, CASE kind WHEN 'Acknowledgement' THEN "Email" END,
          CASE WHEN ${isPending} THEN 'Pending'::"Quvera_MailStatus" ELSE 'Delivered' END, CASE WHEN ${isPending} THEN "ReceivedAt" END,
          CASE WHEN ${!isPending} THEN "ReceivedAt" END, CASE WHEN ${!isPending} THEN "ReceivedAt" END
        FROM form CROSS JOIN (VALUES ('Notice', ${STAFF}), ('Acknowledgement', NULL)) AS mails (kind, receiver)`
    }
    await db.$executeRaw`UPDATE "Quvera_Mail" SET "FirstTriedAt" = now() WHERE "Id" IN (SELECT "Id" FROM "Quvera_Mail" WHERE "Status" = 'Pending' LIMIT 3)`
    await db.$executeRaw`UPDATE "Quvera_Form" SET "UntoldSince" = now() - interval '1 hour' WHERE "Id" IN (SELECT "Id" FROM "Quvera_Form" LIMIT 5000)`
    await db.$executeRaw`VACUUM ANALYZE`
    return database.close
  }, 600_000)

  const claim = (isProbing: boolean) => (db: Db) =>
    claimNext(db, { kinds: queuedKinds, open: queuedKinds, staff: [STAFF], isProbing, leaseSeconds: 60 })

  it.each<[what: string, most: number, work: (db: Db) => Promise<unknown>]>([
    ['the most urgent mail', 60, claim(false)],
    ['a mail that was tried', 60, claim(true)],
    ['the mails of 24 hours', 10, readCount],
    ['the figures of metrics', 60_000, readBacklog],
    ['problems', 1_000, (db) => readProblems(db, env)],
    ['whether a summary is due, and one of 2,000', 20_000, (db) => createSummaryWriter(db, env, silent, 0)(false)],
  ])('%s reads at most %i rows', async (_, most, work) => {
    expect(await rowsRead(database.db, work)).toBeLessThanOrEqual(most)
  })

  it('an event of a mail reads that mail by an index', async () => {
    const { db } = database
    const [row] = await db.$queryRaw<{ tag: string }[]>`
      SELECT "Tag"::text AS "tag" FROM "Quvera_Mail" WHERE "FirstTriedAt" IS NOT NULL LIMIT 1`
    const event = { tag: row?.tag ?? '', state: 'Bounced', reason: 'bounced', resendId: 'x' } as const
    expect(await rowsRead(db, (transaction) => recordEvent(transaction, silent, event))).toBeLessThan(20)
  })
})

describe('beside 300,000 lines of the access log', () => {
  it('a look reads what it shows, and its deletion what it deletes', async () => {
    const { db, close } = await openTestDatabase()
    atEnd(close)
    await storeEnquiry(db)
    await db.$executeRaw`
      INSERT INTO "Quvera_Access" ("At", "Who", "Command", "What")
      SELECT now() - n * interval '100 seconds', 'Asha', 'export', '' FROM generate_series(1, 300000) n`
    await db.$executeRaw`ANALYZE`
    const shown = (all: Db) => all.access.findMany({ orderBy: { at: 'desc' }, take: 50 })
    expect(await rowsRead(db, shown, 'Quvera_Access')).toBe(50)
    expect(await rowsRead(db, (all) => eraseOldEnquiries(all, new Date(0)), 'Quvera_Access')).toBeLessThan(10)
  })
})
