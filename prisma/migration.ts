// `npm run migration -- WHAT` writes a migration with the SQL that leads from the migrations to the edited schema: read it
// before you commit it. Without WHAT, as before the tests, it ends with an error when a migration is missing.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  bindMigrationAwareSqlAdapterFactory,
  type ColumnType,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils'
import { SchemaEngine } from '@prisma/schema-engine-wasm'
import pg from 'pg'
import { migrate } from '../server/database/migrations.ts'
import { socketConnection } from '../server/embedded/data-dir.ts'
import { startEmbedded } from '../server/embedded/postgres.ts'
import { exitWithReason } from '../server/errors.ts'

const here = import.meta.dirname
const migrations = join(here, 'migrations')
/** What Prisma calls the column types of the catalogue, by the object identifier of PostgreSQL's type; the rest is text. */
const COLUMN_TYPES: Partial<Record<number, ColumnType>> = {
  [pg.types.builtins.BOOL]: ColumnTypeEnum.Boolean,
  [pg.types.builtins.CHAR]: ColumnTypeEnum.Character,
  [pg.types.builtins.INT2]: ColumnTypeEnum.Int32,
  [pg.types.builtins.INT4]: ColumnTypeEnum.Int32,
  [pg.types.builtins.INT8]: ColumnTypeEnum.Int64,
  [pg.types.builtins.OID]: ColumnTypeEnum.Int64,
}

async function writeMigration(what?: string) {
  if (what !== undefined && !/^[a-z0-9_]+$/.test(what))
    throw new Error('Name the migration in lower case with underscores: npm run migration -- add_pack_size')
  const sql = await diffSchema()
  if (!sql) return 'The migrations and prisma/schema.prisma agree.'
  if (what === undefined)
    throw new Error(
      `prisma/schema.prisma has changes without a migration. npm run migration -- WHAT writes it:\n\n${sql}`,
    )
  const folder = join(migrations, `${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}_${what}`)
  await mkdir(folder)
  await writeFile(join(folder, 'migration.sql'), sql)
  return `Wrote ${folder}/migration.sql`
}

/**
 * The SQL that leads from the migrations to the schema, or '' when they agree. Runs Prisma's schema engine (WebAssembly)
 * on a temporary PostgreSQL, and so needs no server and no native engine.
 */
async function diffSchema(): Promise<string> {
  const schema = { path: 'schema.prisma', content: await readFile(join(here, 'schema.prisma'), 'utf8') }
  const dataDir = await mkdtemp(join(tmpdir(), 'migrated-'))
  const options = { dataDir, create: true, settings: { fsync: 'off' } }
  const server = await startEmbedded({ ...options, warn: console.error, onFailure: exitWithReason })
  const client = new pg.Client({ ...socketConnection(dataDir), user: 'quvera' })
  try {
    await client.connect()
    await migrate(client, migrations)
    const factory = bindMigrationAwareSqlAdapterFactory(catalogueAdapter(client))
    const engine = await SchemaEngine.new({ datamodels: [[schema.path, schema.content]] }, () => {}, factory)
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [schema], configDir: here }, // the database with its migrations, through the adapter
      to: { tag: 'schemaDatamodel', files: [schema] }, // the edited schema
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    })
    return stdout?.startsWith('-- This is an empty migration') ? '' : (stdout ?? '')
  } finally {
    await client.end()
    await server.stop('SIGINT')
    await rm(dataDir, { recursive: true })
  }
}

/**
 * A driver adapter for Prisma's schema engine that only reads the catalogue. @prisma/adapter-pg cannot: it refuses
 * columns of PostgreSQL's internal type "char", and the catalogue has them.
 */
function catalogueAdapter(client: pg.Client): SqlMigrationAwareDriverAdapterFactory {
  const about = { provider: 'postgres', adapterName: 'catalogue' } as const
  const refuse = async () => {
    throw new Error('This adapter only reads the catalogue')
  }
  const adapter: SqlDriverAdapter = {
    ...about,
    async queryRaw({ sql, args }) {
      const { fields, rows } = await client.query({ text: sql, values: args, rowMode: 'array' })
      return {
        columnNames: fields.map(({ name }) => name),
        columnTypes: fields.map(({ dataTypeID }) => COLUMN_TYPES[dataTypeID] ?? ColumnTypeEnum.Text),
        rows,
      }
    },
    executeRaw: refuse,
    executeScript: refuse,
    startTransaction: refuse,
    dispose: async () => {},
  }
  const connect = async () => adapter
  return { ...about, connect, connectToShadowDb: connect }
}

if (import.meta.main) {
  try {
    console.log(await writeMigration(process.argv[2]))
    process.exit() // the engine would keep the process alive
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
}
