// Prisma Studio shows and changes enquiries beside the running site, as far as its database role may,
// and refuses requests of foreign pages.
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
import { runProgram, staff } from '../support/staff-command.ts'
import { onDatabase, storeEnquiry } from '../support/stored-enquiry.ts'
import { administer } from '../support/test-database.ts'

const HAS_POSTGRES = existsSync('/usr/lib/postgresql')
const PASSWORD = 'only-for-this-test'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

/** Studio as `npm run studio` starts it, with the short links that it prints, by what they show. */
async function startStudio(env: Record<string, string>): Promise<{ links: Map<string, string>; pid: number }> {
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
  const links = [...output.matchAll(/^ {2}(http:\S+) +(.+)$/gm)].map(
    ([, link = '', shows = '']) => [shows, link] as const,
  )
  return { links: new Map(links), pid: studio.pid as number }
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

async function openStudio(env: Record<string, string>): Promise<Page> {
  return openPage((await startStudio(env)).links.get(ALL))
}

const ALL = 'the enquiries, newest first'
const MAILS = 'bounced and failed mails'

async function openPage(address = ''): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  atEnd(() => page.close())
  await page.goto(address)
  return page
}

/** Back to the first of the three pages. */
async function toFirstPage(page: Page): Promise<void> {
  await page.locator('button:has(svg.lucide-chevrons-left)').click()
  await page.locator('tbody tr').nth(24).waitFor()
}

/** The cells of a column on the page that is shown, from top to bottom. */
async function cells(page: Page, column: string): Promise<string[]> {
  return page.locator(`tbody td[data-grid-column-id="${column}"]`).allInnerTexts()
}

/** What staff see: the rows of each page, until the last. */
async function allRows(page: Page): Promise<string[]> {
  const seen: string[] = []
  for (const rows of [25, 25, 10]) {
    await eventually(async () => {
      const shown = await cells(page, 'Reference')
      expect(shown).toHaveLength(rows)
      for (const reference of shown) expect(seen).not.toContain(reference)
    })
    seen.push(...(await cells(page, 'Reference')))
    if (rows === 25) await page.locator('button:has(svg.lucide-chevron-right)').click()
  }
  return seen
}

/** The steps of the README, to the letter, on the second row: the first is marked from the start. */
async function setStatus(page: Page, status: string): Promise<void> {
  const cell = page.locator('tbody td[data-grid-column-id="Status"]').nth(1)
  await cell.click()
  await cell.click()
  await page.getByRole('dialog').getByRole('button', { name: status }).click()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Save 1 row' }).click()
  await page.getByRole('button', { name: 'yes, write to db' }).click()
}

/** References as the staff command has them, newest first. */
async function expected(env: Record<string, string>): Promise<string[]> {
  const { stdout } = await staff(['export', '--json'], env)
  return JSON.parse(stdout).map(({ Reference }: { Reference: string }) => Reference)
}

async function secondStatus(env: Record<string, string>): Promise<string> {
  const { stdout } = await staff(['export', '--json'], env)
  return JSON.parse(stdout)[1].Status
}

/** Studio on its first page, after all pages held what the list of staff holds. */
async function openOnAllRows(env: Record<string, string>): Promise<Page> {
  const page = await openStudio(env)
  expect(await allRows(page)).toEqual(await expected(env))
  await toFirstPage(page)
  return page
}

describe('Prisma Studio', () => {
  it('opens on all enquiries, newest first, beside the running site, and sets a status', async () => {
    const env = { DATA_DIR: await aFolder('quvera-studio-') }
    await runProgram('prisma/seed.ts', [], env)
    await aServer(env)

    const page = await openOnAllRows(env)
    expect(await secondStatus(env)).toBe('New')
    await setStatus(page, 'Contacted')
    await eventually(async () => expect(await secondStatus(env)).toBe('Contacted'))
    const [, second = ''] = await expected(env)
    expect((await staff(['show', second], env)).stdout).toMatch(/^Status +New → Contacted, [^\n]* by quvera$/m)
    expect(await onDatabase(env, (db) => db.access.count({ where: { command: 'studio', what: 'everything' } }))).toBe(1)
  }, 120_000)

  it('that was there before the site gives it the database, and goes on with it', async () => {
    const env = { DATA_DIR: await aFolder('quvera-studio-') }
    await runProgram('prisma/seed.ts', [], env)
    const page = await openStudio(env)
    await eventually(async () => expect(await cells(page, 'Reference')).toHaveLength(25))
    const server = await aServer(env)
    const { reference = '' } = await submit(server.url, anOrder())
    await page.reload()
    await eventually(async () => expect(await cells(page, 'Reference')).toContain(reference))
    await server.stop()
    await page.reload()
    await eventually(async () => expect(await cells(page, 'Reference')).toContain(reference))
  }, 120_000)

  it('lets no other program of the machine into the embedded database', async () => {
    const env = { DATA_DIR: await aFolder('quvera-studio-') }
    await runProgram('prisma/seed.ts', [], env)
    const { pid, links } = await startStudio(env)
    const page = await openPage(links.get(ALL))
    await eventually(async () => expect(await cells(page, 'Reference')).toHaveLength(25))
    const ports = await listeningPorts(pid)
    expect(ports).toHaveLength(2)
    for (const port of ports)
      for (const user of ['postgres', 'quvera'])
        await expect(new pg.Client({ host: '127.0.0.1', port, user, database: 'quvera' }).connect()).rejects.toThrow()
  }, 60_000)

  it('refuses requests under a foreign name, and those of foreign pages', async () => {
    const env = { DATA_DIR: await aFolder('quvera-studio-') }
    await runProgram('prisma/seed.ts', [], env)
    const { origin, port } = new URL((await startStudio(env)).links.get(ALL) ?? '')
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
    for (const path of ['/', '/new', '/bff'])
      for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example'])
        expect(await ask(path, { host, ...json }, path === '/bff' ? 'POST' : 'GET')).toBe(403)
    const own = { host: `localhost:${port}`, ...json }
    expect(await ask('/bff', { ...own, origin: 'http://evil.example' }, 'POST')).toBe(403)
    expect(await ask('/bff', { ...own, origin }, 'POST')).not.toBe(403)
  }, 60_000)

  it('shows by each short link what it promises, with the number to ring', async () => {
    const env = { DATA_DIR: await aFolder('quvera-studio-') } // Studio cannot use a socket that a URL names
    await staff(['migrate'], env)
    const references: Record<string, string[]> = {}
    let undelivered: string[] = []
    await onDatabase(env, async (db) => {
      references['nobody has answered'] = [await storeEnquiry(db)]
      const done = { status: 'Contacted' } as const
      await storeEnquiry(db, done)
      references['suspected spam'] = [await storeEnquiry(db, { ...done, suspectedSpam: true })]
      references['with a note'] = [await storeEnquiry(db, { ...done, note: 'rings back' })]
      await storeEnquiry(db, done, { Acknowledgement: 'Bounced' })
      await storeEnquiry(db, done, { Notice: 'Failed' })
      const found = await db.mail.findMany({ where: { status: { not: 'Delivered' } }, orderBy: { id: 'desc' } })
      undelivered = found.map(({ id }) => String(id))
    })
    references[MAILS] = undelivered
    const { links: addresses } = await startStudio(env)
    const pathOf = (link: string) => new URL(link).pathname
    const documented = [
      ...(await readFile('docs/staff.md', 'utf8')).matchAll(/\[([\w ,]+)\]\((http:\/\/localhost:5555\/\S+)\)/g),
    ]
    expect(documented.map(([, shows, link = '']) => [shows, pathOf(link)])).toEqual(
      [...addresses].map(([shows, link]) => [shows, pathOf(link)]),
    )
    expect([...addresses.keys()]).toEqual([ALL, ...Object.keys(references)])
    for (const [title, rows] of Object.entries(references)) {
      const page = await openPage(addresses.get(title))
      await eventually(async () => expect(await cells(page, title === MAILS ? 'Id' : 'Reference'), title).toEqual(rows))
      if (title !== MAILS) expect(await cells(page, 'Mobile')).toEqual(['9876543210'])
    }
  }, 120_000)

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

    it('shows the owner all enquiries and sets a status', async () => {
      const { owner } = await aServerDatabase()
      const page = await openOnAllRows({ DATABASE_URL: owner })
      await setStatus(page, 'Closed')
      await eventually(async () => expect(await secondStatus({ DATABASE_URL: owner })).toBe('Closed'))
    }, 120_000)

    it('shows the read-only role all enquiries, and keeps what it may not set', async () => {
      const { readonly } = await aServerDatabase()
      const page = await openOnAllRows({ DATABASE_URL: readonly })
      await setStatus(page, 'Closed')
      await page
        .getByText(/permission denied|failed/i)
        .first()
        .waitFor()
      expect(await secondStatus({ DATABASE_URL: readonly })).toBe('New')
    }, 120_000)
  })
})
