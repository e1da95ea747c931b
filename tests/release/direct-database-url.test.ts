// Migrations run at DIRECT_DATABASE_URL, under the lock that Prisma takes too.
// Not in `npm test`: it makes logins, and needs a PostgreSQL server that is reached by TCP.
import pg from 'pg'
import { expect, it } from 'vitest'
import { openForSite } from '../../server/database/open.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures } from '../support/fault-fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { administer, migrations } from '../support/test-database.ts'

const { setUp } = createFaultFixtures()

it('migrate uses DIRECT_DATABASE_URL where the login of the site may not, unless it leads elsewhere', async () => {
  const { databaseUrl: owner } = await setUp()
  await administer(
    owner,
    `CREATE ROLE limited LOGIN; GRANT USAGE ON SCHEMA public TO limited; GRANT CREATE ON SCHEMA public TO postgres;
     ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT ON TABLES TO limited`,
  )
  const DATABASE_URL = Object.assign(new URL(owner), { username: 'limited' }).href
  expect((await staff(['migrate'], { DATABASE_URL })).stderr).toMatch(/ is due, and this role may not apply it\. /)
  const env = { DATABASE_URL, DIRECT_DATABASE_URL: owner }
  expect(await staff(['migrate'], env)).toMatchObject({ code: 0 })
  expect(await staff(['export'], env)).toMatchObject({ code: 0, stderr: '' })
  const { databaseUrl: elsewhere } = await setUp()
  expect((await staff(['migrate'], { DATABASE_URL: elsewhere, DIRECT_DATABASE_URL: owner })).stderr).toMatch(
    /^DIRECT_DATABASE_URL and DATABASE_URL lead to different databases or schemas: /,
  )
})

it('migrations wait for Prisma’s own lock', async () => {
  const { databaseUrl } = await setUp()
  const prisma = new pg.Client({ connectionString: databaseUrl })
  await prisma.connect()
  atEnd(() => prisma.end())
  await prisma.query('SELECT pg_advisory_lock(72707369)')
  const opening = openForSite({ url: databaseUrl, dataDir: '', migrations, migrate: true })
  const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (
    SELECT oid FROM pg_database WHERE datname = current_database())`
  await eventually(async () => expect((await prisma.query(waiting)).rows).toHaveLength(1))
  await prisma.query('SELECT pg_advisory_unlock(72707369)')
  const { notes, close } = await opening
  await close()
  expect(notes).toContainEqual(expect.stringMatching(/^applied migration /))
})
