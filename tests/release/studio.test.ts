// Prisma Studio shows enquiries beside the running site and changes none, and refuses requests of foreign pages.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { request } from 'node:http'
import type { Browser, Page } from '@playwright/test'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { launchBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { aServer } from '../support/fixtures.ts'
import { type PostgresServer, startPostgresServer } from '../support/postgres-server.ts'
import { freePort } from '../support/server-process.ts'
import { runProgram } from '../support/staff-command.ts'
import { onDatabase } from '../support/stored-enquiry.ts'
import { administer } from '../support/test-database.ts'

const HAS_POSTGRES = existsSync('/usr/lib/postgresql')
const PASSWORD = 'only-for-this-test'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

/** Studio as `npm run studio` starts it. */
async function startStudio(env: Record<string, string>): Promise<{ url: string; pid: number }> {
  const args = ['server/studio.ts', '--port', String(await freePort())]
  const path = `${process.cwd()}/node_modules/.bin:${process.env.PATH}`
  const studio = spawn(process.execPath, args, {
    env: { PATH: path, HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((done) => studio.once('exit', done))
  atEnd(async () => {
    studio.kill()
    await ended
  })
  let output = ''
  studio.stdout.on('data', (chunk) => {
    output += chunk
  })
  await eventually(() => expect(output).toMatch(/Studio is running/), 30_000)
  return { url: /http:\S+/.exec(output)?.[0] ?? '', pid: studio.pid as number }
}

/** The TCP ports of a process that listen. */
async function listeningPorts(pid: number): Promise<number[]> {
  const files = (await readdir(`/proc/${pid}/fd`)).map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => ''))
  const inodes = (await Promise.all(files)).map((file) => /^socket:\[(\d+)\]$/.exec(file)?.[1])
  const sockets = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  return sockets
    .filter(([, , , state, , , , , , inode]) => state === '0A' && inodes.includes(inode))
    .map(([, address = '']) => Number.parseInt(address.split(':')[1] ?? '', 16))
}

/** Studio on the table of the enquiries. */
async function openEnquiries(env: Record<string, string>): Promise<Page> {
  const { url } = await startStudio(env)
  const page = await browser.newPage({ viewport: { width: 4000, height: 1400 } }) // columns that are out of sight are not made
  atEnd(() => page.close())
  await page.goto(url)
  await page.getByText('Quvera_Form', { exact: true }).first().click()
  await eventually(async () => expect(await cells(page, 'Reference')).toHaveLength(25))
  return page
}

/** The cells of a column on the page that is shown, from top to bottom. */
async function cells(page: Page, column: string): Promise<string[]> {
  return page.locator(`tbody td[data-grid-column-id="${column}"]`).allInnerTexts()
}

/** Tries to set a status: on the second row, as the first is marked from the start. */
async function setStatus(page: Page, status: string): Promise<void> {
  const cell = page.locator('tbody td[data-grid-column-id="Status"]').nth(1)
  await cell.click()
  await cell.click()
  await page.getByRole('dialog').getByRole('button', { name: status }).click()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Save 1 row' }).click()
  await page.getByRole('button', { name: 'yes, write to db' }).click()
}

/** How many enquiries have a status. */
const countOf = (env: Record<string, string>, status: 'Closed') =>
  onDatabase(env, (db) => db.enquiry.count({ where: { status } }))

/** Studio shows what is there, and a change of a status is refused. */
async function expectReadOnly(env: Record<string, string>, owner = env) {
  const page = await openEnquiries(env)
  const before = await countOf(owner, 'Closed')
  await setStatus(page, 'Closed')
  await page
    .getByText(/permission denied|failed/i)
    .first()
    .waitFor()
  expect(await countOf(owner, 'Closed')).toBe(before)
  return page
}

describe('Prisma Studio', () => {
  it('shows the enquiries beside the running site, and may change none', async () => {
    const env = { DATA_DIR: await aFolder('quvera-studio-') }
    await runProgram('prisma/seed.ts', [], env)
    const server = await aServer(env)
    const page = await expectReadOnly(env)
    const { reference = '' } = await submit(server.url, anOrder())
    expect(reference).not.toBe('')
    await page.reload()
    await eventually(async () => expect(await cells(page, 'Reference')).toHaveLength(25))
    expect(await onDatabase(env, (db) => db.access.count({ where: { command: 'studio', what: 'everything' } }))).toBe(1)
  }, 60_000)

  it('lets no other program of the machine into the embedded database, nor foreign pages into itself', async () => {
    const env = { DATA_DIR: await aFolder('quvera-studio-') }
    await runProgram('prisma/seed.ts', [], env)
    const { pid, url } = await startStudio(env)
    const ports = await listeningPorts(pid)
    expect(ports).toHaveLength(1)
    for (const port of ports)
      for (const user of ['postgres', 'quvera'])
        await expect(new pg.Client({ host: '127.0.0.1', port, user, database: 'quvera' }).connect()).rejects.toThrow()
    const { origin, port } = new URL(url)
    const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
      new Promise((done, fail) => {
        const sent = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
          answer.resume()
          done(answer.statusCode)
        })
        sent.on('error', fail).end(method === 'POST' ? '{}' : '')
      })
    const json = { 'content-type': 'application/json' }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`]) expect(await ask('/', { host })).toBe(200)
    for (const path of ['/', '/bff'])
      for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example'])
        expect(await ask(path, { host, ...json }, path === '/bff' ? 'POST' : 'GET')).toBe(403)
    const own = { host: `localhost:${port}`, ...json }
    expect(await ask('/bff', { ...own, origin: 'http://evil.example' }, 'POST')).toBe(403)
    expect(await ask('/bff', { ...own, origin }, 'POST')).not.toBe(403)
  }, 60_000)

  describe.skipIf(!HAS_POSTGRES)('on a PostgreSQL server', () => {
    let postgres: PostgresServer
    beforeAll(async () => {
      postgres = await startPostgresServer()
    })
    afterAll(() => postgres.close())

    /** A seeded database with the roles of prisma/roles.sql, and its address for each. */
    async function aServerDatabase() {
      const name = `studio_${crypto.randomUUID().replaceAll('-', '')}`
      await administer(postgres.url, `CREATE DATABASE ${name}`)
      const owner = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
      expect(await runProgram('prisma/seed.ts', [], { DATABASE_URL: owner })).toMatchObject({ code: 0 })
      await administer(owner, await readFile('prisma/roles.sql', 'utf8'))
      await administer(owner, `ALTER ROLE quvera_readonly PASSWORD '${PASSWORD}'`)
      return {
        owner,
        readonly: Object.assign(new URL(owner), { username: 'quvera_readonly', password: PASSWORD }).href,
      }
    }

    it('shows the read-only role the enquiries, and refuses what it may not set', async () => {
      const { owner, readonly } = await aServerDatabase()
      await expectReadOnly({ DATABASE_URL: readonly }, { DATABASE_URL: owner })
    }, 60_000)

    it('does not start with a login that may change enquiries', async () => {
      const { owner } = await aServerDatabase()
      const { code, stderr } = await runProgram('server/studio.ts', [], { DATABASE_URL: owner })
      expect([code, stderr.trim()]).toEqual([
        1,
        'Studio only reads, and the login postgres in DATABASE_URL may change enquiries. For this command set DATABASE_URL to the login quvera_readonly.',
      ])
    }, 60_000)
  })
})
