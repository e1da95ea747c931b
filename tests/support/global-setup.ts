import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openForSite } from '../../server/database/open.ts'
import { startEmbedded } from '../../server/embedded/postgres.ts'
import { scratch } from './scratch.ts'
import { administer, migrations } from './test-database.ts'

/** Tests kill no machine, so nothing has to reach a disk. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' }

/** Starts the PostgreSQL of this test run, with a migrated database that the tests copy. */
export default async function setup(project: TestProject) {
  const dataDir = await mkdtemp(join(scratch, 'quvera-postgres-'))
  const onFailure = (error: unknown) => console.error(error)
  const postgres = await startEmbedded({ dataDir, create: true, settings: SETTINGS, warn: console.error, onFailure })
  const url = `postgresql://postgres@localhost/quvera?host=${encodeURIComponent(dataDir)}`
  const template = 'quvera_template'
  await administer(url, `CREATE DATABASE ${template}`)
  const templateUrl = Object.assign(new URL(url), { pathname: `/${template}` }).href
  await (await openForSite({ url: templateUrl, dataDir: '', migrations, migrate: true })).close()
  // The digest of the first day says that a database is new.
  await administer(templateUrl, `UPDATE _prisma_migrations SET finished_at = now() - interval '2 days'`)
  project.provide('postgres', { url, template })
  return async () => {
    await postgres.stop('SIGINT')
    await rm(dataDir, { recursive: true, force: true })
  }
}
