// Refuses statements while the disk is nearly full. PostgreSQL stops for good when its write-ahead log cannot grow.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.ts'
import { pathIn } from './data-dir.ts'

const MEGABYTE = 2 ** 20
const STORE_MIN_BYTES = 64 * MEGABYTE
/** Deleted when there is no room even for reading and erasing. */
const RESERVE_BYTES = 16 * MEGABYTE
const EXECUTE_MIN_BYTES = 8 * MEGABYTE
const MEASURE_INTERVAL_MS = 100
/** The largest table that is rewritten. Rewriting needs three times its size: for the copy, its indexes and the log. */
export const REWRITE_MAX_BYTES = 128 * MEGABYTE
/** Words of statements that need disk space. */
const NEEDS_SPACE = /\b(insert|update|merge|create|alter|vacuum|analyze|reindex|cluster|refresh|setval|nextval)\b/i

export function createDiskSpace(databaseFolder: string) {
  const reserve = pathIn(dirname(databaseFolder), 'reserve')
  let free = Number.POSITIVE_INFINITY
  let measuredAt = Number.NEGATIVE_INFINITY

  return {
    /** Not measured again within a transaction, so that the transaction can end. */
    isEnoughFor(message: Buffer, isInTransaction: boolean): boolean {
      const now = performance.now()
      if (now - measuredAt > MEASURE_INTERVAL_MS && !isInTransaction) {
        measuredAt = now
        free = freeBytes(databaseFolder)
      }
      if (free >= STORE_MIN_BYTES) return true
      if (NEEDS_SPACE.test(message.toString('latin1'))) return false
      if (free < EXECUTE_MIN_BYTES) {
        rmSync(reserve, { force: true })
        free = freeBytes(databaseFolder)
      }
      return free >= EXECUTE_MIN_BYTES
    },
    isEnoughToRewrite: () => freeBytes(databaseFolder) > STORE_MIN_BYTES + 3 * REWRITE_MAX_BYTES,
    isEnoughToCopy: () => freeBytes(databaseFolder) > STORE_MIN_BYTES + bytesIn(join(databaseFolder, 'base')),
    message: `less than ${STORE_MIN_BYTES / MEGABYTE} MB are free on the disk of ${databaseFolder}: nothing can be stored there until there is room`,
    async keepReserve(): Promise<void> {
      let size = existsSync(reserve) ? statSync(reserve).size : 0
      if (freeBytes(databaseFolder) < STORE_MIN_BYTES + RESERVE_BYTES - size) return
      // Random bytes: a file system would compress others.
      for (; size < RESERVE_BYTES; size += MEGABYTE) await appendFile(reserve, randomBytes(MEGABYTE))
    },
  }
}

export type DiskSpace = ReturnType<typeof createDiskSpace>

export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

function bytesIn(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return paths.reduce((bytes, path) => bytes + statSync(join(folder, path)).size, 0)
}

export function assertDiskSpace(dataDir: string): void {
  if (freeBytes(dataDir) < STORE_MIN_BYTES) throw noRoom(dataDir, STORE_MIN_BYTES)
}

/** PostgreSQL writes little when it opens. */
export function assertRoomToOpen(dataDir: string): void {
  if (freeBytes(dataDir) < EXECUTE_MIN_BYTES) rmSync(pathIn(dataDir, 'reserve'), { force: true })
  if (freeBytes(dataDir) < MEGABYTE) throw noRoom(dataDir, MEGABYTE)
}

function noRoom(dataDir: string, needed: number): OperatorError {
  const free = Math.floor(freeBytes(dataDir) / MEGABYTE)
  return new OperatorError(
    `Only ${free} MB are free on the disk of ${dataDir}: the embedded database does not start below ${needed / MEGABYTE} MB. Make room, and start again.`,
  )
}
