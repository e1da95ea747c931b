// Clients that do not read their answers are cut, and hold up no order; slow readers are not cut.
// Not in `npm test`: it measures memory and seconds, and wants the machine for itself.
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readEnv } from '../../server/env.ts'
import { readStaticPages } from '../../server/http/static-pages.ts'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { anApp } from '../support/fixtures.ts'
import { PUBLIC_URL } from '../support/test-app.ts'

/** Half of what the site gives, so that a test is over sooner, also on a busy machine; nothing else is different. */
const TIMEOUTS = { headersMs: 3000, requestMs: 6000, idleSocketMs: 6000 }
/** Two standstills, and as much again for a busy machine. */
const CUT_MS = 24_000
const PAGE_BYTES = 100_000
/** More than the system takes off the server for a client that does not read. */
const FILM_BYTES = 12_000_000

/** Asks `times` times at once for `path`, and reads so many bytes a second of the answers. */
function ask(url: string, path: string, times: number, bytesPerSecond = 0) {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
  atEnd(() => socket.destroy())
  const client = { read: 0, socket }
  socket.on('error', () => socket.destroy())
  socket.on('readable', () => {}) // takes a little off the system, and no more than that until it is read
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(times))
  const timer = setInterval(() => {
    const size = Math.min(bytesPerSecond / 5, socket.readableLength)
    client.read += socket.read(size)?.length ?? 0
  }, 200)
  socket.once('close', () => clearInterval(timer))
  return client
}

it('80 clients that ask 400 times each and read nothing are cut, cost little memory, and hold up no order', async () => {
  const folder = await aFolder('quvera-site-')
  await writeFile(join(folder, 'page.html'), Buffer.alloc(PAGE_BYTES, 'x'))
  await writeFile(join(folder, 'film.html'), Buffer.alloc(FILM_BYTES, 'x'))
  const pages = readStaticPages(folder, readEnv({ PUBLIC_URL }))
  const app = await anApp({ mails: false, pages, timeouts: TIMEOUTS })
  const before = process.memoryUsage().rss
  for (let index = 0; index < 80; index++) ask(app.url, '/page', 400)
  const reader = ask(app.url, '/film', 1, 900_000)
  await eventually(async () => expect(await app.connections()).toBe(81))
  // Nothing is kept open by fetch, so that what is left are the clients of the test.
  expect((await submit(app.url, anOrder(), { connection: 'close' })).status).toBe(200)
  await eventually(async () => expect(await app.connections()).toBe(1), CUT_MS)
  expect(process.memoryUsage().rss - before).toBeLessThan(80 * 5_000_000) // of 40 MB each, if answers were copied
  expect(reader.socket.readyState).toBe('open') // which is slow
  const read = reader.read
  await eventually(() => expect(reader.read).toBeGreaterThan(read), CUT_MS)
})
