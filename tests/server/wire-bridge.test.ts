import { connect, createServer, type Server, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveDatabase } from '../../server/database/wire-bridge.ts'

const AT_ONCE_MS = 10_000 // of a machine that has other things to do

let lite: PGlite
let server: Server
let port: number
const sockets: Socket[] = []
beforeAll(async () => {
  lite = await PGlite.create()
  server = createServer()
  serveDatabase(server, Promise.resolve(lite))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = Number(Object(server.address()).port)
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  server.close()
  await lite.close()
})

/** What is answered until the connection ends, and that it ends at once. */
function say(...parts: (Buffer | string)[]): Promise<string> {
  return new Promise((done, fail) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    const timer = setTimeout(() => fail(new Error('The connection stays open')), AT_ONCE_MS)
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(timer)
      done(answer)
    })
    for (const part of parts) socket.write(part)
  })
}

async function aClient() {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  client.on('error', () => {}) // the connection ends after a refusal
  await client.connect()
  return client
}

function int32(value: number) {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const startup = (() => {
  const body = Buffer.concat([int32(196608), Buffer.from('user\0postgres\0database\0postgres\0\0')])
  return Buffer.concat([int32(body.length + 4), body])
})()
const query = (length: number) => Buffer.concat([startup, Buffer.from('Q'), int32(length)])

describe('what is no client of PostgreSQL is refused at once', () => {
  it.each<[string, Buffer | string]>([
    ['a startup message of no length', int32(0)],
    ['a startup message of a negative length', int32(-1)],
    ['a startup message without a version', Buffer.concat([int32(4), Buffer.alloc(10)])],
    ['a startup message over 10 kB', int32(10_001)],
    ['a startup message of 2 GB', int32(2 ** 31 - 1)],
    ['a message length of 0', query(0)],
    ['a message length of 3', query(3)],
    ['a negative message length', query(-5)],
    ['a message of 2 GB', query(2 ** 31 - 1)],
    ['a request of a web page', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['an order of a web page', 'POST / HTTP/1.1\r\nContent-Type: text/plain\r\n\r\nQ\0\0\0\x20DROP TABLE x'],
  ])('%s', async (_what, bytes) => {
    expect(await say(bytes)).toMatch(/08P01|^$/)
    await lite.query('SELECT 1')
  })

  it.each([
    `COPY (SELECT 1) TO PROGRAM 'true'`,
    `copy (select 1)\n to /* x */ program 'true'`,
    `CREATE TEMP TABLE t (x text); COPY t FROM PROGRAM 'true'`,
  ])('a program that the database is to run: %s', async (statement) => {
    const client = await aClient()
    await expect(client.query(statement)).rejects.toMatchObject({ code: '0A000' })
    await lite.query('SELECT 1')
    const prepared = await aClient()
    await expect(prepared.query({ text: statement, name: 'p' })).rejects.toMatchObject({ code: '0A000' })
  })

  it('and what only speaks of programs is served', async () => {
    const client = await aClient()
    expect((await client.query(`SELECT 'to program' AS text`)).rows).toEqual([{ text: 'to program' }])
    await client.end()
  })

  it('messages without end, of which none asks for an answer', async () => {
    const parse = Buffer.concat([Buffer.from('P'), int32(8), Buffer.from('\0\0\0\0')])
    await say(startup, Buffer.alloc(parse.length * 1_500_000, parse))
    await lite.query('SELECT 1')
  })
})
