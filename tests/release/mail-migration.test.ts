import { readdirSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { openDatabase } from '../../server/database/open-database.ts'
import { atEnd } from '../support/at-end.ts'
import { sign } from '../support/backup-file.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF, sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { aFolder, scratch } from '../support/scratch.ts'
import { startServer } from '../support/server-process.ts'
import { staff } from '../support/staff-command.ts'
import { migrations } from '../support/test-database.ts'
import { aDatabase } from '../support/waiting-site.ts'

/** What is written here has the new names then, and the earlier version's tables have the old ones. */
const isRenamed = readdirSync(migrations).some((name) => name.endsWith('_rename'))

/** The columns since then, named and in a row. */
const LATER = /,"ConfirmedAt","Id","Secret"|,"(?:Key|SubscriberId)"(?=[,\]])|,"(?:Key|SubscriberId)":null/g

/** Those of the version whose bundles were the first of their notices. */
const EARLIER = readdirSync(migrations)
  .filter((name) => /^\d/.test(name))
  .sort()
  .slice(0, 4)

const open = (env: Record<string, string>, folder = migrations) =>
  openDatabase({ url: env.DATABASE_URL, dataDir: env.DATA_DIR ?? '', migrations: folder, migrate: true })

/**
 * Enquiries 1 to 3 in a bundle under way, 4 and 5 in one that was sent, 6 and 7 in one whose first was withheld, 8 alone
 * and refused because Resend had its key with other words; and a digest that waits.
 */
async function fill(db: Db) {
  await db.$executeRaw`
    INSERT INTO "Quvera_Form" ("Id", "Reference", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
    SELECT ('00000000-0000-7000-8000-00000000000' || n)::uuid, 'QV-' || n, 'Asha', n || '@shop.example', '9876543210', n, 'Retailer', 'Quvera XT', '1', gen_random_uuid()
    FROM generate_series(1, 8) n`
  await db.$executeRaw`
    INSERT INTO "Quvera_Mail" ("Id", "EnquiryId", "Kind", "Status", "Attempts", "AmbiguousAt", "LastError", "ResendId", "SentAt")
    SELECT n, ('00000000-0000-7000-8000-00000000000' || n)::uuid, 'Staff',
      (ARRAY['Pending', 'Pending', 'Pending', 'Sent', 'Sent', 'Withheld', 'Pending', 'Failed'])[n]::"Quvera_MailStatus", 1,
      CASE WHEN n <> 8 THEN now() - interval '1 minute' END, (ARRAY['timeout', 'timeout', 'timeout', NULL, NULL, 'Not sent', NULL, '409 invalid_idempotent_request: x'])[n],
      CASE WHEN n IN (4, 5) THEN 'sent-together' END, CASE WHEN n IN (4, 5) THEN now() END
    FROM generate_series(1, 8) n`
  await db.$executeRaw`
    UPDATE "Quvera_Mail" SET "BundledInto" = CASE WHEN "Id" <= 3 THEN 1 WHEN "Id" = 5 THEN 4 ELSE 6 END WHERE "Id" IN (2, 3, 5, 7)`
  await db.$executeRaw`INSERT INTO "Quvera_Mail" ("Id", "Kind", "Text") VALUES (9, 'Digest', 'A page')`
  await db.$executeRaw`SELECT setval(pg_get_serial_sequence('"Quvera_Mail"', 'Id'), 9)`
}

const id = (number: number) => `00000000-0000-7000-8000-00000000000${number}`

async function expectAdopted(db: Db) {
  const mails = await db.mail.findMany({ orderBy: { id: 'asc' } })
  const [underWay, sent, ...more] = mails.filter(({ kind, enquiryId }) => kind === 'Staff' && !enquiryId)
  expect(more).toEqual([])
  expect(underWay).toMatchObject({ status: 'Pending', key: `staff/${id(1)}`, attempts: 1, lastError: 'timeout' })
  expect(underWay?.ambiguousAt).not.toBeNull()
  expect(sent).toMatchObject({ status: 'Sent', key: `staff/${id(4)}`, resendId: 'sent-together' })
  expect(mails.slice(0, 9).map(({ status, bundledInto }) => [status, bundledInto])).toEqual([
    ['Pending', underWay?.id],
    ['Pending', underWay?.id],
    ['Pending', underWay?.id],
    ['Sent', sent?.id],
    ['Sent', sent?.id],
    ['Withheld', null],
    ['Pending', null],
    ['Unknown', null],
    ['Pending', null],
  ])
  expect(mails.filter(({ resendId }) => resendId)).toHaveLength(1)
  expect(mails[8]?.key).toMatch(/^digest\/[0-9a-f]{32}$/)
}

/** Each enquiry that waited is told of once, those that waited together in one mail under the key of before. */
async function expectSent(env: Record<string, string>) {
  const resend = await startFakeResend()
  atEnd(resend.close)
  const server = await startServer({ ...env, ...sendingThrough(resend) })
  atEnd(() => server.stop('SIGKILL'))
  await eventually(() => expect(resend.mails).toHaveLength(3))
  const told = resend.mails.map(({ key, text, to }) => [to[0], key, text.match(/^Reference: \S+/gm)])
  expect(told).toEqual(
    expect.arrayContaining([
      [STAFF, `staff/${id(1)}`, ['Reference: QV-3', 'Reference: QV-2', 'Reference: QV-1']],
      [STAFF, `staff/${id(7)}`, ['Reference: QV-7']],
      [STAFF, expect.stringMatching(/^digest\//), null],
    ]),
  )
}

it.skipIf(isRenamed)('an update takes bundles over, those under way with their key', async () => {
  const env = await aDatabase()
  const earlier = await mkdtemp(join(scratch, 'quvera-migrations-'))
  atEnd(() => rm(earlier, { recursive: true }))
  for (const name of EARLIER) await cp(join(migrations, name), join(earlier, name), { recursive: true })
  const empty = await open(env)
  await empty.db.$executeRaw`DROP SCHEMA public CASCADE`
  await empty.db.$executeRaw`CREATE SCHEMA public`
  await empty.close()
  const before = await open(env, earlier)
  await fill(before.db)
  await before.close()
  const { db, close } = await open(env)
  await expectAdopted(db)
  await close()
  await expectSent(env)
})

it.skipIf(isRenamed)('a backup of the earlier version restores into bundles of this one', async () => {
  const env = await aDatabase()
  const { db, close } = await open(env)
  await fill(db)
  const { path, remove } = await aFolder('quvera-backup-')
  atEnd(remove)
  const file = join(path, 'backup')
  expect(await staff(['backup', file], env)).toMatchObject({ code: 0 })
  await close()
  // As the earlier version wrote it: neither the migrations nor the tables and columns that came later.
  const lines = gunzipSync(await readFile(file))
    .toString()
    .replace(/@\{"table":"Quvera_(Access|History)".*\n([^@].*\n)*/g, '')
    .split('\n')
  const [head = '', ...rest] = lines
  const earlier = JSON.parse(head.slice(1))
  earlier.migrations = earlier.migrations.filter(({ name }: { name: string }) => EARLIER.includes(name))
  const text = [`@${JSON.stringify(earlier)}`, ...rest.map((line) => line.replace(LATER, ''))].join('\n')
  await writeFile(file, gzipSync(sign(text)))
  const empty = await aDatabase()
  expect(await staff(['restore', file, '--mails'], empty)).toMatchObject({ code: 0, stderr: '' })
  const restored = await open(empty)
  await expectAdopted(restored.db)
  await restored.close()
  await expectSent(empty)
})
