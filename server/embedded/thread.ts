// The worker thread of the embedded database.
import { parentPort, workerData } from 'node:worker_threads'
import { OperatorError } from '../errors.ts'
import { openServer, type ServerOptions, type ThreadMessage } from './server.ts'

const ALIVE_MS = 1000

function send(message: ThreadMessage) {
  parentPort?.postMessage(message)
  if (message.kind === 'failed') process.exit(1) // ends this thread, and not the process
}

try {
  const server = await openServer(workerData as ServerOptions, send)
  setInterval(() => send({ kind: 'alive' }), ALIVE_MS)
  parentPort?.once('message', async (drainMs: number) => {
    await server.close(drainMs)
    process.exit()
  })
  send({ kind: 'ready' })
} catch (error) {
  const text = error instanceof OperatorError ? error.message : ((error as Error).stack ?? String(error))
  send({ kind: 'failed', text })
}
