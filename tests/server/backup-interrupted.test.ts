import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { CURSOR_PREFIX } from '../../server/database/snapshot.ts'
import { eraseOldEnquiries } from '../../server/enquiries/retention.ts'
import { atEnd } from '../support/at-end.ts'
import { readBackup } from '../support/backup-file.ts'
import { eventually } from '../support/eventually.ts'
import { aDatabase, aSiteProcess } from '../support/fixtures.ts'
import { openTestDatabase, type TestDatabase } from '../support/open-test-database.ts'
import { scratch } from '../support/scratch.ts'
import { runShell, staff, startStaff } from '../support/staff-command.ts'
import { onDatabase, storeEnquiry } from '../support/stored-enquiry.ts'

const isEmbedded = inject('postgres') === null

/** More rows than pipes hold: the backup goes on only as it is read. */
const ROWS = 1500
const PIPE_FILLS_MS = 300
const NOTE = `SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 20 + 0 * length("Reference"))`

async function fill(database: Record<string, string>) {
  await onDatabase(database, async (db) => {
    await storeEnquiry(db)
    await db.$executeRawUnsafe(`
      INSERT INTO "Quvera_Form" ("Id", "Reference", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
      SELECT gen_random_uuid(), 'QV-' || number, "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", gen_random_uuid()
      FROM "Quvera_Form", generate_series(2, ${ROWS}) number`)
    await db.$executeRaw`ALTER TABLE "Quvera_Form" DISABLE TRIGGER "keep_history"`
    await db.$executeRawUnsafe(`UPDATE "Quvera_Form" SET "Note" = (${NOTE})`)
  })
}

let testDatabase: TestDatabase
let database: Record<string, string>
let folder: string
beforeAll(async () => {
  testDatabase = await openTestDatabase()
  database = testDatabase.env
  folder = await mkdtemp(join(scratch, 'quvera-backup-'))
  await fill(database)
})
afterAll(async () => {
  await testDatabase.close()
  await rm(folder, { recursive: true, force: true })
})

const LONG_AGO = new Date('2020-01-01')
async function eraseOne(db: Db) {
  await storeEnquiry(db, { receivedAt: new Date('2019-01-01') })
  expect(await eraseOldEnquiries(db, LONG_AGO)).toBe(1)
}

/** A backup to standard output that has begun to write, and waits for somebody to read on. */
async function aStalledBackup(env = database) {
  const backup = startStaff(['backup', '-'], env)
  atEnd(() => backup.process.kill('SIGKILL'))
  await once(backup.process.stdout, 'readable')
  return backup
}

/** How many cursors backups have in the embedded database. On a PostgreSQL server each session has its own. */
function cursors(env = database): Promise<number> {
  return onDatabase(env, async (db) => {
    const [row] = await db.$queryRaw<[{ count: number }]>`
      SELECT count(*)::int AS "count" FROM pg_cursors WHERE starts_with(name, ${CURSOR_PREFIX})`
    return row.count
  })
}
const noCursors = (env = database) => eventually(async () => expect(await cursors(env)).toBe(0))

describe('two backups at once', () => {
  it('are both complete, also when one ends before the other', async () => {
    const first = await aStalledBackup()
    const file = join(folder, 'second.gz')
    expect(await staff(['backup', file], database)).toMatchObject({ code: 0 })
    const [read, code] = await Promise.all([buffer(first.process.stdout), first.exited])
    expect(code).toBe(0)
    expect(readBackup(read)).toHaveLength(ROWS + 2)
    expect(readBackup(await readFile(file)).sort()).toEqual(readBackup(read).sort())
    await noCursors()
  })
})

describe('a backup that nobody reads to its end', () => {
  it('says so, exits 1 and leaves nothing behind', async () => {
    const { stdout, stderr } = await runShell(
      'set -o pipefail; node dist/server/staff.js backup - | head -c 100 >/dev/null; echo "$?"',
      database,
    )
    expect(stdout).toBe('1\n')
    expect(stderr).toMatch(/^The backup was not read to its end[^\n]*\n$/)
    await noCursors()
  })

  it('tells which signal ended it, and leaves no cursors', async () => {
    const backup = await aStalledBackup()
    await sleep(PIPE_FILLS_MS) // what nobody reads must not keep it from ending
    backup.process.kill('SIGTERM')
    expect(await backup.exited).toBe(1)
    expect(backup.stderr()).toMatch(/^The backup was ended by SIGTERM[^\n]*\n$/)
    await noCursors()
  })

  it('that is killed leaves no cursors', async () => {
    const backup = await aStalledBackup()
    expect(await cursors()).toBeGreaterThanOrEqual(isEmbedded ? 5 : 0)
    backup.process.kill('SIGKILL')
    await noCursors()
  })

  it.each([
    ['of somebody', () => staff(['erase', '--person', '9999999999', '--yes'], database)],
    ['by age', () => staff(['erase', '--older-than', '1m', '--yes'], database)],
    ['by retention', () => onDatabase(database, eraseOne)],
  ])('is ended by an erasure %s on the embedded database, says so, and exits 1', async (_of, erase) => {
    const backup = await aStalledBackup()
    await erase()
    expect(await cursors()).toBe(0)
    const [, code] = await Promise.all([buffer(backup.process.stdout), backup.exited])
    expect(code).toBe(isEmbedded ? 1 : 0)
    if (isEmbedded) expect(backup.stderr()).toMatch(/^An erasure ended this backup[^\n]*\n$/)
  })

  it('says that the database went away, and exits 1', async () => {
    const { server, env: killed } = await aSiteProcess()
    await fill(killed)
    const backup = await aStalledBackup(killed)
    if (isEmbedded) await server.stop('SIGKILL')
    else {
      await onDatabase(
        killed,
        (db) => db.$queryRaw`
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      )
    }
    const [, code] = await Promise.all([buffer(backup.process.stdout), backup.exited])
    expect(code).toBe(1)
    expect(backup.stderr()).toMatch(/^The connection to the database was lost: [^\n]*\n$/)
  })

  it('goes on when retention finds nothing to erase', async () => {
    const backup = await aStalledBackup()
    expect(await onDatabase(database, (db) => eraseOldEnquiries(db, LONG_AGO))).toBe(0)
    const [read, code] = await Promise.all([buffer(backup.process.stdout), backup.exited])
    expect(code).toBe(0)
    expect(readBackup(read)).toHaveLength(ROWS + 2)
  })
})

it.runIf(isEmbedded)('the files of cursors that a kill left go when the database is opened', async () => {
  const closed = await aDatabase()
  const files = join(closed.DATA_DIR ?? '', 'postgres/base/pgsql_tmp')
  await mkdir(files)
  await writeFile(join(files, 'pgsql_tmp42.0'), 'rows')
  expect(await cursors(closed)).toBe(0)
  await expect(readdir(files)).rejects.toThrow('ENOENT')
})

describe('what cannot be written', () => {
  it('is told in a sentence and by exit code 1', async () => {
    for (const command of ['export', 'list', 'list --json', '--help', 'backup -']) {
      const line = `node dist/server/staff.js ${command} > /dev/full; echo "$?"`
      const { stdout, stderr } = await runShell(line, database)
      expect(stdout, command).toBe('1\n')
      expect(stderr).toMatch(/^The output cannot be written: [^\n]*no space left[^\n]*\n$/)
    }
  })
})
