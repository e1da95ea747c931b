// A backup a day in BACKUP_DIR.
import { randomUUID } from 'node:crypto'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { formatIndianDay } from '../../shared/indian-time.ts'
import { formatAge } from '../format.ts'
import { writeBackup } from './backup.ts'
import type { Database } from './database.ts'
import { releaseLease, takeLease } from './lease.ts'

/** More than these files are not kept. */
const KEPT = 14
const CHECK_MS = 60_000
const LEASE = 'Backup'
/** Another process takes over when a backup takes longer. */
const LEASE_SECONDS = 3600
/** An older backup is reported: the one of today has failed, also if it was made late yesterday. */
const OVERDUE_SECONDS = 26 * 3600
const FILE = /^quvera-\d{4}-\d{2}-\d{2}\.sql\.gz$/

/** Makes today's backup if it is missing, now and each minute. Returns a function that ends it. */
export function startDailyBackup(database: Database, folder: string, log: Logger): () => void {
  const holder = randomUUID()
  let hasFailed = false
  async function check() {
    const name = `quvera-${formatIndianDay(new Date())}.sql.gz`
    try {
      if ((await readdir(folder)).includes(name)) return
      if (!(await takeLease(database.db, LEASE, holder, LEASE_SECONDS))) return
      try {
        const rows = await makeBackup(database, folder, name)
        log.info({ rows }, `wrote the backup ${name}`)
      } finally {
        await releaseLease(database.db, LEASE, holder)
      }
      hasFailed = false
    } catch (error) {
      if (!hasFailed) log.error({ err: error }, `the backup of today could not be written to BACKUP_DIR ${folder}`)
      hasFailed = true // said once until a backup succeeds
    }
  }
  let isBusy = false
  const checkUnlessBusy = async () => {
    if (isBusy) return
    isBusy = true
    await check()
    isBusy = false
  }
  void checkUnlessBusy()
  const timer = setInterval(checkUnlessBusy, CHECK_MS).unref()
  return () => clearInterval(timer)
}

/** Writes under another name first, so that a file with the day's name is complete. Files of others are left alone. */
async function makeBackup(database: Database, folder: string, name: string): Promise<number> {
  const unfinished = join(folder, `${name}.unfinished`)
  const file = await open(unfinished, 'w', 0o600)
  try {
    const rows = await writeBackup(database, file.createWriteStream({ flush: true }))
    await rename(unfinished, join(folder, name))
    for (const old of (await listBackups(folder)).slice(0, -KEPT)) await rm(join(folder, old))
    return rows
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** The oldest first. */
async function listBackups(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => FILE.test(name)).sort()
}

/** What is wrong with the daily backups, in a sentence; undefined if the newest is of the last 26 hours. */
export async function findBackupProblem(folder: string): Promise<string | undefined> {
  const seconds = await readBackupAge(folder)
  if (seconds === undefined) return 'There is no daily backup in BACKUP_DIR.'
  if (seconds > OVERDUE_SECONDS) return `The newest daily backup in BACKUP_DIR is ${formatAge(seconds)} old.`
}

/** The age of the newest daily backup in seconds; undefined if there is none. */
export async function readBackupAge(folder: string): Promise<number | undefined> {
  const newest = (await listBackups(folder).catch(() => [])).at(-1)
  if (newest) return (Date.now() - (await stat(join(folder, newest))).mtimeMs) / 1000
}
