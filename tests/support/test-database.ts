import { resolve } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'

export const migrations = resolve(import.meta.dirname, '../../prisma/migrations')

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL of this test run (global-setup.ts), and the name of a migrated database in it. */
    postgres: { url: string; template: string }
  }
}

/** A new, migrated, empty database that no process has open. */
export async function createTestDatabase(): Promise<{ env: { DATABASE_URL: string }; drop(): Promise<void> }> {
  const { url, template } = inject('postgres')
  const name = `quvera_test_${crypto.randomUUID().replaceAll('-', '')}`
  await administer(url, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  return {
    env: { DATABASE_URL: Object.assign(new URL(url), { pathname: `/${name}` }).href },
    drop: () => administer(url, `DROP DATABASE ${name} WITH (FORCE)`),
  }
}

export async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}
