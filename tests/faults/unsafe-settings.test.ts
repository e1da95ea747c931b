// A site warns at its start where PostgreSQL may lose confirmed orders in a crash, and of nothing otherwise.
import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures } from '../support/fault-fixtures.ts'
import { administer } from '../support/test-database.ts'

const { setUp, postgres } = createFaultFixtures()

it.each([
  ['synchronous_commit', 'off'],
  ['fsync', 'off'],
  ['synchronous_commit', 'local', "ALTER SYSTEM SET synchronous_standby_names = '*'"],
])(
  'a site warns at its start of %s = %s at the server, and of nothing with both on',
  async (name, value, also = '') => {
    const fixture = await setUp()
    async function warnings() {
      const PUBLIC_URL = 'http://localhost:3000'
      const server = await fixture.start({ PUBLIC_URL, RESEND_WEBHOOK_SECRET: 'whsec_c2VjcmV0' })
      await server.stop()
      return server
        .stdout()
        .split('\n')
        .filter((line) => line.startsWith('{') && !line.includes('shared/brand.ts still names'))
        .map((line) => JSON.parse(line).msg)
    }
    async function change(...statements: string[]) {
      for (const sql of statements.filter(Boolean)) await administer(postgres().url, sql)
      await administer(postgres().url, 'SELECT pg_reload_conf()')
    }
    const untilItIs = (wanted: string) =>
      eventually(() =>
        fixture.inspect(async (db) =>
          expect(await db.$queryRaw`SELECT current_setting(${name}) AS "value"`).toEqual([{ value: wanted }]),
        ),
      )
    expect(await warnings()).toEqual([])
    try {
      await change(`ALTER SYSTEM SET ${name} = ${value}`, also)
      await untilItIs(value)
      expect(await warnings()).toEqual([
        `${name} is ${value} at the PostgreSQL server: confirmed orders are lost when it crashes. Set ${name} to on`,
      ])
    } finally {
      await change('ALTER SYSTEM RESET ALL')
      await untilItIs('on')
    }
  },
)
