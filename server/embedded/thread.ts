// The code of the worker thread in which the embedded database runs. start-embedded.ts starts it and reads its messages.
import { parentPort, workerData } from 'node:worker_threads'
import { OperatorError } from '../errors.ts'
import { openServer, type ServerOptions } from './server.ts'

/** Any message tells that the thread answers. */
export type ThreadMessage =
  | { kind: 'ready' | 'alive' }
  | { kind: 'timeLimit'; isOn: boolean }
  | { kind: 'warning' | 'failed'; text: string }

const ALIVE_MS = 1000

const send = (message: ThreadMessage) => parentPort?.postMessage(message)

function fail(text: string): never {
  send({ kind: 'failed', text })
  process.exit(1) // ends this thread, and not the process
}

try {
  const server = await openServer(workerData as ServerOptions, {
    warn: (text) => send({ kind: 'warning', text }),
    onAbort: fail,
    setTimeLimit: (isOn) => send({ kind: 'timeLimit', isOn }),
  })
  setInterval(() => send({ kind: 'alive' }), ALIVE_MS)
  parentPort?.once('message', async (drainMs: number) => {
    await server.close(drainMs)
    process.exit()
  })
  send({ kind: 'ready' })
} catch (error) {
  fail(error instanceof OperatorError ? error.message : ((error as Error).stack ?? String(error)))
}
