import { statfsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { OperatorError } from '../errors.ts'
import { SyncedFileSystem } from './synced-file-system.ts'

/**
 * What PostgreSQL may need at once for its log and its tables. Below it nothing is begun: when the log cannot be
 * written PostgreSQL gives up altogether.
 */
const ROOM_BYTES = 64 * 2 ** 20
const ROOM_REMEMBERED_MS = 100
const MEGABYTE = 2 ** 20

/** PostgreSQL's code for a full disk. */
const DISK_FULL = '53100'
/** Messages that begin something: a statement, and its parts in the extended protocol. */
const BEGINNINGS = new Set([0x51, 0x50])

const START_PARAMETERS = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'), // which turns fsync off
  ...['-c', 'wal_sync_method=fsync'], // the only one that reaches the file system: WebAssembly's fdatasync does nothing
  ...['-c', 'shared_buffers=16MB'], // the operating system remembers files as well
]

/** One megabyte a file of the log instead of sixteen: a new folder is smaller, and a new file made sooner. */
const INITDB_PARAMETERS = ['--wal-segsize=1']

/** Told before anything is written. */
export class NoRoomError extends OperatorError {}

export class EmbeddedPostgres extends PGlite {
  #folder: string
  #roomAskedAt = Number.NEGATIVE_INFINITY
  #hasRoom = true

  constructor(folder: string, options: PGliteOptions) {
    super(options)
    this.#folder = folder
  }

  /**
   * Opens the database in `folder`, or makes one there.
   * @param onAbort told why PostgreSQL gave up, after which this process can do nothing with it
   * @throws OperatorError when there is no room, else with PostgreSQL's own words
   */
  static async open(folder: string, onAbort: (reason: string) => void): Promise<EmbeddedPostgres> {
    // V8 would compile the busiest functions once more, at the cost of half a gigabyte for some seconds.
    for (const flag of ['--no-wasm-dynamic-tiering', '--no-wasm-tier-up']) setFlagsFromString(flag)
    expectRoom(folder)
    let words = ''
    let isOpen = false
    const fs = new SyncedFileSystem(folder)
    const lite = new EmbeddedPostgres(folder, {
      fs,
      dataDir: folder,
      startParams: START_PARAMETERS,
      initDbStartParams: INITDB_PARAMETERS,
      onStderr(text) {
        if (/(FATAL|PANIC|ERROR): /.test(text)) words = text.replace(/^.*?(FATAL|PANIC|ERROR): +/, '')
        if (isOpen && text.startsWith('Aborted(')) onAbort(words)
        return false
      },
    })
    try {
      await lite.waitReady
    } catch (error) {
      throw new OperatorError(words || String((error as Error).message ?? error), { cause: error })
    }
    isOpen = true
    return lite
  }

  /** All ways to ask lead through here. */
  override async execProtocolRaw(...[message, options]: Parameters<PGlite['execProtocolRaw']>) {
    if (BEGINNINGS.has(message[0] ?? 0) && !this.isInTransaction() && !this.#roomIsLeft()) {
      const text = `less than ${ROOM_BYTES / MEGABYTE} MB are free on the disk of ${this.#folder}`
      throw Object.assign(new Error(text), { code: DISK_FULL, severity: 'ERROR' })
    }
    return super.execProtocolRaw(message, options)
  }

  #roomIsLeft(): boolean {
    const now = performance.now()
    if (now - this.#roomAskedAt > ROOM_REMEMBERED_MS) {
      this.#roomAskedAt = now
      this.#hasRoom = roomIn(this.#folder) >= ROOM_BYTES
    }
    return this.#hasRoom
  }
}

function roomIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

function expectRoom(folder: string) {
  const room = roomIn(folder)
  if (room >= ROOM_BYTES) return
  throw new NoRoomError(
    `Only ${Math.floor(room / MEGABYTE)} MB are free on the disk of ${folder}: the embedded database begins nothing below ${ROOM_BYTES / MEGABYTE} MB. Make room, and start again.`,
  )
}
