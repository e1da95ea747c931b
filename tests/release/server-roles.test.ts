// An owner of the tables who is no superuser can give the roles of prisma/roles.sql, and the site runs on them.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { aServer } from '../support/fixtures.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { staff } from '../support/staff-command.ts'
import { administer } from '../support/test-database.ts'

const PASSWORD = 'only-for-this-test'
const psql = promisify(execFile)

/** PostgreSQL as deploy/compose.postgres.yaml starts and prepares it. */
async function aComposeDatabase() {
  const server = await startPostgresServer()
  atEnd(server.close)
  await administer(server.url, 'CREATE DATABASE quvera')
  const url = (username: string) => Object.assign(new URL(server.url), { username, pathname: '/quvera' }).href
  const env = { ...process.env, POSTGRES_PASSWORD: PASSWORD, APP_PASSWORD: PASSWORD, READONLY_PASSWORD: PASSWORD }
  const run = (user: string, ...files: string[]) =>
    psql('psql', [url(user), '--set=ON_ERROR_STOP=1', ...files.map((file) => `--file=${file}`)], { env })
  await run('postgres', 'deploy/owner.sql')
  expect(await staff(['migrate'], { DATABASE_URL: url('quvera') })).toMatchObject({ code: 0 })
  await run('quvera', 'prisma/roles.sql', 'deploy/passwords.sql')
  return { url, run }
}

it('the roles are given by an owner who may not create roles, once a superuser has run what the refusal says', async () => {
  const server = await startPostgresServer()
  atEnd(server.close)
  await administer(server.url, `CREATE ROLE quvera LOGIN`)
  await administer(server.url, 'CREATE DATABASE quvera OWNER quvera')
  const url = (username: string) => Object.assign(new URL(server.url), { username, pathname: '/quvera' }).href
  expect(await staff(['migrate'], { DATABASE_URL: url('quvera') })).toMatchObject({ code: 0 })
  const script = await readFile('prisma/roles.sql', 'utf8')
  const { hint } = await administer(url('quvera'), script).catch((error) => error)
  await administer(url('postgres'), /A superuser runs: (.*); or: /.exec(hint)?.[1] ?? '')
  for (const _ of ['the first time', 'again']) await administer(url('quvera'), script)
  const site = await aServer({ DATABASE_URL: url('quvera_app') })
  expect((await submit(site.url, anOrder())).status).toBe(200)
})

it('the roles are made in compose by an owner of the tables who is no superuser, and the site runs on them', async () => {
  const { url, run } = await aComposeDatabase()
  const client = new pg.Client({ connectionString: url('quvera') })
  await client.connect()
  const { rows } = await client.query(
    `SELECT rolname, rolsuper, (SELECT tableowner FROM pg_tables WHERE tablename = 'Quvera_Form') AS owner FROM pg_roles
     WHERE rolname LIKE 'quvera%' ORDER BY 1`,
  )
  const owner = 'quvera'
  expect(rows).toEqual([
    { rolname: 'quvera', rolsuper: false, owner },
    { rolname: 'quvera_app', rolsuper: false, owner },
    { rolname: 'quvera_readonly', rolsuper: false, owner },
  ])
  await client.end()
  const server = await aServer({ DATABASE_URL: url('quvera_app') })
  expect((await submit(server.url, anOrder())).status).toBe(200)
  await run('quvera', 'prisma/roles.sql', 'deploy/passwords.sql') // as the next `up` does
})
