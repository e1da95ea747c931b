import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../server/database.ts'
import { administer, migrations } from './database.ts'

/** Migrates one database of each kind in use, which the tests then copy. */
export default async function setup(project: TestProject) {
  const url = process.env.TEST_DATABASE_URL
  const folder = await mkdtemp(join(tmpdir(), 'quvera-template-'))
  const template = `quvera_template_${process.pid}`
  if (url) await administer(url, `CREATE DATABASE ${template}`)
  const templateUrl = url && Object.assign(new URL(url), { pathname: `/${template}` }).href
  const database = await openDatabase({ url: templateUrl, dataDir: folder, embeddedPort: 0, migrations })
  await database.close()
  project.provide('embeddedTemplate', folder)
  project.provide('postgres', url ? { url, template } : null)
  return async () => {
    await rm(folder, { recursive: true, force: true })
    if (url) await administer(url, `DROP DATABASE ${template} WITH (FORCE)`)
  }
}
