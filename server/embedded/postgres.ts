// The embedded PostgreSQL: a child process with its files and its socket in DATA_DIR.

import { setTimeout as sleep } from 'node:timers/promises'
import { describeFailure } from '../errors.ts'
import { assertDataDir, InUseError, wasCopiedWhileUsed } from './data-dir.ts'
import { makeEmptyDatabase } from './empty-database.ts'
import { launch, type StopSignal } from './launch.ts'
import { findPrograms } from './programs.ts'

/** Before each try to start PostgreSQL again. If all of them fail, the process ends, unless the disk cannot be written to. */
const PAUSES_MS = [100, 1000, 5000]
/** How long a restart waits for the last process of a PostgreSQL that was killed. */
const RESTART_LOCK_SECONDS = 30
/** PostgreSQL that lives and takes no new connection for this long, as when its socket file was deleted, is ended. */
const UNREACHABLE_MS = 30_000
/** What a start says while the disk cannot be written to: it is tried again, as there may be room by then. */
const CANNOT_WRITE = /No space left on device|Disk quota exceeded|Read-only file system/i

interface EmbeddedOptions {
  dataDir: string
  /** Make a database if there is none. */
  create: boolean
  /** How long to wait while another process has the database. */
  lockWaitSeconds?: number
  settings?: Record<string, string> | undefined
  unreachableMs?: number
  warn(message: string): void
  /** Called when PostgreSQL has ended and cannot be started again. */
  onFailure(error: unknown): void
}

/**
 * Starts PostgreSQL, and starts it again whenever it ends. Ends it when it cannot be reached.
 * @throws InUseError when another process has the database
 */
export async function startEmbedded(options: EmbeddedOptions) {
  const {
    dataDir,
    create,
    lockWaitSeconds = 0,
    settings = {},
    unreachableMs = UNREACHABLE_MS,
    warn,
    onFailure,
  } = options
  const programs = await findPrograms()
  assertDataDir(dataDir, programs.version, create)
  if (wasCopiedWhileUsed(dataDir))
    warn(
      `the database in ${dataDir} is a copy that was made while a site used it: rows may be missing or damaged. Restore a backup instead, or copy the folder again while no site runs on it (docs/backup.md)`,
    )
  await makeEmptyDatabase(programs)
  const start = (waitSeconds: number) => launch(dataDir, programs, settings, waitSeconds, unreachableMs)
  let server = await start(lockWaitSeconds)
  let stopSignal: StopSignal | undefined
  const watched = watch().catch(onFailure)

  /** Resolves when PostgreSQL has ended after `stop`. */
  async function watch() {
    while (true) {
      const reason = await server.ended
      if (stopSignal) return
      warn(`PostgreSQL has ended (${reason}). Orders are refused until it runs again`)
      const next = await relaunch()
      if (!next) return
      server = next
      if (stopSignal)
        server.kill(stopSignal) // `stop` came during the restart, and signalled the one that had ended
      else warn('PostgreSQL runs again')
    }
  }

  /** @returns undefined if `stop` comes before the next try */
  async function relaunch() {
    for (let failures = 0; ; failures++) {
      await sleep(PAUSES_MS[failures] ?? PAUSES_MS.at(-1))
      if (stopSignal) return undefined
      try {
        assertDataDir(dataDir, programs.version, false) // an empty one in place of a lost folder would hide the loss
        return await start(RESTART_LOCK_SECONDS)
      } catch (error) {
        // Processes of the one that was killed may still wait for a disk that does not answer.
        const mayPass = error instanceof InUseError || CANNOT_WRITE.test(String(error))
        if (failures + 1 < PAUSES_MS.length) continue
        if (!mayPass) throw error
        if (failures + 1 === PAUSES_MS.length) warn(`PostgreSQL does not start yet: ${describeFailure(error)}`)
      }
    }
  }

  return {
    /** @param signal SIGINT disconnects clients; SIGTERM waits for them */
    async stop(signal: StopSignal) {
      stopSignal = signal
      server.kill(signal)
      await watched
    },
  }
}
