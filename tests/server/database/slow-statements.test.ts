// A confirmed order is stored also where PostgreSQL answers too late, and statements that were given up do not wait on.
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../server/database/database.ts'
import { openForSite } from '../../../server/database/open.ts'
import { createOrders } from '../../../server/orders/orders.ts'
import { createProbes } from '../../../server/orders/probes.ts'
import { aClient } from '../../support/a-client.ts'
import { aFolder } from '../../support/a-folder.ts'
import { anOrder } from '../../support/an-order.ts'
import { eventually } from '../../support/eventually.ts'
import { aDatabase } from '../../support/fixtures.ts'
import { migrations } from '../../support/test-database.ts'

const QUERY_TIMEOUT_MS = 400

describe('on a PostgreSQL server that answers too late', () => {
  let site: Database
  let other: pg.Client
  let url = ''
  beforeEach(async () => {
    const env = await aDatabase()
    url = env.DATABASE_URL
    site = await openForSite({ url, dataDir: '', migrations, queryTimeoutMs: QUERY_TIMEOUT_MS })
    other = await aClient(env)
    return site.close
  })

  const availability = { isUp: () => true, failed() {}, worked() {} }
  const recipients = { STAFF_EMAILS: ['a@b.in'] }
  const options = { availability, recipients, log: { info() {} }, onStored() {} }
  const submit = () => createOrders(site.db, options).submit(anOrder())
  /** What the site's connections wait for, or do. */
  async function connections(what: string): Promise<number> {
    const { rows } = await other.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'quvera'
       AND (wait_event_type = $1 OR state = $1)`,
      [what],
    )
    return rows.length
  }
  async function expectStored(reference: string) {
    const { rows } = await other.query('SELECT "Reference" FROM "Quvera_Form"')
    expect(rows).toEqual([{ Reference: reference }])
    expect(await connections('idle in transaction')).toBe(0)
  }

  it('an order that is confirmed after a probe was held up is stored', async () => {
    await other.query('BEGIN; LOCK TABLE "Quvera_Form"')
    await expect(createProbes(site.db, recipients).store(() => true)).rejects.toThrow()
    await other.query('COMMIT')
    await eventually(async () => expect(await connections('active')).toBe(0))
    await expectStored((await submit()).reference)
  })

  it('an order that is confirmed after a transaction whose end was not answered is stored', async () => {
    const lasting = site.db.$transaction(async (transaction) => {
      await transaction.$executeRaw`SET LOCAL statement_timeout = 0` // as behind a pooler, which takes no limits
      await transaction.$executeRaw`SELECT pg_sleep(${(3 * QUERY_TIMEOUT_MS) / 1000})`
    })
    await expect(lasting).rejects.toThrow()
    await eventually(async () => expect(await connections('active')).toBe(0))
    await expectStored((await submit()).reference)
  })

  it('statements that the site has given up do not wait on in its connections', async () => {
    await other.query('BEGIN; LOCK TABLE "Quvera_Form"')
    for (let round = 0; round < 3; round++) await expect(submit()).rejects.toThrow()
    expect(await connections('Lock')).toBeLessThanOrEqual(1)
    await other.query('COMMIT')
  })

  it('a migration that waits for a long backup gives up in seconds, says so, and orders are stored again', async () => {
    const folder = await aFolder('quvera-migrations-')
    await cp(migrations, folder, { recursive: true })
    await mkdir(join(folder, '29990101000000_wide'))
    await writeFile(join(folder, '29990101000000_wide', 'migration.sql'), 'ALTER TABLE "Quvera_Form" ADD "X" int')
    await other.query('BEGIN; SELECT FROM "Quvera_Form"')
    await expect(openForSite({ url, dataDir: '', migrations: folder, migrate: true })).rejects.toThrow(
      /^Migration 29990101000000_wide was not applied, and left nothing behind: .* holds a table .* Start again/,
    )
    await submit()
  }, 30_000)
})
