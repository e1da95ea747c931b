import { Worker } from 'node:worker_threads'

const LIMIT_MS = 30_000
const LOOKS = 10

/** Runs in a thread of its own. Counts its own looks and not the time, which passes while a machine sleeps. */
const WATCH = `
const { writeSync } = process.getBuiltinModule('node:fs')
const { beats, looks, pauseMs } = process.getBuiltinModule('node:worker_threads').workerData
let last, still = 0
setInterval(() => {
  const now = Atomics.load(beats, 0)
  still = now === last ? still + 1 : 0
  last = now
  if (still !== looks) return
  writeSync(2, 'The server has stood still for ' + (looks * pauseMs) / 1000 + ' seconds and is ended.\\n')
  process.kill(process.pid, 'SIGKILL')
}, pauseMs)`

/**
 * Ends this process when it has stood still: then nothing in it answers any more, not even a signal, and what started
 * it can start it again. What was answered is stored. The first process of a container cannot end itself in this way:
 * it wants `init` in front.
 */
export function startWatchdog(limitMs = LIMIT_MS): void {
  const beats = new Int32Array(new SharedArrayBuffer(4))
  const pauseMs = limitMs / LOOKS
  setInterval(() => Atomics.add(beats, 0, 1), pauseMs / 2).unref()
  const limits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 }
  new Worker(WATCH, { eval: true, workerData: { beats, looks: LOOKS, pauseMs }, resourceLimits: limits }).unref()
}
