/** `npm run migration -- <what>`: writes the SQL that leads from the migrations to the edited schema. Read it before you commit it. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diffSchema } from './schema-engine.ts'

const what = process.argv[2]
if (!what || !/^[a-z0-9_]+$/.test(what)) {
  console.error('Name the migration in lower case with underscores: npm run migration -- add_pack_size')
  process.exit(1)
}
const sql = await diffSchema()
if (!sql) {
  console.log('The migrations already lead to this schema.')
} else {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const folder = join(import.meta.dirname, 'migrations', `${stamp}_${what}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'migration.sql'), sql)
  console.log(`Wrote ${folder}/migration.sql`)
}
process.exit(0)
