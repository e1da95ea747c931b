/**
 * Loaded before a server (`node --import`), in each of its threads: records what it does to the disk and when it answers
 * an order, in a file DISK_RECORD.<thread> once the thread ends. Each event carries the time of the clock that all
 * threads share.
 */
import fs from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'
import { serialize } from 'node:v8'
import { threadId } from 'node:worker_threads'
import type { DiskEvent } from './power-cut-disk.ts'

export type TimedEvent = DiskEvent & { at: bigint }

const timed: TimedEvent[] = []
const record = { push: (event: DiskEvent) => timed.push({ ...event, at: process.hrtime.bigint() }) }
const root = resolve(process.env.DATA_DIR ?? '')
const isOurs = (path: unknown) => typeof path === 'string' && `${resolve(path)}/`.startsWith(`${root}/`)
const open = new Map<number, number>()
/** Numbers of opened files, which no other thread uses. */
let files = threadId * 1_000_000

// biome-ignore lint/suspicious/noExplicitAny: each is called with what the one before was called with
type Any = (...args: any[]) => any

/** Has `note` called after the real function, with its arguments and its result. */
function after(target: object, name: string, note: (args: unknown[], result: never) => void) {
  const real = (target as Record<string, Any>)[name] as Any
  ;(target as Record<string, Any>)[name] = (...args: unknown[]) => {
    const result = real.apply(target, args)
    note(args, result as never)
    return result
  }
}

function opened(path: string, fd: number) {
  open.set(fd, ++files)
  record.push({ kind: 'open', path: resolve(path), file: files })
}

function written(file: number, position: unknown, bytes: Buffer) {
  record.push({ kind: 'write', file, position: Number(position), bytes: Buffer.from(bytes) })
}

after(fs, 'openSync', ([path], fd: number) => isOurs(path) && opened(String(path), fd))
after(fs, 'closeSync', ([fd]) => open.delete(Number(fd)))
const positions = new Map<number, number>()
after(fs, 'writeSync', ([fd, data, offset, , position], count: number) => {
  const file = open.get(Number(fd))
  if (!file) return
  const view = data as Uint8Array
  const from = Number(offset ?? 0)
  const at = typeof position === 'number' ? position : (positions.get(file) ?? 0)
  positions.set(file, at + count)
  written(file, at, Buffer.from(view.buffer, view.byteOffset + from, count))
})
for (const name of ['fsyncSync', 'fdatasyncSync']) {
  after(fs, name, ([fd]) => {
    const file = open.get(Number(fd))
    if (file) record.push({ kind: 'sync', file })
  })
}
after(fs, 'ftruncateSync', ([fd, size]) => {
  const file = open.get(Number(fd))
  if (file) record.push({ kind: 'truncate', file, size: Number(size ?? 0) })
})
after(fs, 'truncateSync', ([path, size]) => {
  if (!isOurs(path)) return
  record.push({ kind: 'open', path: resolve(String(path)), file: ++files })
  record.push({ kind: 'truncate', file: files, size: Number(size ?? 0) })
})
after(fs, 'writeFileSync', ([path, data]) => {
  if (!isOurs(path)) return
  record.push({ kind: 'open', path: resolve(String(path)), file: ++files })
  record.push({ kind: 'truncate', file: files, size: 0 })
  if (String(data) !== '') written(files, 0, Buffer.from(data as string))
})
after(fs, 'mkdirSync', ([path]) => isOurs(path) && record.push({ kind: 'mkdir', path: resolve(String(path)) }))
for (const name of ['unlinkSync', 'rmdirSync', 'rmSync']) {
  after(fs, name, ([path]) => isOurs(path) && record.push({ kind: 'remove', path: resolve(String(path)) }))
}
after(fs, 'renameSync', ([from, to]) => {
  if (isOurs(from)) record.push({ kind: 'rename', path: resolve(String(from)), to: resolve(String(to)) })
})

const openHandle = fs.promises.open
fs.promises.open = async (...args) => {
  const handle = await openHandle(...args)
  if (!isOurs(args[0])) return handle
  const file = ++files
  record.push({ kind: 'open', path: resolve(String(args[0])), file })
  const sync = handle.sync.bind(handle)
  handle.sync = async () => {
    // What was written before it was asked for is on the disk when it is done.
    record.push({ kind: 'sync-begun', file })
    await sync()
    record.push({ kind: 'sync', file, isAsync: true })
  }
  return handle
}

const end = http.ServerResponse.prototype.end
http.ServerResponse.prototype.end = function (this: http.ServerResponse, ...args: unknown[]) {
  const reference = this.statusCode === 200 ? /"reference":"([^"]+)"/.exec(String(args[0]))?.[1] : undefined
  if (reference) record.push({ kind: 'answer', reference })
  return (end as Any).apply(this, args)
} as typeof end

syncBuiltinESMExports()
process.once('exit', () => {
  if (process.env.DISK_RECORD) fs.writeFileSync(`${process.env.DISK_RECORD}.${threadId}`, serialize(timed))
})
