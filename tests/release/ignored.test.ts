// Git and the container image leave out exports, backups, keys and settings, and keep the files of the project.
// Not in `npm test`: it needs git, and nothing of the site.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'

/** What the commands of README.md and docs/ leave behind: people's data, and keys. */
const PRIVATE = [
  ...['.env', '.env.local', '.env.production', 'deploy/.env'],
  ...['enquiries.csv', 'exports/november.csv', 'subscribers.csv', 'enquiries.json', 'person-asha.json'],
  ...['quvera.sql', 'deploy/old/dump.sql', 'quvera.dump', 'quvera-backup.gz', 'quvera.sql.gz.part'],
  ...['quvera-2026-11-25.sql.gz.unfinished', 'backups/today'],
  ...['.data/postgres/PG_VERSION', 'restored/postgres/PG_VERSION'],
]
const OURS = [
  ...['.env.example', 'package.json', 'server/operations/backup-command.ts', 'prisma/roles.sql'],
  ...['server/database/after-pg-restore.sql', 'prisma/migrations/20261121120000_tables/migration.sql'],
]

/** Which of the paths git, with nothing but these rules, ignores. */
async function ignoredBy(rules: string): Promise<string[]> {
  const cwd = await aFolder('quvera-ignored-')
  execFileSync('git', ['init', '-q'], { cwd })
  writeFileSync(join(cwd, '.git/info/exclude'), rules)
  const input = [...PRIVATE, ...OURS].join('\n')
  const ignored = execFileSync('git', ['check-ignore', '--no-index', '--stdin'], { cwd, input, encoding: 'utf8' })
  return ignored.trim().split('\n')
}

it('git leaves out what is private, and nothing of ours', async () => {
  expect(await ignoredBy(readFileSync('.gitignore', 'utf8'))).toEqual(PRIVATE)
})

it('so does the image, whose rules begin at the root unless they say otherwise', async () => {
  const rules = readFileSync('.dockerignore', 'utf8').replaceAll(/^(!?)(?!\*\*|!|$)/gm, '$1/')
  expect(await ignoredBy(rules)).toEqual(PRIVATE)
})
