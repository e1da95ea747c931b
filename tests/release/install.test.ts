// The README's two commands work with what a newcomer has: npm 10, the Node of the system and nothing else.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'

/** Node 20 and 22 come with it. */
const NPM = 'npm@10.9.9'

/** The environment without what npm has added: its own variables, and the Node that `npm ci` installed. */
const newcomer = {
  HOME: process.env.HOME,
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter),
  TZ: 'America/Los_Angeles',
  LANG: 'hi_IN.UTF-8',
}

/** A copy of the last commit without .git, in a folder whose name needs quotes. */
async function aFreshCopy(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'quvera install ü '))
  atEnd(() => rm(parent, { recursive: true, force: true }))
  const archive = execFileSync('git', ['archive', 'HEAD'], { maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', parent], { input: archive })
  return parent
}

function npm10(folder: string, ...args: string[]) {
  execFileSync('npx', ['--yes', NPM, ...args], { cwd: folder, env: newcomer, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Runs `npm start`, stores an order, ends the site, and starts it again. */
async function assertStoresAnOrder(folder: string) {
  const PORT = String(await freePort())
  const url = `http://127.0.0.1:${PORT}`
  const references: string[] = []
  for (const order of [anOrder(), anOrder()]) {
    const site = spawn('npm', ['start'], { cwd: folder, env: { ...newcomer, PORT }, stdio: 'inherit', detached: true })
    const ended = new Promise((done) => site.once('close', done))
    atEnd(async () => {
      if (site.exitCode !== null || site.signalCode !== null) return
      process.kill(-(site.pid as number))
      await ended
    })
    await eventually(async () => (await fetch(`${url}/readyz`)).ok, 120_000)
    references.push(String((await submit(url, order)).reference))
    process.kill(-(site.pid as number), 'SIGINT')
    await ended
  }
  const listed = execFileSync('npm', ['run', '-s', 'staff', '--', 'export'], {
    cwd: folder,
    env: newcomer,
    encoding: 'utf8',
  })
  for (const reference of references) expect(listed).toContain(reference)
}

it('npm ci of npm 10, then npm start on the Node of the system, stores an order', async () => {
  const folder = await aFreshCopy()
  npm10(folder, 'ci', '--no-audit', '--no-fund')
  expect(existsSync(join(folder, 'node_modules/.bin/node'))).toBe(true)
  await assertStoresAnOrder(folder)
  const test = 'node server/setup.mjs && vitest run --config tests/vitest.config.ts tests/server/staff.test.ts'
  npm10(folder, 'exec', '--call', test) // in which paths of this folder stand in lines of bash
})

it('npm ci --ignore-scripts, then npm start, stores an order', async () => {
  const folder = await aFreshCopy()
  npm10(folder, 'ci', '--ignore-scripts', '--no-audit', '--no-fund')
  await assertStoresAnOrder(folder)
})
