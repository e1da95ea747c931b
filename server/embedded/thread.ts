// The code of the worker thread in which the embedded database runs. start-embedded.ts starts it and reads its messages.
import { parentPort, workerData } from 'node:worker_threads'
import { OperatorError } from '../errors.ts'
import { openServer, type ServerOptions } from './server.ts'

export interface ThreadData extends ServerOptions {
  /** Counted up while the thread answers. */
  beats: Int32Array
  /** 1 while statements may take as long as they take. */
  isUnlimited: Int32Array
}

export type ThreadMessage =
  | { kind: 'ready'; warnings: string[] }
  | { kind: 'failed'; reason: string; isOperatorError: boolean }

const BEAT_MS = 1000

const { beats, isUnlimited, ...options } = workerData as ThreadData
const send = (message: ThreadMessage) => parentPort?.postMessage(message)

function fail(reason: string, isOperatorError = true): never {
  send({ kind: 'failed', reason, isOperatorError })
  process.exit(1) // ends this thread, and not the process
}

try {
  const server = await openServer(options, {
    onAbort: fail,
    setUnlimited: (is) => Atomics.store(isUnlimited, 0, Number(is)),
  })
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS)
  parentPort?.once('message', async (leaveMs: number) => {
    await server.close(leaveMs)
    process.exit()
  })
  send({ kind: 'ready', warnings: server.warnings })
} catch (error) {
  const isOperatorError = error instanceof OperatorError
  fail(isOperatorError ? error.message : ((error as Error).stack ?? String(error)), isOperatorError)
}
