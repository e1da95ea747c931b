// A site warns at its start where PostgreSQL may lose confirmed orders in a crash, and of nothing otherwise.
import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures } from '../support/fault-fixtures.ts'
import { administer } from '../support/test-database.ts'

const { setUp, postgres } = createFaultFixtures()

it.each([
  { off: 'synchronous_commit', by: ['ALTER SYSTEM SET synchronous_commit = off', 'SELECT pg_reload_conf()'] },
  { off: 'synchronous_commit', by: ['ALTER ROLE postgres SET synchronous_commit = off'] },
  { off: 'fsync', by: ['ALTER SYSTEM SET fsync = off', 'SELECT pg_reload_conf()'] },
])(
  'a site warns at its start of $off = off at the server ($by.0), and of nothing with both on',
  async ({ off, by }) => {
    const fixture = await setUp()
    async function warnings() {
      const server = await fixture.start({
        PUBLIC_URL: 'http://localhost:3000',
        RESEND_WEBHOOK_SECRET: 'whsec_c2VjcmV0',
      })
      await server.stop()
      const lines = server
        .stdout()
        .split('\n')
        .filter((line) => line.startsWith('{') && !line.includes('shared/brand.ts still names'))
      return lines.map((line) => JSON.parse(line)).map(({ level, msg }) => `${level}: ${msg}`)
    }
    const untilItIs = (value: string) =>
      eventually(() =>
        fixture.inspect(async (db) =>
          expect(await db.$queryRawUnsafe(`SELECT current_setting('${off}') AS value`)).toEqual([{ value }]),
        ),
      )
    expect(await warnings()).toEqual([])
    try {
      for (const sql of by) await administer(postgres().url, sql)
      await untilItIs('off')
      expect(await warnings()).toEqual([
        `warn: ${off} is off at the PostgreSQL server: confirmed orders are lost when it crashes. Set ${off} to on`,
      ])
    } finally {
      await administer(postgres().url, 'ALTER SYSTEM RESET ALL')
      await administer(postgres().url, 'ALTER ROLE postgres RESET ALL')
      await administer(postgres().url, 'SELECT pg_reload_conf()')
      await untilItIs('on')
    }
  },
)
