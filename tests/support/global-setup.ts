import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../server/open-database.ts'
import { startPostgresServer } from './postgres-server.ts'
import { scratch } from './scratch.ts'
import { administer, migrations } from './test-database.ts'

/**
 * Migrates one database, which the tests then copy: an embedded one or, when TEST_DATABASE_URL names a server, one
 * there. `temporary` starts a server for the run.
 */
export default async function setup(project: TestProject) {
  const wanted = process.env.TEST_DATABASE_URL
  const temporary = wanted === 'temporary' ? await startPostgresServer() : undefined
  const url = temporary?.url ?? wanted
  const folder = await mkdtemp(join(scratch, 'quvera-template-'))
  const template = `quvera_template_${process.pid}`
  if (url) await administer(url, `CREATE DATABASE ${template}`)
  const templateUrl = url && Object.assign(new URL(url), { pathname: `/${template}` }).href
  const database = await openDatabase({ url: templateUrl, dataDir: folder, migrations, migrate: true })
  await database.close()
  project.provide('embeddedTemplate', folder)
  project.provide('postgres', url ? { url, template } : null)
  if (!url) console.log('Tests that need a PostgreSQL server are skipped: npm run test:postgres runs them.')
  return async () => {
    await rm(folder, { recursive: true, force: true })
    if (url) await administer(url, `DROP DATABASE ${template} WITH (FORCE)`)
    await temporary?.close()
  }
}
