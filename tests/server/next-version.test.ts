import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { sign } from '../support/backup-file.ts'
import { aDatabase, anOpenDatabase } from '../support/fixtures.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { createFolder } from '../support/scratch.ts'
import { type Ran, staff } from '../support/staff-command.ts'
import { onDatabase, storeEnquiry } from '../support/stored-enquiry.ts'

/*
 * A later version of the site, with two migrations more: the second needs what the first adds to a type. The first also
 * executes what a database has in `elsewhere.statements`.
 */

const LATER = {
  '29990101000000_city': `DO $$ DECLARE statement TEXT; BEGIN
    IF to_regclass('elsewhere.statements') IS NULL THEN RETURN; END IF;
    FOR statement IN SELECT sql FROM elsewhere.statements LOOP EXECUTE statement; END LOOP; END $$; ALTER TYPE "Quvera_Status" ADD VALUE 'Later'; ALTER TABLE "Quvera_Form" ADD "City" TEXT NOT NULL DEFAULT '-'`,
  '29990102000000_later': `CREATE INDEX "later" ON "Quvera_Form" ("City") WHERE "Status" = 'Later'`,
}

const RECREATED = 'The tables were created anew. Run prisma/roles.sql again before the site starts.\n'

let folder: Awaited<ReturnType<typeof createFolder>>
let file: string
beforeAll(async () => {
  folder = await createFolder('quvera-next-')
  await cp('dist/server', join(folder.path, 'dist/server'), { recursive: true })
  await cp('prisma/migrations', join(folder.path, 'prisma/migrations'), { recursive: true })
  await symlink(resolve('node_modules'), join(folder.path, 'node_modules'))
  await writeFile(join(folder.path, 'package.json'), '{ "type": "module" }')
  for (const [name, sql] of Object.entries(LATER)) {
    await mkdir(join(folder.path, 'prisma/migrations', name))
    await writeFile(join(folder.path, 'prisma/migrations', name, 'migration.sql'), sql)
  }
  const { db, env, close } = await openTestDatabase()
  for (let index = 0; index < 20; index++) await storeEnquiry(db)
  file = join(folder.path, 'backup.gz')
  expect(await staff(['backup', file], env)).toMatchObject({ code: 0 })
  await close()
})
afterAll(() => folder.remove())

/** Runs a command of the later version, which has no npm scripts, as in the container. */
function nextStaff(args: string[], env: Record<string, string>): Promise<Ran> {
  const program = join(folder.path, 'dist/server/staff.js')
  return new Promise((done) =>
    execFile(
      process.execPath,
      [program, ...args],
      { env: { PATH: process.env.PATH, ...env } },
      (error, stdout, stderr) => done({ code: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  )
}

const shape = (env: Record<string, string>) =>
  onDatabase(
    env,
    (db) => db.$queryRaw<{ cities: bigint; journal: string[] }[]>`
    SELECT (SELECT count(*) FROM "Quvera_Form" WHERE "City" = '-') AS cities,
      (SELECT array_agg(migration_name::text ORDER BY migration_name) FROM _prisma_migrations) AS journal`,
  )

async function journal(): Promise<string[]> {
  return (await readdir(join(folder.path, 'prisma/migrations'))).filter((name) => /^\d/.test(name)).sort()
}

it('in the container, which has no npm scripts, the digest names staff commands as they are typed outside', async () => {
  const env = await aDatabase()
  expect(await nextStaff(['migrate'], env)).toMatchObject({ code: 0 })
  await onDatabase(env, (db) => storeEnquiry(db, {}, { Notice: 'Bounced' }))
  const { code, stdout } = await nextStaff(['digest'], env)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^docker exec quvera node dist\/server\/staff\.js show REFERENCE shows everything about/m)
  expect(stdout).not.toContain('npm run')
})

it('a database of this version keeps its rows through an update', async () => {
  const env = await aDatabase()
  await onDatabase(env, (db) => storeEnquiry(db))
  expect(await nextStaff(['migrate'], env)).toMatchObject({ code: 0 })
  expect(await shape(env)).toEqual([{ cities: 1n, journal: await journal() }])
})

it('a backup of this version is restored by the later one, and brought up to date', async () => {
  const { env } = await anOpenDatabase()
  await onDatabase(env, async (db) => {
    await db.access.create({ data: { who: 'ravi', command: 'list', what: 'before' } })
    await db.$executeRawUnsafe('CREATE TABLE theirs (number INT)')
    await db.$executeRawUnsafe("CREATE FUNCTION theirs() RETURNS INT LANGUAGE sql AS 'SELECT 1'")
  })
  const { code, stdout } = await nextStaff(['restore', file], env)
  expect(code).toBe(0)
  const log = await onDatabase(env, (db) => db.access.findMany({ orderBy: { at: 'asc' } }))
  expect(log.map(({ command }) => command)).toEqual(['backup', 'list', 'restore'])
  expect(stdout).toMatch(/^Restored 60 rows of the backup/m)
  expect(stdout.startsWith(RECREATED)).toBe(Boolean(inject('postgres')))
  expect(await shape(env)).toEqual([{ cities: 20n, journal: await journal() }])
  expect(await onDatabase(env, (db) => db.$queryRaw`SELECT theirs(), to_regclass('theirs')::text AS name`)).toEqual([
    { theirs: 1, name: 'theirs' }, // of another program: neither is dropped
  ])
})

it('a backup whose rows do not fit leaves an empty database, brought up to date', async () => {
  const { env } = await anOpenDatabase()
  const text = gunzipSync(await readFile(file)).toString()
  const broken = join(folder.path, 'broken.gz')
  await writeFile(broken, gzipSync(sign(text.replace('"Status":"New"', '"Status":"Newer"'))))
  const { code, stdout, stderr } = await nextStaff(['restore', broken], env)
  const told = /its rows do not fit the tables\. No row was restored\.\n$/
  expect([code, stdout, stderr]).toEqual([1, inject('postgres') ? RECREATED : '', expect.stringMatching(told)])
  expect(await shape(env)).toEqual([{ cities: 0n, journal: await journal() }])
})

/** Restores a backup of the version between the two, and executes `sql` while the tables are created as they were then. */
async function restoreOfVersionBetween(sql: string) {
  const { env } = await anOpenDatabase()
  expect(await nextStaff(['migrate'], env)).toMatchObject({ code: 0 })
  await onDatabase(env, async (db) => {
    await db.access.create({ data: { who: 'ravi', command: 'list', what: 'before' } })
    await db.$executeRawUnsafe('CREATE SCHEMA elsewhere')
    await db.$executeRawUnsafe('CREATE TABLE elsewhere.statements AS SELECT $1::text AS sql', sql)
  })
  const between = join(folder.path, 'between.gz')
  const text = gunzipSync(await readFile(file)).toString()
  const migrations = `,{"name":"${Object.keys(LATER)[0]}","checksum":"-"}]`
  await writeFile(between, gzipSync(sign(text.replace(']', migrations))))
  return { env, ...(await nextStaff(['restore', between], env)) }
}

it('a restore that ends before the older tables are complete keeps the access log', async () => {
  const { env, code, stderr } = await restoreOfVersionBetween(`DO 'BEGIN RAISE division_by_zero; END'`)
  expect([code, stderr]).toEqual([1, expect.stringContaining('failed and left nothing behind')])
  expect(await onDatabase(env, (db) => db.access.findMany())).toMatchObject([{ who: 'ravi', what: 'before' }])
})

it('rows that come while the older tables are created are kept, and nothing is said to be unchanged', async () => {
  const { env, code, stdout, stderr } = await restoreOfVersionBetween(
    `INSERT INTO "Quvera_Subscriber" ("Email", "ConsentVersion") VALUES ('asha@shop.example', '1')`,
  )
  expect([code, stderr]).toEqual([
    1,
    'The database has rows in Quvera_Subscriber: no row was restored. Restore into an empty one.\n',
  ])
  expect(stdout).toBe(inject('postgres') ? RECREATED : '')
  expect(await onDatabase(env, (db) => db.subscriber.count())).toBe(1)
})

it('a backup of the later version is refused by this one', async () => {
  const { env } = await anOpenDatabase()
  expect(await nextStaff(['migrate'], env)).toMatchObject({ code: 0 })
  const later = join(folder.path, 'later.gz')
  expect(await nextStaff(['backup', later, '--allow-empty'], env)).toMatchObject({ code: 0 })
  const refused = await staff(['restore', later], (await anOpenDatabase()).env)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/newer version of the site \(migration 29990101000000_city\)/)
})
