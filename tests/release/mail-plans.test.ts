// The queries of mails, summaries and problems read a bounded number of rows beside a million others.
// Not in `npm test`: it makes a million enquiries first.
import pino from 'pino'
import { beforeAll, expect, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { readEnv } from '../../server/env.ts'
import { readBacklog } from '../../server/mail/backlog.ts'
import { readCount } from '../../server/mail/budget.ts'
import { recordEvent } from '../../server/mail/delivery.ts'
import { readProblems } from '../../server/mail/problems.ts'
import { claimNext } from '../../server/mail/queue.ts'
import { queuedKinds } from '../../server/mail/states.ts'
import { createSummaryWriter } from '../../server/mail/summary.ts'
import { STAFF } from '../support/fake-resend.ts'
import { openTestDatabase } from '../support/open-test-database.ts'

const env = { ...readEnv({}), STAFF_EMAILS: [STAFF] }
const silent = pino({ level: 'silent' })

let db: Db
beforeAll(async () => {
  const database = await openTestDatabase()
  db = database.db
  for (let hundredThousands = 0; hundredThousands < 10; hundredThousands++) await addEnquiries('Delivered')
  await addEnquiries('Pending')
  await db.$executeRaw`UPDATE "Quvera_Mail" SET "FirstTriedAt" = now() WHERE "Id" IN (SELECT "Id" FROM "Quvera_Mail" WHERE "Status" = 'Pending' LIMIT 3)`
  await db.$executeRaw`UPDATE "Quvera_Form" SET "UntoldSince" = now() - interval '1 hour' WHERE "Id" IN (SELECT "Id" FROM "Quvera_Form" LIMIT 5000)`
  await db.$executeRaw`VACUUM ANALYZE`
  return database.close
}, 600_000)

/** A hundred thousand that are New, of the last month, with their two mails. */
function addEnquiries(status: 'Pending' | 'Delivered') {
  const isPending = status === 'Pending'
  return db.$executeRaw`
    WITH form AS (
      INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
      SELECT gen_random_uuid(), 'QV-' || gen_random_uuid(), now() - interval '2 days' - n * interval '26 seconds', 'x', 'v' || n || '@b.in', '9876543210', 1, 'Self Use', 'Quvera XT', '1', gen_random_uuid()
      FROM generate_series(1, 100000) n RETURNING "Id", "Email", "ReceivedAt"
    )
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "To", "Mailbox", "Status", "DueAt", "FirstTriedAt", "SentAt")
    SELECT "Id", kind::"Quvera_MailKind", receiver, CASE kind WHEN 'Acknowledgement' THEN "Email" END, ${status}::"Quvera_MailStatus",
      CASE WHEN ${isPending} THEN "ReceivedAt" END, CASE WHEN ${!isPending} THEN "ReceivedAt" END, CASE WHEN ${!isPending} THEN "ReceivedAt" END
    FROM form CROSS JOIN (VALUES ('Notice', ${STAFF}), ('Acknowledgement', NULL)) AS mails (kind, receiver)`
}

/** The rows that a piece of work reads of all tables. */
function rowsRead(work: (db: Db) => Promise<unknown>): Promise<number> {
  return db.$transaction(
    async (transaction) => {
      const read = () => transaction.$queryRaw<[{ rows: number }]>`
        SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS "rows" FROM pg_stat_xact_user_tables`
      const [before] = await read()
      await work(transaction as Db)
      return (await read())[0].rows - before.rows
    },
    { timeout: 300_000 },
  )
}

const claim = (isProbing: boolean) => (db: Db) =>
  claimNext(db, { kinds: queuedKinds, open: queuedKinds, staff: [STAFF], isProbing, leaseSeconds: 60 })

/** Of a mail that was delivered. */
async function recordBounce(db: Db) {
  const { tag } = await db.mail.findFirstOrThrow({ where: { status: 'Delivered' }, select: { tag: true } })
  await recordEvent(db, silent, { tag, state: 'Bounced', reason: 'bounced', resendId: 'x' })
}

it.each<[what: string, most: number, work: (db: Db) => Promise<unknown>]>([
  ['the most urgent mail', 60, claim(false)],
  ['a mail that was tried', 60, claim(true)],
  ['the mails of 24 hours', 10, readCount],
  ['the figures of metrics', 60_000, readBacklog],
  ['problems', 1_000, (db) => readProblems(db, env)],
  ['an event', 25, recordBounce],
  ['whether a summary is due, and one of 2,000', 20_000, (db) => createSummaryWriter(db, env, silent, 0)(false)],
])('%s reads at most %i rows', async (_, most, work) => {
  expect(await rowsRead(work)).toBeLessThanOrEqual(most)
})
