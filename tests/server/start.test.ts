import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, inject, it } from 'vitest'
import { withDatabase } from '../../server/database/open-database.ts'
import { eventually } from '../support/eventually.ts'
import { scratch } from '../support/scratch.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { createTestDatabase } from '../support/test-database.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action()
})

async function start(env: Record<string, string>): Promise<ServerProcess> {
  const server = await startServer(env, { waitUntilReady: false })
  cleanUp.push(() => server.stop('SIGKILL'))
  return server
}

it('a folder that cannot be made ends the start with one line that names it', async () => {
  const server = await start({ DATA_DIR: '/proc/nope' })
  expect(await server.exited).toEqual({ code: 1, signal: null })
  expect(server.stderr()).toMatch(/^DATA_DIR \/proc\/nope cannot be made or used: .*\n$/)
})

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('%s during the start ends it at once', async (signal, code) => {
  const silent = createServer() // takes connections and never answers, as a database behind a broken network
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
  cleanUp.push(() => silent.close())
  const { port } = silent.address() as { port: number }
  const connected = new Promise((done) => silent.once('connection', done))
  const server = await start({ DATABASE_URL: `postgresql://nobody@127.0.0.1:${port}/none` })
  await connected
  await sleep(100)
  const before = performance.now()
  expect(await server.stop(signal)).toEqual({ code, signal: null })
  expect(performance.now() - before).toBeLessThan(1000)
})

it('a first start that is called off leaves a folder that the next one can use', async () => {
  const folder = await mkdtemp(join(scratch, 'quvera-start-'))
  cleanUp.push(() => rm(folder, { recursive: true, force: true }))
  const first = await start({ DATA_DIR: folder })
  await eventually(async () => expect(await readdir(folder)).not.toEqual([]))
  expect(await first.stop()).toEqual({ code: 143, signal: null })
  const second = await startServer({ DATA_DIR: folder })
  cleanUp.push(() => second.stop('SIGKILL'))
  expect((await fetch(`${second.url}/readyz`)).status).toBe(200)
})

it.skipIf(!inject('postgres'))('staff may wait longer for a query than visitors do', async () => {
  const { env, drop } = await createTestDatabase()
  cleanUp.push(drop)
  const slept = await withDatabase({ DATA_DIR: '', ...env }, ({ db }) => db.$executeRaw`SELECT pg_sleep(2.5)`)
  expect(slept).toBe(1)
})

it.each([
  [{}, 'MAIL_FROM'],
  [{ MAIL_FROM: 'Quvera <enquiries@quvera.test>' }, 'STAFF_EMAILS'],
  [{ MAIL_FROM: 'enquiries@quvera.example', STAFF_EMAILS: 'staff@quvera.test' }, 'MAIL_FROM'],
])('a key beside a stand-in address ends the start with one line that names it: %j', async (env, name) => {
  const server = await start({ DATA_DIR: '/proc/nope', RESEND_API_KEY: 're_test', ...env })
  expect(await server.exited).toEqual({ code: 1, signal: null })
  expect(server.stderr()).toMatch(new RegExp(`^RESEND_API_KEY is set, but ${name} is still a stand-in .*\n$`))
})
