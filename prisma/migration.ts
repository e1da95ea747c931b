// `npm run migration -- WHAT` writes a migration with the SQL that leads from the migrations to the edited schema: read it
// before you commit it. Without WHAT, as before the tests, it ends with an error when a migration is missing.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import { SchemaEngine } from '@prisma/schema-engine-wasm'
import pg from 'pg'
import { migrate } from '../server/database/migrations.ts'
import { socketConnection } from '../server/embedded/data-dir.ts'
import { startEmbedded } from '../server/embedded/postgres.ts'
import { exitWithReason } from '../server/errors.ts'

const here = import.meta.dirname
const migrations = join(here, 'migrations')
/** Object identifiers of PostgreSQL's types. */
const CHAR = 18
const TEXT = 25

if (import.meta.main) {
  try {
    console.log(await writeMigration(process.argv[2]))
    process.exit() // the engine would keep the process alive
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
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
  try {
    const connection = { ...socketConnection(dataDir), user: 'quvera' }
    const client = new pg.Client(connection)
    await client.connect()
    await migrate(client, migrations).finally(() => client.end())
    const factory = bindMigrationAwareSqlAdapterFactory(adapterFor(connection))
    const engine = await SchemaEngine.new({ datamodels: [[schema.path, schema.content]] }, () => {}, factory)
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [schema], configDir: here },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    })
    return stdout?.startsWith('-- This is an empty migration') ? '' : (stdout ?? '')
  } finally {
    await server.stop('SIGINT')
    await rm(dataDir, { recursive: true })
  }
}

/** Prisma's adapter, made to read PostgreSQL's internal type "char", which columns of the catalogue have. */
function adapterFor(connection: pg.ClientConfig): PrismaPg {
  const pool = new pg.Pool(connection)
  const query = pool.query.bind(pool) as (config: pg.QueryConfig) => Promise<pg.QueryResult>
  let isChar: boolean[] = [] // of the columns of the last answer: the engine sends one query after the other
  Object.assign(pool, {
    async query(config: pg.QueryConfig) {
      const found = await query(config)
      isChar = found.fields.map(({ dataTypeID }) => dataTypeID === CHAR)
      for (const field of found.fields) if (field.dataTypeID === CHAR) field.dataTypeID = TEXT
      return found
    },
  })
  const factory = new PrismaPg(pool, { disposeExternalPool: true })
  const connect = factory.connect.bind(factory)
  factory.connect = async () => {
    const adapter = await connect()
    const queryRaw = adapter.queryRaw.bind(adapter)
    adapter.queryRaw = async (question) => {
      const found = await queryRaw(question)
      return {
        ...found,
        columnTypes: found.columnTypes.map((type, at) => (isChar[at] ? ColumnTypeEnum.Character : type)),
      }
    }
    return adapter
  }
  return factory
}
