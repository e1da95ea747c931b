// A database and a backup of this version work with a later version. After a rollback the tables hold values of the newer
// version: they are read, mailed and exported as they are.
import { globSync } from 'node:fs'
import { appendFile, cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aFolder } from '../../support/a-folder.ts'
import { anOrder, submit } from '../../support/an-order.ts'
import { callDesk, enterDesk } from '../../support/desk.ts'
import { eventually } from '../../support/eventually.ts'
import { aDatabase, anApp, anOpenDatabase } from '../../support/fixtures.ts'
import { openTestDatabase } from '../../support/open-test-database.ts'
import { createFolder } from '../../support/scratch.ts'
import { runProgram, staff } from '../../support/staff-command.ts'
import { onDatabase, storeEnquiry } from '../../support/stored-enquiry.ts'
import { administer } from '../../support/test-database.ts'

/* A later version of the site, with two migrations more: the second needs what the first adds to a type. */

const AFTER_RESTORE = 'server/database/after-pg-restore.sql'
const LATER = {
  '29990101000000_city': `ALTER TYPE "Quvera_Status" ADD VALUE 'Later'; ALTER TABLE "Quvera_Form" ADD "Later" TEXT NOT NULL DEFAULT '-';
    ALTER TABLE "Quvera_Mail" ADD "RestoredAt" TIMESTAMPTZ`,
  '29990102000000_later': `CREATE INDEX "later" ON "Quvera_Form" ("Later") WHERE "Status" = 'Later'`,
}

let folder: Awaited<ReturnType<typeof createFolder>>
let file: string
beforeAll(async () => {
  folder = await createFolder('quvera-next-')
  const at = (path: string) => join(folder.path, path)
  for (const path of ['dist/server', 'prisma/migrations', 'prisma/roles.sql', AFTER_RESTORE])
    await cp(path, at(path), { recursive: true })
  // It names a column that the tables of the backup do not have.
  await appendFile(at(AFTER_RESTORE), `UPDATE "Quvera_Mail" SET "RestoredAt" = now() WHERE "Status" = 'Withheld';\n`)
  for (const path of ['dist/empty-database', 'node_modules']) await symlink(resolve(path), at(path))
  await writeFile(at('package.json'), '{ "type": "module" }')
  for (const [name, sql] of Object.entries(LATER)) {
    await mkdir(at(`prisma/migrations/${name}`))
    await writeFile(at(`prisma/migrations/${name}/migration.sql`), sql)
  }
  const { db, env, close } = await openTestDatabase()
  await storeEnquiry(db, {}, { Notice: 'Pending', Acknowledgement: 'Pending' })
  for (let index = 0; index < 19; index++) await storeEnquiry(db)
  file = at('backup.gz')
  expect(await staff(['backup', file], env)).toMatchObject({ code: 0 })
  await close()
})
afterAll(() => folder.remove())

/** Runs a command of the later version, which has no npm scripts, as in the container. */
function nextStaff(args: string[], env: Record<string, string>) {
  return runProgram(join(folder.path, 'dist/server/staff.js'), args, env)
}

const shape = (env: Record<string, string>) =>
  onDatabase(
    env,
    (db) => db.$queryRaw<{ cities: bigint; journal: string[] }[]>`
    SELECT (SELECT count(*) FROM "Quvera_Form" WHERE "Later" = '-') AS cities,
      (SELECT array_agg(migration_name::text ORDER BY migration_name) FROM _prisma_migrations) AS journal`,
  )

async function journal(): Promise<string[]> {
  return (await readdir(join(folder.path, 'prisma/migrations'))).filter((name) => /^\d/.test(name)).sort()
}

it('a database of this version keeps its rows through an update, and staff commands are named as in a container', async () => {
  const env = await aDatabase()
  await onDatabase(env, (db) => storeEnquiry(db, {}, { Notice: 'Failed' }))
  expect(await nextStaff(['migrate'], env)).toMatchObject({ code: 0 })
  expect(await shape(env)).toEqual([{ cities: 1n, journal: await journal() }])
  const { stdout } = await nextStaff(['mails'], env)
  expect(stdout).toMatch(/^docker exec quvera node dist\/server\/staff\.js mails retry lists/m)
  expect(stdout).not.toContain('npm run')
})

it('a backup of this version is restored by the later one, and brought up to date', async () => {
  const { db, env } = await anOpenDatabase()
  const { code, stdout } = await nextStaff(['restore', file], env)
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Restored 60 rows of the backup/)])
  expect(await shape(env)).toEqual([{ cities: 20n, journal: await journal() }])
  const withheld = await db.$queryRaw`SELECT count(*)::int AS "all", count("RestoredAt")::int AS "told"
    FROM "Quvera_Mail" WHERE "Status" IN ('Pending', 'Withheld')`
  expect(withheld).toEqual([{ all: 2, told: 2 }])
})

it('the later version makes a database of its own for it, with the rights of the site', async () => {
  const DATA_DIR = join(await aFolder('quvera-next-'), 'data')
  expect(await nextStaff(['restore', file], { DATA_DIR })).toMatchObject({ code: 0 })
  const { code, stdout } = await nextStaff(['export'], { DATA_DIR })
  expect([code, stdout.trim().split('\n').length]).toEqual([0, 21])
})

it('a backup of this version is refused where the tables are of the later one, which stay as they are', async () => {
  const { env } = await anOpenDatabase()
  expect(await nextStaff(['migrate'], env)).toMatchObject({ code: 0 })
  const { code, stderr } = await nextStaff(['restore', file], env)
  const sentence = /^The tables of this database are of a newer version [^\n]* Restore into a new database[^\n]*\n$/
  expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)])
  expect(await shape(env)).toEqual([{ cities: 0n, journal: await journal() }])
})

/*
 * Of each earlier set of migrations one backup, named by its last migration. Before a migration is added:
 *   DATA_DIR=/tmp/demo npm run seed && DATA_DIR=/tmp/demo npm run -s staff -- backup tests/fixtures/LAST_MIGRATION.sql.gz
 */
for (const backup of globSync('tests/fixtures/*.sql.gz'))
  it(`${backup} is restored by this version`, async () => {
    const env = await aDatabase()
    await administer(env.DATABASE_URL, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    expect(await staff(['restore', resolve(backup)], env)).toMatchObject({ code: 0 })
    expect((await staff(['export'], env)).stdout.split('\n').length).toBeGreaterThan(2)
    const pending = await onDatabase(env, (db) => db.mail.count({ where: { status: 'Pending' } }))
    expect(pending).toBe(0)
    if (!backup.includes('with-notes')) return
    // Of 97410644: notes and calls were columns.
    const history = await onDatabase(env, (db) => db.historyEntry.findMany({ orderBy: { id: 'asc' } }))
    const found = (wanted: string) => history.filter(({ what }) => what === wanted)
    expect(history[0]).toMatchObject({
      who: 'ravi@quvera.example',
      text: 'wants to know about the shell: fish gelatine',
    })
    expect(found('Status')[0]).toMatchObject({ before: { Status: 'New' }, after: { Status: 'Contacted' } })
    expect([found('Note').length, found('Call').length]).toEqual([18, 19])
  })

it('an enquiry about a product that this version does not know is mailed, summarised, shown, exported and recognised', async () => {
  const app = await anApp({ mails: false, staff: ['a@quvera.test', 'b@quvera.test'] })
  await app.db.$executeRaw`ALTER TYPE "Quvera_Product" ADD VALUE 'A later product'`
  await app.db.$executeRaw`ALTER TYPE "Quvera_BuyerType" ADD VALUE 'Hospital'`
  await app.db.$executeRaw`ALTER TYPE "Quvera_MailKind" ADD VALUE 'Newsletter'`
  const order = anOrder()
  const { reference = '' } = await submit(app.url, order)
  await app.db.$executeRaw`UPDATE "Quvera_Form" SET "Products" = 'A later product', "RetailerSelfUse" = 'Hospital',
    "ReceivedAt" = "ReceivedAt" - interval '2 minutes'`
  await app.db.$executeRaw`INSERT INTO "Quvera_Mail" ("Kind", "EnquiryId") SELECT 'Newsletter', "Id" FROM "Quvera_Form"`
  await app.db.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Failed', "DueAt" = NULL WHERE "To" LIKE 'b@%'`
  const notices = app.startSenders()
  await eventually(() => expect(app.resend.mails).toHaveLength(2))
  await notices.stop(1000)
  await app.db.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Bounced' WHERE "To" LIKE 'a@%'`
  const summaries = app.startSenders()
  await eventually(() => expect(app.resend.mails).toHaveLength(4)) // one for each
  await summaries.stop(1000)
  for (const { subject, text } of app.resend.mails) expect(subject + text).toContain('A later product')
  expect((await submit(app.url, order)).reference).toBe(reference) // known by what was sent, whatever the row says now
  const exported = await staff(['export', '--json'], app.env)
  expect(JSON.parse(exported.stdout)).toMatchObject([
    { Reference: reference, Products: 'A later product', RetailerSelfUse: 'Hospital' },
  ])
  const cookie = await enterDesk(app, { email: 'a@quvera.test' })
  const list = await callDesk(app.url, cookie, 'list', { state: 'new' })
  expect(list.data.enquiries).toMatchObject([{ products: 'A later product' }])
  expect((await callDesk(app.url, cookie, 'show', { reference })).data.products).toBe('A later product')
  for (const command of [['mails'], ['check'], ['export', '--person', order.email]])
    expect(await staff(command, app.env)).toMatchObject({ code: 0 })
})
