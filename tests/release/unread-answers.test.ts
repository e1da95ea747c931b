// Clients that do not read their answers are cut, and hold up no order; slow readers are not cut.
// Not in `npm test`: it measures memory and seconds, and wants the machine for itself.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { readEnv } from '../../server/env.ts'
import { readStaticPages } from '../../server/http/static-pages.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { scratch } from '../support/scratch.ts'
import { PUBLIC_URL, startTestApp, type TestApp } from '../support/test-app.ts'

/** A sixth of what the site gives, so that a test is over sooner; nothing else is different. */
const TIMEOUTS = { headersMs: 1000, requestMs: 2000, idleSocketMs: 2000 }
/** Two standstills, and as much again for a busy machine. */
const CUT_MS = 8000
const PAGE_BYTES = 100_000
/** More than the system takes off the server for a client that does not read. */
const FILM_BYTES = 12_000_000

let app: TestApp
let folder: string
const sockets: Socket[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(scratch, 'quvera-site-'))
  await writeFile(join(folder, 'page.html'), Buffer.alloc(PAGE_BYTES, 'x'))
  await writeFile(join(folder, 'film.html'), Buffer.alloc(FILM_BYTES, 'x'))
  const pages = readStaticPages(folder, readEnv({ PUBLIC_URL }))
  app = await startTestApp({ mails: false, pages, timeouts: TIMEOUTS })
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(async () => {
  await app.close()
  await rm(folder, { recursive: true })
})

/** Asks `times` times at once for `path`, and reads so many bytes a second of the answers. */
function ask(path: string, times: number, bytesPerSecond = 0) {
  const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1' })
  sockets.push(socket)
  const client = { read: 0, ended: false }
  socket.on('error', () => socket.destroy())
  socket.on('end', () => (client.ended = true))
  socket.on('readable', () => {}) // takes a little off the system, and no more than that until it is read
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(times))
  const timer = setInterval(() => {
    const size = Math.min(bytesPerSecond / 5, socket.readableLength)
    client.read += socket.read(size)?.length ?? 0
  }, 200)
  socket.once('close', () => clearInterval(timer))
  return client
}

/** Nothing is kept open by fetch, so that what is left are the clients of the test. */
const order = () => submit(app.url, anOrder(), { connection: 'close' })

it('80 clients that ask 400 times each and read nothing take little memory, are cut, and orders go on', async () => {
  const before = process.memoryUsage().rss
  for (let index = 0; index < 80; index++) ask('/page', 400)
  await eventually(async () => expect(await app.connections()).toBeGreaterThan(0))
  expect((await order()).status).toBe(200)
  await eventually(async () => expect(await app.connections()).toBe(0), CUT_MS)
  expect(process.memoryUsage().rss - before).toBeLessThan(80 * 5_000_000) // of 40 MB each, if answers were copied
})

it('a client that reads nothing of one answer is cut after two standstills, and slow readers are not', async () => {
  ask('/film', 1)
  const film = ask('/film', 1, 900_000)
  const page = ask('/page', 1, 20_000)
  await eventually(async () => expect(await app.connections()).toBe(3))
  await eventually(async () => expect(await app.connections()).toBeLessThanOrEqual(2), CUT_MS)
  await eventually(() => expect(page.read).toBeGreaterThan(PAGE_BYTES), CUT_MS)
  expect(film.ended).toBe(false)
  expect(film.read).toBeGreaterThan(PAGE_BYTES)
})
