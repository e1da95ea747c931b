// Prisma Studio shows enquiries beside the running site and changes none, and refuses programs and pages of others.
// Not in `npm test`: it drives the page of Prisma's program, and one case needs a PostgreSQL server.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { request } from 'node:http'
import type { Browser, Page } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { launchBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures } from '../support/fault-fixtures.ts'
import { aServer } from '../support/fixtures.ts'
import { freePort } from '../support/server-process.ts'
import { runProgram } from '../support/staff-command.ts'
import { onDatabase } from '../support/stored-enquiry.ts'
import { administer } from '../support/test-database.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

/** Studio as `npm run studio` starts it. */
async function startStudio(env: Record<string, string>): Promise<{ url: string; pid: number }> {
  const args = ['server/studio.ts', '--port', String(await freePort())]
  const studio = spawn(process.execPath, args, {
    env: { PATH: `${process.cwd()}/node_modules/.bin:${process.env.PATH}`, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((done) => studio.once('exit', done))
  atEnd(() => {
    studio.kill()
    return ended
  })
  let output = ''
  studio.stdout.on('data', (chunk) => (output += chunk))
  await eventually(() => expect(output).toMatch(/Studio is running/))
  return { url: /http:\S+/.exec(output)?.[0] ?? '', pid: studio.pid as number }
}

/** Studio on the table of the enquiries, wide enough for all columns: those that are out of sight are not made. */
async function openEnquiries(env: Record<string, string>): Promise<Page> {
  const { url } = await startStudio(env)
  const page = await browser.newPage({ viewport: { width: 4000, height: 1400 } })
  atEnd(() => page.close())
  await page.goto(url)
  await page.getByText('Quvera_Form', { exact: true }).first().click()
  await eventually(async () => expect(await cells(page, 'Reference').count()).toBe(25))
  return page
}

const cells = (page: Page, column: string) => page.locator(`tbody td[data-grid-column-id="${column}"]`)

/** Tries to close an enquiry, the second one, as the first is marked from the start, and is refused. */
async function expectReadOnly(page: Page, owner: Record<string, string>) {
  const countClosed = () => onDatabase(owner, (db) => db.enquiry.count({ where: { status: 'Closed' } }))
  const before = await countClosed()
  const cell = cells(page, 'Status').nth(1)
  await cell.click()
  await cell.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Closed' }).click()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Save 1 row' }).click()
  await page.getByRole('button', { name: 'yes, write to db' }).click()
  const refusal = page.getByText(/permission denied|failed/i)
  await refusal.first().waitFor()
  expect(await countClosed()).toBe(before)
}

/** The TCP ports at which a process listens. */
async function listeningPorts(pid: number): Promise<number[]> {
  const files = (await readdir(`/proc/${pid}/fd`)).map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => ''))
  const inodes = (await Promise.all(files)).map((file) => /^socket:\[(\d+)\]$/.exec(file)?.[1])
  const sockets = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  return sockets
    .filter(([, , , state, , , , , , inode]) => state === '0A' && inodes.includes(inode))
    .map(([, address = '']) => Number.parseInt(address.split(':')[1] ?? '', 16))
}

describe('on the site’s own database', () => {
  async function aSeededFolder() {
    const env = { DATA_DIR: await aFolder('quvera-studio-') }
    await runProgram('prisma/seed.ts', [], env)
    return env
  }

  it('Studio shows the enquiries beside the running site, and changes none', async () => {
    const env = await aSeededFolder()
    const server = await aServer(env)
    const page = await openEnquiries(env)
    await expectReadOnly(page, env)
    expect((await submit(server.url, anOrder())).status).toBe(200)
    expect(await onDatabase(env, (db) => db.access.count({ where: { command: 'studio', what: 'everything' } }))).toBe(1)
  })

  it('it opens no port but its page’s, which refuses foreign host names and foreign pages', async () => {
    const { pid, url } = await startStudio(await aSeededFolder())
    const { origin, port } = new URL(url)
    expect(await listeningPorts(pid)).toEqual([Number(port)])
    const ask = (method: 'GET' | 'POST', path: string, headers: Record<string, string>) =>
      new Promise((done, fail) => {
        const sent = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
          answer.resume()
          done(answer.statusCode)
        })
        sent.on('error', fail).end(method === 'POST' ? '{}' : '')
      })
    const json = { 'content-type': 'application/json' }
    const own = { ...json, host: `localhost:${port}` }
    expect(await ask('GET', '/', { host: `127.0.0.1:${port}` })).toBe(200)
    expect(await ask('POST', '/bff', { ...own, origin })).not.toBe(403)
    expect(await ask('POST', '/bff', { ...own, origin: 'http://evil.example' })).toBe(403)
    for (const host of [`evil.example:${port}`, 'localhost.evil.example']) {
      expect(await ask('GET', '/', { host })).toBe(403)
      expect(await ask('POST', '/bff', { ...json, host })).toBe(403)
    }
  })
})

describe.skipIf(!existsSync('/usr/lib/postgresql'))('on a PostgreSQL server', () => {
  const { setUp } = createFaultFixtures()

  it('Studio shows the login quvera_readonly the enquiries and changes none, and does not start with the owner’s', async () => {
    const { databaseUrl } = await setUp()
    const owner = { DATABASE_URL: databaseUrl }
    expect(await runProgram('prisma/seed.ts', [], owner)).toMatchObject({ code: 0 })
    await administer(databaseUrl, await readFile('prisma/roles.sql', 'utf8'))
    const { code, stderr } = await runProgram('server/studio.ts', [], owner)
    expect([code, stderr]).toEqual([
      1,
      'Studio only reads, and the login postgres in DATABASE_URL may change enquiries. For this command set DATABASE_URL to the login quvera_readonly.\n',
    ])
    const readonly = Object.assign(new URL(databaseUrl), { username: 'quvera_readonly' }).href
    await expectReadOnly(await openEnquiries({ DATABASE_URL: readonly }), owner)
  })
})
