/** `npm run rename -- NAME`: gives code, files and tables another product's name. docs/make-it-yours.md says what is left. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brand } from '../shared/brand.ts'

const [name = ''] = process.argv.slice(2)
if (!/^[A-Z][a-z]+$/.test(name) || name === brand.name) {
  console.error('Name the product in one word with a capital: npm run rename -- Vitalis')
  process.exit(1)
}

const template = join(import.meta.dirname, 'rename-product.sql')
/** History, and what belongs to the old name's drawing. */
const untouched =
  /^(prisma\/(migrations\/|rename-product)|client\/ui\/logo\.tsx|package-lock\.json)|\.(svg|avif|webp|jpg|png|ico|woff2)$/
const renamed = (text: string) =>
  text.replaceAll(brand.name, name).replaceAll(brand.name.toLowerCase(), name.toLowerCase())

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n')
for (const file of files.filter((each) => !untouched.test(each))) {
  const text = readFileSync(file, 'utf8')
  if (renamed(text) !== text) writeFileSync(file, renamed(text))
}
for (const file of files.filter((each) => !each.startsWith('prisma/') && renamed(each) !== each)) {
  mkdirSync(dirname(renamed(file)), { recursive: true })
  renameSync(file, renamed(file))
}

const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
const migration = join(import.meta.dirname, 'migrations', `${stamp}_rename`)
mkdirSync(migration)
writeFileSync(join(migration, 'migration.sql'), readFileSync(template, 'utf8').replace("'Newname'", `'${name}'`))
writeFileSync(template, readFileSync(template, 'utf8').replace(`'${brand.name}'`, `'${name}'`))
execFileSync('git', ['add', '--all'])
console.log(`${brand.name} is ${name} now. Next: npm ci && npx biome check --write . && npm run check`)
