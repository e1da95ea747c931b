import { readdirSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openDatabase } from '../../server/database/open-database.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { scratch } from '../support/scratch.ts'
import { startServer } from '../support/server-process.ts'
import { migrations } from '../support/test-database.ts'
import { aDatabase } from '../support/waiting-site.ts'

const [FIRST = '', ...LATER] = readdirSync(migrations)
  .filter((name) => /^\d/.test(name))
  .sort()

/** What is written here has the new names then, and the first version's tables have the old ones. */
const isRenamed = LATER.some((name) => name.endsWith('_rename'))

/** A database as the first version left it: 500 enquiries, and two mails each in every state that it knew. */
async function aDatabaseOfTheFirstVersion() {
  const env = await aDatabase()
  const older = await mkdtemp(join(scratch, 'quvera-migrations-'))
  atEnd(() => rm(older, { recursive: true }))
  await cp(migrations, older, { recursive: true, filter: (path) => LATER.every((name) => !path.includes(name)) })
  const open = (folder: string) =>
    openDatabase({ url: env.DATABASE_URL, dataDir: env.DATA_DIR ?? '', migrations: folder, migrate: true })
  const empty = await open(migrations)
  await empty.db.$executeRaw`DROP SCHEMA public CASCADE`
  await empty.db.$executeRaw`CREATE SCHEMA public`
  await empty.close()
  const { db, notes, close } = await open(older)
  expect(notes).toEqual([`applied migration ${FIRST}`])
  await db.$executeRaw`
    WITH form AS (
      INSERT INTO "Quvera_Form" ("Id", "Reference", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
      SELECT gen_random_uuid(), 'QV-' || lpad(n::text, 6, '0'), 'Asha', CASE WHEN n <= 20 THEN n || '@shop.example' ELSE 'As.ha+' || n || '@GoogleMail.com' END, '9876543210', n, 'Retailer', 'Quvera XT', '1', gen_random_uuid()
      FROM generate_series(1, 500) n
      RETURNING "Id", "Quantity"
    )
    INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Status", "ResendId")
    SELECT "Id", kind::"Quvera_MailKind",
      (CASE WHEN "Quantity" <= 20 THEN 'Pending' ELSE (enum_range(NULL::"Quvera_MailStatus"))[1 + "Quantity" % 5]::text END)::"Quvera_MailStatus",
      CASE WHEN "Quantity" > 20 THEN gen_random_uuid()::text END
    FROM form CROSS JOIN (VALUES ('Staff'), ('Acknowledgement')) AS owed (kind)`
  await db.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Sent' WHERE "Status" = 'Pending' AND "ResendId" IS NOT NULL`
  const rows = await everything(db)
  await close()
  return { env, open, rows }
}

type Row = Record<string, unknown>

async function everything(db: Awaited<ReturnType<typeof openDatabase>>['db']): Promise<Row[]> {
  const [all] = await db.$queryRaw<{ forms: Row[]; mails: Row[] }[]>`
    SELECT (SELECT jsonb_agg(to_jsonb(form) ORDER BY "Id") FROM "Quvera_Form" form) AS forms,
      (SELECT jsonb_agg(to_jsonb(mail) ORDER BY "Id") FROM "Quvera_Mail" mail) AS mails`
  return [...(all?.forms ?? []), ...(all?.mails ?? [])]
}

it.skipIf(isRenamed)(
  'a database of the first version keeps its rows, and its index for mailboxes is used',
  async () => {
    const { open, rows } = await aDatabaseOfTheFirstVersion()
    const { db, notes, close } = await open(migrations)
    atEnd(close)
    expect(notes).toEqual(LATER.map((name) => `applied migration ${name}`))
    expect(rows).toHaveLength(1500)
    expect(await everything(db)).toEqual(rows.map((row) => expect.objectContaining(row)))
    expect(
      await db.$queryRaw`SELECT DISTINCT "Quvera_mailbox"("Email") AS box FROM "Quvera_Form" WHERE "Quantity" > 20`,
    ).toEqual([{ box: 'asha@gmail.com' }])
    await db.$executeRaw`ANALYZE "Quvera_Form"`
    const plan = await db.$queryRaw`
    EXPLAIN (FORMAT JSON) SELECT FROM "Quvera_Form"
    WHERE "Quvera_mailbox"("Email") = "Quvera_mailbox"('other@shop.example') AND NOT "SuspectedSpam"`
    expect(JSON.stringify(plan)).toContain('Quvera_Form_mailbox_idx')
  },
)

it.skipIf(isRenamed)('the site starts on it and sends what was owed', async () => {
  const { env } = await aDatabaseOfTheFirstVersion()
  const resend = await startFakeResend()
  atEnd(resend.close)
  const server = await startServer({ ...env, ...sendingThrough(resend) })
  atEnd(() => server.stop('SIGKILL'))
  await eventually(() => expect(new Set(resend.mails.map(({ key }) => key)).size).toBe(40))
  expect(resend.mails).toHaveLength(40)
})
