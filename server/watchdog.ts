// Ends this process when its main thread does not answer for 30 seconds. What started the process can start it again.
import { Worker } from 'node:worker_threads'

const LIMIT_MS = 30_000
const CHECKS = 10

/** Runs in a thread of its own. Counts checks instead of time, so that a suspended machine is not taken for a hang. */
const WATCH = `
const { writeSync } = process.getBuiltinModule('node:fs')
const { beats, checks, pauseMs } = process.getBuiltinModule('node:worker_threads').workerData
let last, silent = 0
setInterval(() => {
  const now = Atomics.load(beats, 0)
  silent = now === last ? silent + 1 : 0
  last = now
  if (silent !== checks) return
  writeSync(2, 'The server did not respond for ' + (checks * pauseMs) / 1000 + ' seconds and is ended.\\n')
  process.kill(process.pid, 'SIGKILL')
}, pauseMs)`

/** A kill is safe, as every confirmed order is committed. Process 1 cannot kill itself, so containers run with `--init`. */
export function startWatchdog(limitMs = LIMIT_MS): void {
  const beats = new Int32Array(new SharedArrayBuffer(4))
  const pauseMs = limitMs / CHECKS
  setInterval(() => Atomics.add(beats, 0, 1), pauseMs / 2).unref()
  const limits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 }
  new Worker(WATCH, { eval: true, workerData: { beats, checks: CHECKS, pauseMs }, resourceLimits: limits }).unref()
}
