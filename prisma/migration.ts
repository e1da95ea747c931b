/**
 * `npm run migration -- WHAT`: writes the SQL that leads from the migrations to the edited schema. Read it before you
 * commit it. Without WHAT, as before the tests: ends with an error when there is any to write.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { bindMigrationAwareSqlAdapterFactory, type SqlDriverAdapter } from '@prisma/driver-adapter-utils'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import { PrismaPGlite } from 'pglite-prisma-adapter'

const here = import.meta.dirname

if (import.meta.main) {
  const [, , what] = process.argv
  await (what === undefined ? expectAllMigrations() : writeMigration(what))
  process.exit() // the engine would keep the process alive
}

async function expectAllMigrations() {
  const sql = await diffSchema()
  if (!sql) return
  console.error(
    `No migration makes what prisma/schema.prisma describes. npm run migration -- WHAT writes it:\n\n${sql}`,
  )
  process.exit(1)
}

async function writeMigration(what: string) {
  if (!/^[a-z0-9_]+$/.test(what)) {
    console.error('Name the migration in lower case with underscores: npm run migration -- add_pack_size')
    process.exit(1)
  }
  const sql = await diffSchema()
  if (!sql) return console.log('The migrations already lead to this schema.')
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const folder = join(here, 'migrations', `${stamp}_${what}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'migration.sql'), sql)
  console.log(`Wrote ${folder}/migration.sql`)
}

/**
 * The SQL that leads from the migrations to the schema, or '' when they agree. Runs Prisma's schema engine as
 * WebAssembly on in-memory databases, so that it needs neither a server nor the native engine.
 */
export async function diffSchema(): Promise<string> {
  const schema = { path: 'schema.prisma', content: await readFile(join(here, 'schema.prisma'), 'utf8') }
  const factory = new PrismaPGlite(await PGlite.create())
  const connect = factory.connect.bind(factory)
  factory.connect = async () => withScripts(await connect())
  factory.connectToShadowDb = async () => withScripts(await new PrismaPGlite(await PGlite.create()).connect())
  const engine = await openEngine(factory, schema)
  const { stdout } = await engine.diff({
    from: { tag: 'migrations', ...(await listMigrations()) },
    to: { tag: 'schemaDatamodel', files: [schema] },
    script: true,
    exitCode: true,
    filters: { externalTables: [], externalEnums: [] },
  })
  return stdout?.startsWith('-- This is an empty migration') ? '' : (stdout ?? '')
}

/** The PGlite adapter prepares what it is given as a script; the engine's scripts hold many statements. */
function withScripts(adapter: SqlDriverAdapter): SqlDriverAdapter {
  const { client } = adapter as unknown as { client: PGlite }
  adapter.executeScript = async (script) => void (await client.exec(script))
  return adapter
}

async function openEngine(factory: PrismaPGlite, schema: { path: string; content: string }) {
  const wasm = join(
    dirname(fileURLToPath(import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg'))),
    'schema_engine_bg.wasm',
  )
  const { instance } = await WebAssembly.instantiate(await readFile(wasm), { './schema_engine_bg.js': { ...bindings } })
  bindings.__wbg_set_wasm(instance.exports)
  const { __wbindgen_start: start } = instance.exports as unknown as { __wbindgen_start(): void }
  start()
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: { set_message: (message: string) => console.error(message) },
  })
  return bindings.SchemaEngine.new(
    { datamodels: [[schema.path, schema.content]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(factory),
  )
}

async function listMigrations() {
  const baseDir = resolve(here, 'migrations')
  const entries = await readdir(baseDir, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const read = (path: string) => readFile(join(baseDir, path), 'utf8')
  return {
    baseDir,
    lockfile: { path: 'migration_lock.toml', content: await read('migration_lock.toml') },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      names.sort().map(async (name) => ({
        path: name,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok' as const, value: await read(`${name}/migration.sql`) },
        },
      })),
    ),
  }
}
