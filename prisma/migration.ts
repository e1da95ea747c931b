/**
 * `npm run migration -- WHAT`: writes the SQL that leads from the migrations to the edited schema. Read it before you
 * commit it. Without WHAT, as before the tests: ends with an error when there is any to write.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import { SchemaEngine } from '@prisma/schema-engine-wasm'
import { PrismaPGlite } from 'pglite-prisma-adapter'

const here = import.meta.dirname
const migrations = join(here, 'migrations')

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
  if (!sql) return 'The migrations lead to this schema.'
  if (what === undefined)
    throw new Error(
      `No migration makes what prisma/schema.prisma describes. npm run migration -- WHAT writes it:\n\n${sql}`,
    )
  const folder = join(migrations, `${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}_${what}`)
  await mkdir(folder)
  await writeFile(join(folder, 'migration.sql'), sql)
  return `Wrote ${folder}/migration.sql`
}

/**
 * The SQL that leads from the migrations to the schema, or '' when they agree. Runs Prisma's schema engine as
 * WebAssembly on an in-memory database, so that it needs neither a server nor the native engine.
 */
async function diffSchema(): Promise<string> {
  const schema = { path: 'schema.prisma', content: await readFile(join(here, 'schema.prisma'), 'utf8') }
  const migrated = new PGlite()
  for (const name of (await readdir(migrations)).filter((each) => /^\d/.test(each)).sort())
    await migrated.exec(await readFile(join(migrations, name, 'migration.sql'), 'utf8'))
  const factory = bindMigrationAwareSqlAdapterFactory(new PrismaPGlite(migrated))
  const engine = await SchemaEngine.new({ datamodels: [[schema.path, schema.content]] }, () => {}, factory)
  const { stdout } = await engine.diff({
    from: { tag: 'schemaDatasource', files: [schema], configDir: here },
    to: { tag: 'schemaDatamodel', files: [schema] },
    script: true,
    exitCode: true,
    filters: { externalTables: [], externalEnums: [] },
  })
  return stdout?.startsWith('-- This is an empty migration') ? '' : (stdout ?? '')
}
