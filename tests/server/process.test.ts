// A server process keeps answered orders across a restart, ends in time, and says why it cannot start.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { cp, readFile, rm, symlink } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readMigrations } from '../../server/database/migrations.ts'
import { openForSite } from '../../server/database/open.ts'
import { OperatorError } from '../../server/errors.ts'
import { messages } from '../../shared/order.ts'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, postForm, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough } from '../support/fake-resend.ts'
import { aDatabase, aResend, aServer, refusalToStart } from '../support/fixtures.ts'
import { freePort, SERVER, startServer } from '../support/server-process.ts'
import { administer, migrations } from '../support/test-database.ts'

/** An order of which the server has half, until `finish` sends the rest and gives the status of the answer. */
function beginOrder(url: string) {
  const body = JSON.stringify(anOrder())
  const headers = { 'content-type': 'application/json', 'content-length': body.length, expect: '100-continue' }
  const order = request(`${url}/trpc/order.submit`, { method: 'POST', headers, agent: false })
  const answered = new Promise<number | undefined>((done, fail) => {
    order.once('error', fail)
    order.once('response', (answer) => done(answer.resume().statusCode))
  })
  // The server says so once it has read the headers: before, the connection is idle for it.
  const begun = new Promise<void>((done) => order.once('continue', () => order.write(body.slice(0, 20), () => done())))
  order.flushHeaders()
  const finish = () => {
    order.end(body.slice(20))
    return answered
  }
  return { begun, finish, answered }
}

describe('a server process', () => {
  it('is run by npm start and by the container with the flags it is tested and measured with', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(scripts.start).toContain(`exec node ${SERVER.flags.join(' ')} --import ./server/dotenv.mjs ${SERVER.entry}`)
    const command = JSON.stringify(['node', ...SERVER.flags, SERVER.entry]).replaceAll(',', ', ')
    expect(await readFile('Dockerfile', 'utf8')).toContain(`\nCMD ${command}\n`)
  })

  it('keeps an order across a restart, and its mails wait for a key', async () => {
    const database = await aDatabase()
    const resend = await aResend()
    const { STAFF_EMAILS = '', ...sending } = sendingThrough(resend)
    const first = await aServer({ ...database, STAFF_EMAILS })
    expect(first.stdout()).toContain(' is at http://')
    const order = anOrder()
    const { reference } = await submit(first.url, order)
    expect(await first.stop()).toEqual({ code: 0, signal: null })
    const second = await aServer({ ...database, STAFF_EMAILS, ...sending })
    expect((await submit(second.url, order)).reference).toBe(reference)
    const receivers = () => resend.mails.flatMap(({ to }) => to).sort()
    await eventually(() => expect(receivers()).toEqual([order.email, STAFF_EMAILS].sort()))
  })

  it('ends with 0 on SIGTERM, after it has answered what it was asked', async () => {
    const server = await aServer({ ...(await aDatabase()), RATE_LIMIT_MAX: '0' })
    const orders = Array.from({ length: 20 }, () => beginOrder(server.url))
    await Promise.all(orders.map(({ begun }) => begun))
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const end = server.stop()
    expect(await Promise.all(orders.map(({ finish }) => finish()))).toEqual(Array(20).fill(200))
    expect(await end).toEqual({ code: 0, signal: null })
  })

  it('ends in order after a fault of its own, and logs no personal data of it', async () => {
    const fault = `process.on('SIGWINCH', () => { throw new Error('asha@shop.example is wrong') })`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(fault)}`
    const server = await aServer({ ...(await aDatabase()), NODE_OPTIONS })
    expect(await server.stop('SIGWINCH')).toEqual({ code: 1, signal: null })
    expect(server.stdout()).toContain('a fault of ours: shutting down')
    const another = await aServer({ ...(await aDatabase()), NODE_OPTIONS })
    another.process.kill('SIGWINCH')
    await eventually(() => expect(another.stdout()).toContain('a fault of ours: shutting down'))
    expect(await another.stop('SIGWINCH')).toEqual({ code: 1, signal: null }) // while it closes
    expect(another.stdout()).toContain('shutting down at once: second error')
    for (const { stdout, stderr } of [server, another]) expect(stdout() + stderr()).not.toContain('asha@')
  })

  it('goes on where its log cannot be written, and ends when it is told to', async () => {
    const port = String(await freePort())
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [...SERVER.flags, resolve(SERVER.entry)], {
      env: { PATH: process.env.PATH, ...(await aDatabase()), PORT: port, RATE_LIMIT_MAX: '0' },
      stdio: ['ignore', full, 'ignore'],
    })
    closeSync(full)
    const ended = new Promise((done) => child.once('close', done))
    atEnd(() => child.kill('SIGKILL'))
    const order = () => submit(`http://127.0.0.1:${port}`, anOrder())
    await eventually(async () => expect((await order()).status).toBe(200))
    for (let times = 0; times < 5; times++) expect((await order()).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  it('ends within ten seconds also when a body never comes and Resend never answers', async () => {
    const resend = await aResend()
    const server = await aServer({ ...(await aDatabase()), ...sendingThrough(resend), RATE_LIMIT_MAX: '0' })
    resend.behaviour = 'hang'
    expect((await submit(server.url, anOrder())).status).toBe(200)
    await eventually(() => expect(resend.calls.all).toBeGreaterThan(0))
    const order = beginOrder(server.url)
    order.answered.catch(() => {}) // it is cut
    await order.begun
    const start = performance.now()
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})

it('a site goes on while a new build empties the folder that it was started from', async () => {
  const folder = await aFolder('quvera-built-', tmpdir())
  for (const path of ['dist', 'prisma/migrations', 'prisma/roles.sql'])
    await cp(path, join(folder, path), { recursive: true })
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
  const resend = await aResend()
  const env = { ...(await aDatabase()), ...sendingThrough(resend), RATE_LIMIT_MAX: '0' }
  const { url, stop } = await startServer(env, { root: folder })
  atEnd(() => stop('SIGKILL'))
  await rm(join(folder, 'dist'), { recursive: true })

  const { submissionKey: _, ...fields } = anOrder()
  const stored = await postForm(url, fields)
  const page = await fetch(url + stored.headers.get('location'))
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(messages.received)])
  const refused = await postForm(url, { ...fields, email: 'nobody' })
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(messages.email)])
  expect((await submit(url, anOrder({ name: 'Rohan Mehta' }))).status).toBe(200)
  expect((await fetch(`${url}/privacy-policy`)).status).toBe(200)
  await eventually(() => expect(resend.mails).toHaveLength(4))
})

describe('a server that cannot start', () => {
  it.each(['main.js', 'staff.js'])('says in a sentence that Node is too old: %s', (file) => {
    const old = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`
    const options = ['--import', `data:text/javascript,${encodeURIComponent(old)}`, resolve('dist/server', file)]
    const { status, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' })
    expect([status, stderr]).toEqual([
      1,
      'This is Node 20.20.2. The site needs Node 24.16.0 or newer: `npm run setup` links the one that npm ci installs on Linux; elsewhere install it.\n',
    ])
    expect(readFileSync(resolve('dist/server', file), 'utf8')).not.toMatch(/^import .*"node:sqlite"/m)
  })

  it('says that the port is taken', async () => {
    const port = await freePort()
    const blocker = createServer().listen(port, '127.0.0.1')
    atEnd(() => blocker.close())
    const lines = await refusalToStart({ ...(await aDatabase()), PORT: String(port) })
    expect(lines).toEqual([
      `EADDRINUSE: address already in use 127.0.0.1:${port}. Choose another PORT, or METRICS_PORT.`,
    ])
  })
})

describe('a server whose embedded database another process has', () => {
  const WAITS = 'another process has the database in'

  it('says that it waits, and starts once the other one has ended', async () => {
    const dataDir = await aFolder('quvera-shared-')
    const other = await openForSite({ dataDir, migrations, warn() {} })
    const server = await aServer({ DATA_DIR: dataDir }, { waitUntilReady: false })
    await eventually(() => expect(server.stdout()).toContain(WAITS))
    await other.close()
    await eventually(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200))
    expect(server.stdout().split(WAITS)).toHaveLength(2)
  })
})

describe('migrations', () => {
  /** What opens a database that has its tables, and in which `sql` has changed something. */
  async function aDatabaseAfter(sql: string) {
    const { DATABASE_URL: url } = await aDatabase()
    await administer(url, sql)
    return { url, dataDir: '', migrations }
  }

  it('that Prisma Migrate began and did not finish keep a server from starting, which says so', async () => {
    const options = await aDatabaseAfter('UPDATE _prisma_migrations SET finished_at = NULL')
    const refusal = openForSite({ ...options, migrate: true })
    await expect(refusal).rejects.toThrow(OperatorError) // which serve.ts tells without a stack
    await expect(refusal).rejects.toThrow(/^Prisma Migrate began migration \d+_tables and did[^\n]*$/)
  })

  it('are applied once when ten servers start at the same moment', async () => {
    const options = await aDatabaseAfter('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    const open = () => openForSite({ ...options, migrate: true })
    const all = await Promise.all(Array.from({ length: 10 }, open))
    const names = (await readMigrations(migrations)).map(({ name }) => name)
    expect(all.flatMap(({ notes }) => notes).sort()).toEqual(names.map((name) => `applied migration ${name}`))
    for (const { db, close } of all) {
      expect(await db.enquiry.count()).toBe(0)
      await close()
    }
  })

  it('of a newer server do not stop an older one', async () => {
    const options = await aDatabaseAfter(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'y', '2999_future', now())`,
    )
    const { notes, close } = await openForSite(options)
    expect(notes).toEqual(['the database has migration 2999_future, which this version does not know'])
    await close()
  })
})
