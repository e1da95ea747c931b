// Git and the container image leave out exports, backups, keys and settings, and keep the files of the project.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** What the commands of README.md and docs/ leave behind: people's data, and keys. */
const PRIVATE = [
  '.env',
  '.env.local',
  '.env.production',
  'deploy/.env',
  'deploy/.env.local',
  'enquiries.json',
  'exports-of-may/enquiries-may.json',
  'quvera.sql',
  'deploy/old/dump.sql',
  'enquiries.csv',
  'subscribers.csv',
  'exports/november.csv',
  'person.json',
  'person-asha.json',
  'quvera-backup.gz',
  'before-update.gz',
  'quvera.dump',
  'quvera.sql.gz',
  'quvera.sql.gz.part',
  'quvera-2026-11-25.sql.gz.unfinished',
  'backups/today',
  'restored/postgres/PG_VERSION',
  '.data/postgres/PG_VERSION',
]
const OURS = [
  '.env.example',
  'server/database/after-pg-restore.sql',
  'prisma/roles.sql',
  'prisma/migrations/20261121120000_tables/migration.sql',
  'package.json',
  'server/staff/backup.ts',
]

/** Which of the paths git, with nothing but these rules, ignores. The image's rules are read in the same way. */
function ignored(rules: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'quvera-ignored-'))
  const run = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  try {
    run('init', '-q')
    writeFileSync(join(folder, '.git/info/exclude'), rules)
    return [...PRIVATE, ...OURS].filter((path) => {
      try {
        return run('check-ignore', '--no-index', path) !== ''
      } catch {
        return false
      }
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it('git leaves out exports, person files, dumps, backups and settings, and nothing of ours', () => {
  expect(ignored(readFileSync('.gitignore', 'utf8'))).toEqual(PRIVATE)
})

it('so does the image, whose rules begin at the root unless they say otherwise', () => {
  const rules = readFileSync('.dockerignore', 'utf8').replaceAll(/^(!?)(?!\*\*|!|$)/gm, '$1/')
  expect(ignored(rules)).toEqual(PRIVATE)
})
