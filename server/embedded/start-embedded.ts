// The embedded database: a PostgreSQL server with its files in DATA_DIR, in a worker thread of this process. Clients
// reach it at a socket in that folder. This file is the main thread's side: it locks the folder, starts the thread, and
// starts another one when that ends. Read next: server.ts (what the thread does), wire-server.ts (how clients share it).
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.ts'
import {
  assertDatabase,
  claimFolder,
  databaseIn,
  isDatabase,
  locateFolder,
  lockFolder,
  lockIn,
  SOCKET_CONNECTION,
  socketFolder,
  socketIn,
} from './data-folder.ts'
import type { ServerOptions } from './server.ts'
import type { ThreadData, ThreadMessage } from './thread.ts'

/** Beside this file: as TypeScript in tests and in development, built as an entry of its own. */
const THREAD = resolve(import.meta.dirname, import.meta.filename.endsWith('.ts') ? 'thread.ts' : 'embedded-database.js')
const SILENCE_MAX_MS = 30_000
const LOOKS = 10
/** Before the folder is opened again; the last one is repeated. */
const PAUSES_MS = [100, 300, 1000]
/** Openings that fail in a row until the process ends. */
const FAILURES_MAX = 3
/** A thread that ran this long resets the pauses. */
const STABLE_MS = 10_000
const CLOSE_MAX_MS = 10_000

export interface EmbeddedOptions extends Pick<ServerOptions, 'create' | 'emptyDatabase' | 'port'> {
  dataDir: string
  /** How long clients may go on after `stop`. */
  leaveMs: number
  warn(words: string): void
  /** Called when the database cannot be opened any more. */
  onFailure(error: unknown): void
}

export interface EmbeddedServer {
  /** How this process connects: trusted, without the limits of other clients. */
  connection: typeof SOCKET_CONNECTION & { host: string; user: string }
  warnings: string[]
  stop(): Promise<void>
}

/**
 * Starts the embedded database. What it has answered survives kills and power cuts. When its thread ends, another one
 * opens the folder again, and until then nobody can connect.
 * @throws InUseError when another process has it
 * @throws OperatorError which says what to do
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { dataDir, create, emptyDatabase, port, leaveMs, warn, onFailure } = options
  const folder = locateFolder(dataDir)
  process.umask(0o077) // for what PostgreSQL makes; a thread cannot set it
  // V8 would compile the busiest functions once more, at the cost of half a gigabyte for some seconds.
  for (const flag of ['--no-wasm-dynamic-tiering', '--no-wasm-tier-up']) setFlagsFromString(flag)
  if (!existsSync(lockIn(folder))) isDatabase(databaseIn(folder)) // refuses somebody else's folder before it writes there
  if (create) claimFolder(folder)
  else assertDatabase(folder)
  const unlock = lockFolder(folder)
  const siteUser = `site-${randomUUID()}`
  const host = socketFolder(folder)
  const server = { folder, socket: socketIn(host), port, siteUser, create, emptyDatabase }

  let isStopping = false
  let thread: Thread
  try {
    thread = await startThread(server)
  } catch (error) {
    unlock()
    throw error
  }
  const kept = keepOpen()

  /** Opens the folder again whenever the thread ends. */
  async function keepOpen(): Promise<void> {
    for (let ends = 0; ; ) {
      const since = performance.now()
      const reason = await thread.ended
      if (isStopping) return
      ends = performance.now() - since > STABLE_MS ? 0 : ends
      warn(`The embedded database in ${folder} ended: ${reason}. Nothing that was answered is lost; it is opened again`)
      for (let failures = 0; ; ) {
        await sleep(PAUSES_MS[ends++] ?? PAUSES_MS.at(-1))
        if (isStopping) return
        try {
          thread = await startThread({ ...server, create: false })
          if (isStopping) return thread.stop(0)
          break
        } catch (error) {
          if (++failures === FAILURES_MAX) return onFailure(error)
        }
      }
    }
  }

  return {
    connection: { ...SOCKET_CONNECTION, host, user: siteUser },
    warnings: thread.warnings,
    async stop() {
      isStopping = true
      await thread.stop(leaveMs)
      await kept
      unlock()
    },
  }
}

interface Thread {
  warnings: string[]
  /** Resolves with the reason once the thread has ended. */
  ended: Promise<string>
  stop(leaveMs: number): Promise<void>
}

/** @throws OperatorError when it cannot open the database */
async function startThread(server: ServerOptions): Promise<Thread> {
  const shared = { beats: sharedNumber(), isUnlimited: sharedNumber() }
  const workerData: ThreadData = { ...server, ...shared }
  const worker = new Worker(THREAD, { workerData })
  let failure: unknown
  worker.on('error', (error) => (failure ??= error))
  const exited = new Promise<void>((done) => worker.once('exit', () => done()))
  const ready = new Promise<string[]>((done) => {
    worker.on('message', (message: ThreadMessage) => {
      if (message.kind === 'ready') done(message.warnings)
      else failure ??= message.isOperatorError ? new OperatorError(message.reason) : new Error(message.reason)
    })
  })
  const warnings = await Promise.race([ready, exited])
  if (!warnings) throw failure ?? new Error('The thread of the embedded database ended while it opened')
  const timer = endWhenSilent(worker, shared, () => {
    failure ??= new Error(`it did not answer for ${SILENCE_MAX_MS / 1000} seconds`)
  })
  return {
    warnings,
    ended: exited.then(() => {
      clearInterval(timer)
      return failure instanceof Error ? failure.message.replace(/\.$/, '') : 'its thread ended'
    }),
    async stop(leaveMs) {
      worker.postMessage(leaveMs)
      const late = setTimeout(() => worker.terminate(), leaveMs + CLOSE_MAX_MS)
      await exited
      clearTimeout(late)
    },
  }
}

function sharedNumber(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4))
}

type Shared = Pick<ThreadData, 'beats' | 'isUnlimited'>

/** Counts looks and not the time, which passes while a machine sleeps. */
function endWhenSilent(worker: Worker, { beats, isUnlimited }: Shared, onSilent: () => void): NodeJS.Timeout {
  let last = -1
  let silentLooks = 0
  return setInterval(() => {
    const beat = Atomics.load(beats, 0)
    const isSilent = beat === last && Atomics.load(isUnlimited, 0) === 0
    silentLooks = isSilent ? silentLooks + 1 : 0
    last = beat
    if (silentLooks !== LOOKS) return
    onSilent()
    worker.terminate()
  }, SILENCE_MAX_MS / LOOKS)
}
