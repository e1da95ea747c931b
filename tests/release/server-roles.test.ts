// The tables' owner of the compose files, who is no superuser, makes the roles, and the site runs on them.
// Not in `npm test`: it needs psql, and a PostgreSQL server that is reached by TCP.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { aServer } from '../support/fixtures.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { staff } from '../support/staff-command.ts'
import { administer } from '../support/test-database.ts'

const PASSWORD = 'only-for-this-test'

it('the files that compose runs make an owner, who gives the roles at each `up`, and the site its login', async () => {
  const server = await startPostgresServer()
  atEnd(server.close)
  await administer(server.url, 'CREATE DATABASE quvera')
  const url = (username: string) => Object.assign(new URL(server.url), { username, pathname: '/quvera' }).href
  const env = { ...process.env, POSTGRES_PASSWORD: PASSWORD, APP_PASSWORD: PASSWORD, READONLY_PASSWORD: PASSWORD }
  async function psql(user: string, ...words: string[]) {
    const args = [url(user), '--set=ON_ERROR_STOP=1', '--tuples-only', '--no-align', ...words]
    return (await promisify(execFile)('psql', args, { env })).stdout.trim().split('\n')
  }
  await psql('postgres', '--file=deploy/owner.sql')
  expect(await staff(['migrate'], { DATABASE_URL: url('quvera') })).toMatchObject({ code: 0 })
  for (const _ of ['the first `up`', 'the next one'])
    await psql('quvera', '--file=prisma/roles.sql', '--file=deploy/passwords.sql')
  expect(
    await psql('quvera', `--command=SELECT rolname, rolsuper FROM pg_roles WHERE rolname ~ '^quvera' ORDER BY 1`),
  ).toEqual(['quvera|f', 'quvera_app|f', 'quvera_readonly|f'])
  expect(await psql('quvera', `--command=SELECT tableowner FROM pg_tables WHERE tablename = 'Quvera_Form'`)).toEqual([
    'quvera',
  ])
  const site = await aServer({ DATABASE_URL: url('quvera_app') })
  expect((await submit(site.url, anOrder())).status).toBe(200)
})
