// A backup a day in BACKUP_DIR, by the Indian day.
import { access, constants, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { formatAge } from '../../shared/count.ts'
import { DAY_MS, formatIndianDay, parseIndianTime } from '../../shared/indian-time.ts'
import { writeBackup } from '../database/backup.ts'
import type { Database, Db } from '../database/database.ts'
import { OperatorError, redact } from '../errors.ts'

/** More than these files are not kept, unless the database is new. */
const KEPT = 14
const CHECK_MS = 60_000
/** After a failure while it was written the next try is this much later. */
const RETRY_MS = 3_600_000
/** Left free on the disk beside room for twice the newest backup: a full disk would keep PostgreSQL from storing orders. */
const ROOM_BYTES = 200_000_000
/** An unfinished file that was not written to for this long is taken for that of a killed process, and made anew. */
const ABANDONED_MS = 300_000
/** One missed night is reported. A backup that is made a little late is not. */
const OVERDUE_SECONDS = 26 * 3600
/** In a folder that was made longer ago the first backup is overdue, however often the site has been started since. */
const FIRST_MS = 15 * 60_000
/** So far a time may be ahead: the disk may be another machine's. */
const AHEAD_MS = 60_000
const FILE = /^quvera-(\d{4}-\d{2}-\d{2})\.sql\.gz$/
const UNFINISHED = '.unfinished'

/** Makes today's backup if it is missing, now and each minute. Returns a function that ends it. */
export function startDailyBackup(database: Database, folder: string, log: Logger): () => Promise<void> {
  const ended = new AbortController()
  const failed = `the backup of today could not be written to BACKUP_DIR ${resolve(folder)}`
  let nextTryAt = 0
  /** What the operator was told to correct. Said once, and tried again each minute: it costs nothing. */
  let toCorrect: string | undefined
  async function check() {
    if (performance.now() < nextTryAt) return
    const name = `quvera-${formatIndianDay(new Date())}.sql.gz`
    try {
      const rows = await makeBackup(database, folder, name, ended.signal)
      toCorrect = undefined
      if (rows !== undefined) log.info({ rows }, `wrote the backup ${name}`)
    } catch (error) {
      if (ended.signal.aborted) return
      if (error instanceof OperatorError) {
        if (error.message !== toCorrect) log.error(`${failed}: ${redact(error.message)}`)
        toCorrect = error.message
        return
      }
      nextTryAt = performance.now() + RETRY_MS
      log.error({ err: error }, failed)
    }
  }
  let running = check()
  const timer = setInterval(() => (running = running.then(check)), CHECK_MS).unref()
  return async () => {
    clearInterval(timer)
    ended.abort()
    await running
  }
}

/**
 * Writes under another name first, so that a file with the day's name is complete. Of several processes with this folder
 * the one that makes the unfinished file writes it. Files of others are left alone.
 * @returns the number of rows; undefined if the backup is there, or another process writes it
 */
async function makeBackup(database: Database, folder: string, name: string, signal: AbortSignal) {
  const unfinished = join(folder, name + UNFINISHED)
  // One that was written in the future is of a clock that was ahead: it is made anew.
  const isMade = async () => (await readAge(folder, name)) !== undefined
  if (await isMade()) return
  await assertFolder(folder)
  await removeAbandoned(folder)
  await assertRoom(folder)
  const file = await open(unfinished, 'wx', 0o600).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
  if (!file) return
  try {
    // Another process may have made it between the first look and the opening of this file.
    if (await isMade()) return await file.close()
    const rows = await writeBackup(database, file.createWriteStream({ flush: true }), signal)
    await rename(unfinished, join(folder, name))
    if (!(await readDayOfNewDatabase(database.db, folder)))
      for (const old of (await listBackups(folder)).slice(0, -KEPT)) await rm(join(folder, old), { force: true })
    return rows
  } finally {
    await file.close().catch(() => {}) // fails if the stream has closed it already
    await rm(unfinished, { force: true })
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(UNFINISHED) || !FILE.test(name.slice(0, -UNFINISHED.length))) continue
    const age = await ageMs(join(folder, name)).catch(() => 0) // another replica has just renamed or removed it
    if (Math.abs(age) > ABANDONED_MS) await rm(join(folder, name), { force: true })
  }
}

async function assertFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((cause) => {
    if (cause.code === 'ENOENT') return undefined
    throw new OperatorError(`the user of the site cannot look at it (${cause.code})`, { cause })
  })
  if (!found?.isDirectory()) throw new OperatorError('there is no such folder. Make it for the user of the site')
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).catch((cause) => {
    throw new OperatorError(`the user of the site may not write there (${cause.code})`, { cause })
  })
}

async function assertRoom(folder: string): Promise<void> {
  const newest = (await listBackups(folder)).at(-1)
  const needed = 2 * (newest ? (await stat(join(folder, newest))).size : 0) + ROOM_BYTES
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < needed)
    throw new OperatorError(`it needs ${Math.ceil(needed / 1e6)} MB of free room, and there are fewer`)
}

/** The oldest first, by the day in their names. Those of days to come, when the clock was ahead, are left alone. */
async function listBackups(folder: string): Promise<string[]> {
  const today = formatIndianDay(new Date())
  return (await readdir(folder)).filter((name) => (FILE.exec(name)?.[1] ?? '9') <= today).sort()
}

async function ageMs(path: string): Promise<number> {
  return Date.now() - (await stat(path)).mtimeMs
}

/**
 * In milliseconds, since it was written, or since the end of the day in its name: a copy may have the time of its copying.
 * @returns undefined if it is not there, or was written in the future
 */
async function readAge(folder: string, name: string): Promise<number | undefined> {
  const written = await ageMs(join(folder, name)).catch(() => Number.NEGATIVE_INFINITY)
  const endOfDay = parseIndianTime(FILE.exec(name)?.[1] ?? '').getTime() + DAY_MS
  return written < -AHEAD_MS ? undefined : Math.max(0, written, Date.now() - endOfDay)
}

/**
 * What is wrong with the daily backups, in a sentence; undefined if one was made within the last 26 hours. It does not depend
 * on when the site was started: one that is started again and again would never tell.
 */
export async function findBackupProblem(folder: string): Promise<string | undefined> {
  const seconds = await readBackupAge(folder)
  const isMissing = seconds === undefined
  if (isMissing ? await isNew(folder) : seconds <= OVERDUE_SECONDS) return undefined
  const what = isMissing
    ? 'There is no daily backup in BACKUP_DIR'
    : `The newest daily backup in BACKUP_DIR is ${formatAge(seconds)} old`
  const why = await assertFolder(folder).then(
    () => '',
    ({ message }: Error) => `: ${message}`,
  )
  return `${what}${why}.`
}

/** Whether the first backup can still be expected. */
async function isNew(folder: string): Promise<boolean> {
  const made = await stat(folder).catch(() => undefined)
  return made !== undefined && Math.abs(Date.now() - made.birthtimeMs) < FIRST_MS
}

/**
 * The day on which the tables were made, such as 2026-11-29, if there are backups from before and the tables hold nothing from
 * before, as they do after a restore. Then a disk may not be mounted, or a setting may lead elsewhere: until somebody has looked,
 * none of these backups gives way. Undefined if all is well. A whole day has to lie between, as clocks differ.
 */
export async function readDayOfNewDatabase(db: Db, folder: string): Promise<string | undefined> {
  const [oldest = ''] = await listBackups(folder).catch(() => [])
  const firstDay = FILE.exec(oldest)?.[1]
  if (!firstDay) return undefined
  const [{ madeAt, hasEarlier }] = await db.$queryRaw<[{ madeAt: Date; hasEarlier: boolean }]>`
    SELECT made."At" AS "madeAt", coalesce(least((SELECT min("ReceivedAt") FROM "Quvera_Form"),
      (SELECT min("At") FROM "Quvera_Access")) < made."At", FALSE) AS "hasEarlier"
    FROM (SELECT min(finished_at) AS "At" FROM _prisma_migrations) made`
  if (hasEarlier || firstDay >= formatIndianDay(new Date(madeAt.getTime() - DAY_MS))) return undefined
  return formatIndianDay(madeAt)
}

/** The age in seconds of the newest daily backup; undefined if there is none. */
export async function readBackupAge(folder: string): Promise<number | undefined> {
  const names = await listBackups(folder).catch(() => [])
  const ages = await Promise.all(names.map((name) => readAge(folder, name)))
  const known = ages.filter((age) => age !== undefined)
  return known.length > 0 ? Math.min(...known) / 1000 : undefined
}
