// The embedded database: a PostgreSQL server in a worker thread, with its files in DATA_DIR and a socket for its clients.
// Main thread: locks DATA_DIR, and starts the worker thread again when it ends.
// Read next: server.ts (what the thread does), wire-server.ts (which client has its turn) and session.ts (what it executes).
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.ts'
import { isBuilt } from '../project-root.ts'
import {
  assertPathLength,
  createDataDir,
  InUseError,
  isServed,
  lockDataDir,
  noDatabase,
  pathIn,
  SOCKET_CONNECTION,
  socketFolder,
} from './data-dir.ts'
import { assertWholeDatabase } from './database-files.ts'
import type { ServerOptions, ThreadMessage } from './server.ts'

/** Beside this file: as TypeScript in tests and in development, else as the build names it. */
const THREAD = resolve(import.meta.dirname, isBuilt ? 'embedded-database.js' : 'thread.ts')
/** The thread is ended when it sends no message for this long, unless a statement may take longer. */
const SILENCE_MAX_MS = 30_000
const SILENCE_CHECKS = 10 // within SILENCE_MAX_MS
/** Before each try to start another thread. When all of them fail, the process ends. */
const PAUSES_MS = [100, 300, 1000]
const CLOSE_MAX_MS = 10_000

export interface EmbeddedOptions extends Pick<ServerOptions, 'create' | 'port'> {
  dataDir: string
  /** `stop` serves other clients until none has had a turn for this long; 0: it disconnects them at once. */
  drainMs: number
  warn(message: string): void
  onFailure(error: unknown): void
}

/**
 * Starts the embedded database. What it has confirmed survives kills and power cuts.
 * @throws InUseError when another process has DATA_DIR
 */
export async function startEmbedded(options: EmbeddedOptions) {
  const { create, port, drainMs, warn, onFailure } = options
  const dataDir = resolve(options.dataDir)
  assertPathLength(dataDir) // before anything is made in it
  process.umask(0o077) // for files that PostgreSQL creates; a worker thread cannot set it
  // Else V8 compiles the busiest functions of PostgreSQL again, which takes half a gigabyte for some seconds.
  for (const flag of ['--no-wasm-dynamic-tiering', '--no-wasm-tier-up']) setFlagsFromString(flag)
  // A folder without our lock file may hold another program's database: check it before writing anything.
  if (!existsSync(pathIn(dataDir, 'lock'))) assertWholeDatabase(pathIn(dataDir, 'database'))
  if (create) createDataDir(dataDir)
  else if (!existsSync(pathIn(dataDir, 'database'))) throw noDatabase(dataDir)
  const unlock = lockDataDir(dataDir)
  const siteUser = `site-${randomUUID()}`
  const host = socketFolder(dataDir)
  const server = { dataDir, socket: pathIn(host, 'socket'), port, siteUser, create }
  if (await isServed(server.socket)) {
    unlock() // the lock was free, but a process serves: its lock file was deleted
    throw new InUseError(dataDir)
  }

  let isStopping = false
  let thread = await startThread(server, warn).catch((error) => {
    unlock()
    throw error
  })
  const running = keepRunning()

  /** Starts another thread whenever one ends. Resolves after `stop`. */
  async function keepRunning(): Promise<void> {
    const reason = await thread.ended
    if (isStopping) return
    warn(`The embedded database in ${dataDir} ended: ${reason}. No confirmed order is lost. It is started again`)
    let failure: unknown
    for (const pauseMs of PAUSES_MS) {
      await sleep(pauseMs)
      if (isStopping) return
      try {
        thread = await startThread({ ...server, create: false }, warn)
        return isStopping ? thread.stop(0) : keepRunning()
      } catch (error) {
        failure = error
      }
    }
    onFailure(failure)
  }

  return {
    /** How this process connects: trusted, without the limits of other clients. */
    connection: { ...SOCKET_CONNECTION, host, user: siteUser },
    async stop() {
      isStopping = true
      await thread.stop(drainMs)
      await running
      unlock()
    },
  }
}

async function startThread(server: ServerOptions, warn: (message: string) => void) {
  const worker = new Worker(THREAD, { workerData: server })
  let failure: unknown
  let hasTimeLimit = true
  let silentChecks = 0
  worker.on('error', (error) => (failure ??= error))
  const exited = new Promise<void>((done) => worker.once('exit', () => done()))
  const ready = new Promise<true>((done) => {
    worker.on('message', (message: ThreadMessage) => {
      silentChecks = 0
      if (message.kind === 'ready') done(true)
      if (message.kind === 'timeLimit') hasTimeLimit = message.isOn
      if (message.kind === 'warning') warn(message.text)
      if (message.kind === 'failed') failure ??= new OperatorError(message.text)
    })
  })
  if (!(await Promise.race([ready, exited])))
    throw failure ?? new Error('The thread of the embedded database ended while it opened')
  // Counts checks and not the time, which passes while a machine sleeps.
  const timer = setInterval(() => {
    if (!hasTimeLimit || ++silentChecks !== SILENCE_CHECKS) return
    failure ??= new Error(`it did not answer for ${SILENCE_MAX_MS / 1000} seconds`)
    worker.terminate()
  }, SILENCE_MAX_MS / SILENCE_CHECKS)
  return {
    /** Resolves with the reason once the thread has ended. */
    ended: exited.then(() => {
      clearInterval(timer)
      return failure instanceof Error ? failure.message.replace(/\.$/, '') : 'its thread ended'
    }),
    async stop(drainMs: number) {
      worker.postMessage(drainMs)
      const late = drainMs ? undefined : setTimeout(() => worker.terminate(), CLOSE_MAX_MS)
      await exited
      clearTimeout(late)
    },
  }
}
