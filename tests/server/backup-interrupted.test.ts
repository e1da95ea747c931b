import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { COPY_SCHEMA } from '../../server/database/snapshot.ts'
import { eraseOldEnquiries } from '../../server/enquiries/retention.ts'
import { atEnd } from '../support/at-end.ts'
import { readBackup } from '../support/backup-file.ts'
import { eventually } from '../support/eventually.ts'
import { openTestDatabase, type TestDatabase } from '../support/open-test-database.ts'
import { scratch } from '../support/scratch.ts'
import { runShell, staff, startStaff } from '../support/staff-command.ts'
import { onDatabase, storeEnquiry } from '../support/stored-enquiry.ts'
import { aDatabase, aSiteProcess } from '../support/waiting-site.ts'

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
}, 30_000)
afterAll(async () => {
  await testDatabase.close()
  await rm(folder, { recursive: true, force: true })
})

/** A backup to standard output that has begun to write, and waits for somebody to read on. */
async function aStalledBackup(env = database) {
  const backup = startStaff(['backup', '-'], env)
  atEnd(() => backup.process.kill('SIGKILL'))
  await once(backup.process.stdout, 'readable')
  return backup
}

function copies(env = database): Promise<string[]> {
  return onDatabase(env, async (db) => {
    const rows = await db.$queryRaw<{ name: string }[]>`
      SELECT nspname::text AS name FROM pg_namespace WHERE starts_with(nspname, ${COPY_SCHEMA})`
    return rows.map(({ name }) => name)
  })
}

describe('two backups at once', { timeout: 60_000 }, () => {
  it('are both complete: on the embedded database the second waits and says so', async () => {
    const first = await aStalledBackup()
    const file = join(folder, 'second.gz')
    const second = startStaff(['backup', file], database)
    atEnd(() => second.process.kill('SIGKILL'))
    if (isEmbedded) await eventually(() => expect(second.stderr()).toMatch(/^Another backup is under way[^\n]*\n$/))
    else await second.exited
    const [read, firstCode, secondCode] = await Promise.all([buffer(first.process.stdout), first.exited, second.exited])
    expect([firstCode, secondCode]).toEqual([0, 0])
    expect(readBackup(read)).toHaveLength(ROWS + 2)
    expect(readBackup(await readFile(file)).sort()).toEqual(readBackup(read).sort())
    expect(await copies()).toEqual([])
  })
})

describe('a backup that nobody reads to its end', { timeout: 60_000 }, () => {
  it('says so, exits 1 and leaves nothing behind', async () => {
    const { stdout, stderr } = await runShell(
      'set -o pipefail; node dist/server/staff.js backup - | head -c 100 >/dev/null; echo "$?"',
      database,
    )
    expect(stdout).toBe('1\n')
    expect(stderr).toMatch(/^The backup was not read to its end[^\n]*\n$/)
    expect(await copies()).toEqual([])
  })

  it('tells which signal ended it, and leaves no copies', async () => {
    const backup = await aStalledBackup()
    await sleep(PIPE_FILLS_MS) // what nobody reads must not keep it from ending
    backup.process.kill('SIGTERM')
    expect(await backup.exited).toBe(1)
    expect(backup.stderr()).toMatch(/^The backup was ended by SIGTERM[^\n]*\n$/)
    expect(await copies()).toEqual([])
  })

  it('that is killed leaves copies only until the next erasure', async () => {
    const backup = await aStalledBackup()
    expect(await copies()).toHaveLength(isEmbedded ? 1 : 0)
    backup.process.kill('SIGKILL')
    await backup.exited
    await staff(['erase', '--person', '9999999999', '--yes'], database)
    expect(await copies()).toEqual([])
  })

  it('says that an erasure dropped its copies, and exits 1', async () => {
    const backup = await aStalledBackup()
    await staff(['erase', '--older-than', '1m', '--yes'], database)
    expect(await copies()).toEqual([])
    const [, code] = await Promise.all([buffer(backup.process.stdout), backup.exited])
    expect(code).toBe(isEmbedded ? 1 : 0)
    if (isEmbedded) expect(backup.stderr()).toMatch(/^The copies that this backup read were dropped[^\n]*\n$/)
  })

  it.skipIf(!isEmbedded)('says that the database was started again after a crash, and exits 1', async () => {
    const backup = await aStalledBackup()
    // As PostgreSQL empties unlogged tables.
    for (const schema of await copies())
      await onDatabase(database, (db) => db.$executeRawUnsafe(`TRUNCATE ${schema}.marker, ${schema}."Quvera_Form"`))
    const [, code] = await Promise.all([buffer(backup.process.stdout), backup.exited])
    expect(code).toBe(1)
    expect(backup.stderr()).toMatch(/^The database was started again[^\n]*\n$/)
  })

  it('says that the database went away, and exits 1', async () => {
    const { server, database: killed } = await aSiteProcess()
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
    expect(await copies(killed)).toEqual([]) // the embedded one is opened anew
  })
})

describe('copies that a killed backup left', () => {
  const leave = (env: Record<string, string>) =>
    onDatabase(env, (db) =>
      db.$executeRawUnsafe(`DO $$ BEGIN
        CREATE SCHEMA ${COPY_SCHEMA}_left; CREATE UNLOGGED TABLE ${COPY_SCHEMA}_left.form AS TABLE "Quvera_Form"; END $$`),
    )

  it('are dropped when retention erases something, and by the next backup', async () => {
    await leave(database)
    const before = new Date('2020-01-01')
    await onDatabase(database, (db) => eraseOldEnquiries(db, before))
    expect(await copies()).toHaveLength(1)
    await onDatabase(database, async (db) => {
      await storeEnquiry(db, { receivedAt: new Date('2019-01-01') })
      expect(await eraseOldEnquiries(db, before)).toBe(1)
    })
    expect(await copies()).toEqual([])
    if (!isEmbedded) return
    await leave(database)
    expect((await staff(['backup', join(folder, 'next.gz')], database)).code).toBe(0)
    expect(await copies()).toEqual([])
  })

  it.runIf(isEmbedded)('go when the database is opened', async () => {
    const closed = await aDatabase()
    await leave(closed)
    expect(await copies(closed)).toEqual([])
  })
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
