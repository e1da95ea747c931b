/** Loaded before a server (`node --import`): on SIGUSR2 it ends the newest thread of the embedded database, whatever that is doing. */

import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

if (threads.isMainThread) {
  let newest: threads.Worker | undefined
  threads.Worker = class extends threads.Worker {
    constructor(file: string | URL, options?: threads.WorkerOptions) {
      super(file, options)
      if (String(file).includes('embedded-database')) newest = this
    }
  }
  syncBuiltinESMExports()
  process.on('SIGUSR2', () => void newest?.terminate())
}
