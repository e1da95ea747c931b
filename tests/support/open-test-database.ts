import { afterAll } from 'vitest'
import type { Database, Db } from '../../server/database/database.ts'
import { openForSite } from '../../server/database/open.ts'
import { createTestDatabase, migrations } from './test-database.ts'

export interface TestDatabase extends Database {
  /** What a server process needs in its environment to use the same database. */
  env: Record<string, string>
}

/** Databases of finished tests, emptied for reuse: creating one takes ten times as long. */
const free: TestDatabase[] = []
afterAll(async () => {
  for (const { close } of free.splice(0)) await close()
})

/** An empty database that this process has open. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const database = free.pop() ?? (await makeTestDatabase())
  const schema = await readSchema(database.db)
  return {
    ...database,
    close: async () => {
      await emptyDatabase(database.db)
      if ((await readSchema(database.db)) === schema) free.push(database)
      else await database.close()
    },
  }
}

/** Also the tables whose triggers refuse DELETE. */
export async function emptyDatabase(db: Db): Promise<void> {
  await db.$executeRaw`DO $$
    DECLARE item record;
    BEGIN
      SET LOCAL session_replication_role = replica;
      FOR item IN SELECT oid::regclass AS name FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations'
      LOOP EXECUTE format('DELETE FROM %s', item.name); END LOOP;
    END $$`
}

/** The schema as one text. A database whose schema a test changed is not reused. */
async function readSchema(db: Db): Promise<string | undefined> {
  const [row] = await db.$queryRaw<{ schema: string }[]>`
    SELECT (SELECT string_agg(concat_ws(' ', oid, relname, relowner, relacl, relchecks), ',' ORDER BY oid)
      FROM pg_class WHERE relnamespace = 'public'::regnamespace)
    || (SELECT string_agg(concat_ws(' ', attrelid, attname, atttypid, attnotnull), ',' ORDER BY attrelid, attnum)
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace)
    || (SELECT string_agg(concat_ws(' ', oid, tgname, tgenabled), ',' ORDER BY oid) FROM pg_trigger)
    || (SELECT string_agg(migration_name || checksum, ',' ORDER BY migration_name) FROM _prisma_migrations) AS schema`
  return row?.schema
}

async function makeTestDatabase(): Promise<TestDatabase> {
  const created = await createTestDatabase()
  const database = await openForSite({ url: created.env.DATABASE_URL, dataDir: '', migrations })
  return {
    ...database,
    env: created.env,
    close: async () => {
      await database.close()
      await created.drop()
    },
  }
}
