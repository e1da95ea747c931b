// Whoever follows a recipe of docs/recipes.md, or gives the site another brand, ends with green checks.
// Not in `npm test`: it edits a copy of the project as the recipe's tables say, types its commands, and checks the whole.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { productSlug } from '../../shared/catalogue.ts'
import { runShell } from '../support/staff-command.ts'

const ROW = /^\| `([^`]+)` \| `([^`]+)` \| (`{1,2}) ?(.+?) ?\3 \|$/gm
const FILE = /^```tsx (\S+)\n(.*?)^```/gms
const COMMANDS = /^```sh\n(.*?)^```/gms

/** What the owner would bring, by the names that the recipes give to them. */
const PHOTOS = {
  bottle: 'quvera-300-1600.avif',
  'bottle-capsules': 'quvera-300-capsules-960.avif',
  'bottle-label-wide': 'quvera-300-label-wide-1280.avif',
  card: 'og-quvera-300.jpg',
}

const recipes = readFileSync('docs/recipes.md', 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((text): [title: string, text: string] => [text.split('\n')[0] ?? '', text])

let folder: string
const sh = (commands: string) =>
  runShell(`cd ${folder} && ${commands}`, { HOME: process.env.HOME ?? '', CHROMIUM: process.env.CHROMIUM ?? '' })

/** The files that git knows or would take, and the packages, without writing them once more. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quvera-recipes-'))
  const { stdout } = await runShell('git ls-files -z --cached --others --exclude-standard', {})
  for (const file of stdout.split('\0').filter(Boolean)) cpSync(file, join(folder, file))
  for (const [photo, of] of Object.entries(PHOTOS))
    await sharp(`client/images/${of}`)
      .jpeg()
      .toFile(join(folder, `${photo}.jpg`))
  const copied = await runShell(`cp -al node_modules ${folder} 2>/dev/null || cp -a node_modules ${folder}`, {})
  expect(copied.code).toBe(0)
  expect(await sh('git init -q && git add -A && rm -rf node_modules/.vite && npx prisma generate')).toMatchObject({
    code: 0,
  })
})
afterEach(async () => {
  expect(await sh('git checkout -q . && git clean -qfd && npx prisma generate')).toMatchObject({ code: 0 })
})
afterAll(() => rm(folder, { recursive: true }))

/** Puts a text before the first place of another: on a line of its own where that one begins a line. */
function insert(file: string, before: string, text: string) {
  const path = join(folder, file)
  const whole = readFileSync(path, 'utf8')
  const at = whole.indexOf(before)
  expect(at, `${file} has: ${before}`).toBeGreaterThan(-1)
  const indent = /(?:^|\n)([ \t]*)$/.exec(whole.slice(0, at))?.[1]
  writeFileSync(path, whole.slice(0, at) + text + (indent === undefined ? '' : `\n${indent}`) + whole.slice(at))
}

/** Inserts what the rows of a recipe say. @param instead rows that take the place of those with the same file and text */
function followRows(text: string, instead = '') {
  const [rows = [], others = []] = [text, instead].map((each) => {
    const found = [...each.matchAll(ROW)].map(([, file = '', before = '', , inserted = '']) => ({
      file,
      before,
      inserted,
    }))
    expect(found).toHaveLength(each.match(/^\| `/gm)?.length ?? 0)
    return found
  })
  const isSame = (row: (typeof rows)[number]) => (other: typeof row) =>
    other.file === row.file && other.before === row.before
  for (const other of others) expect(rows.some(isSame(other)), other.before).toBe(true)
  for (const row of rows) insert(row.file, row.before, (others.find(isSame(row)) ?? row).inserted)
}

/** A recipe that changes some rows of the one before it. */
const OPTIONAL = 'An optional field of the form'

/** The end of the brand's commands. The packages are here already. */
const CHECK = 'npm ci && npm run fix && npm run check'

/** An order without the field is taken, as by a page or a program from before. */
const WITHOUT_FIELD = `node --input-type=module -e "
  import { orderContentSchema, exampleOrder } from './shared/order.ts'
  const { city, ...order } = exampleOrder
  process.exit(city === '' && orderContentSchema.parse(order).city === '' ? 0 : 1)"`

/** Types commands, of which each has to succeed. */
async function type(commands: string[]) {
  for (const command of commands) {
    const { code, stdout, stderr } = await sh(command)
    expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0)
  }
}

/** Edits the files as a recipe says, and types its commands. @param name of the brand, which the recipes call Quvera */
async function follow(text: string, { instead = '', name = 'Quvera' } = {}) {
  const inBrand = (each: string) =>
    each.replaceAll('Quvera 50', `${name} 50`).replaceAll('og-quvera', `og-${productSlug(name)}`)
  followRows(inBrand(text), instead)
  for (const [, file = '', content = ''] of text.matchAll(FILE)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), content)
  }
  await type([...inBrand(text).matchAll(COMMANDS)].flatMap(([, commands = '']) => commands.trim().split('\n')))
}

it.each(recipes)(
  '%s: whoever follows the recipe ends with green checks',
  { timeout: 1_800_000 },
  async (title, own) => {
    if (title === OPTIONAL) {
      await follow(recipes[recipes.findIndex(([each]) => each === title) - 1]?.[1] ?? '', { instead: own })
      await type([WITHOUT_FIELD])
    } else await follow(own)
    await type(['npm run fix', 'npm run check'])
  },
)

/** What an owner enters in shared/brand.ts, all of it: a name of two words. */
const OWN = {
  name: 'Sun Wellness',
  company: 'Vitalis Nutrition Private Limited',
  phone: '+91 80 2555 0100',
  email: 'care@vitalis.test',
  mailFrom: 'Sun Wellness <enquiries@vitalis.test>',
  street: '7 Hosur Road',
  city: 'Bengaluru',
  postalCode: '560029',
  referencePrefix: 'SUN',
  facebook: 'https://facebook.test/vitalis',
  instagram: 'https://instagram.test/vitalis',
  linkedin: 'https://linkedin.test/company/vitalis',
  whatsapp: '+91 98765 43210',
  accent: '#c2659a',
  accentText: '#8a1f5a',
}

function changeBrand(values: Record<string, string>) {
  const path = join(folder, 'shared/brand.ts')
  for (const [key, value] of Object.entries(values)) {
    const whole = readFileSync(path, 'utf8')
    const changed = whole.replace(new RegExp(`^(\\s+${key}: ).*,$`, 'm'), `$1${value},`)
    expect(changed, key).not.toBe(whole)
    writeFileSync(path, changed)
  }
}

it('without a newsletter the checks are green', { timeout: 1_800_000 }, async () => {
  changeBrand({ newsletter: 'false' })
  await type(['npm run fix', 'npm run check'])
})

/** Follows “Another brand”, as far as green checks. */
async function takeOwnBrand() {
  changeBrand(Object.fromEntries(Object.entries(OWN).map(([key, value]) => [key, `'${value}'`])))
  const [, commands = ''] = [...readFileSync('docs/make-it-yours.md', 'utf8').matchAll(COMMANDS)][0] ?? []
  expect(commands).toContain(CHECK)
  const ours = commands.replaceAll('Vitalis', OWN.name).replaceAll('vitalis', productSlug(OWN.name))
  await type([`set -e\n${ours.replace(CHECK, 'npx prisma generate && npm run fix && npm run check')}`])
}

it('another brand, and each recipe on it, end with green checks', { timeout: 3_600_000 }, async () => {
  await takeOwnBrand()
  for (const [title, text] of recipes) if (title !== OPTIONAL) await follow(text, { name: OWN.name })
  await type(['npm run fix', 'npm run check'])
})

it('another brand takes a third product along', { timeout: 3_600_000 }, async () => {
  for (const [title, text] of recipes) if (title === 'A third product') await follow(text)
  await takeOwnBrand()
})
