import { type ChildProcess, spawn } from 'node:child_process'
import { afterEach, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'
import { createTestDatabase } from '../support/test-database.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action()
})

/** Runs a script of package.json without the build that precedes it. */
function npm(args: string[], env: Record<string, string>): { child: ChildProcess; output(): string } {
  const child = spawn('npm', ['--ignore-scripts', ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // Also what npm may have left behind.
  cleanUp.push(() => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // Everything has ended.
    }
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (output += chunk))
  return { child, output: () => output }
}

it('npm start that is told to end takes the server with it', async () => {
  const database = await createTestDatabase()
  cleanUp.push(database.drop)
  const port = String(await freePort())
  const { child } = npm(['start'], { ...database.env, PORT: port })
  const health = () => fetch(`http://127.0.0.1:${port}/healthz`)
  await eventually(async () => (await health()).ok, 30_000)
  const ended = new Promise((done) => child.once('close', done))
  child.kill('SIGTERM')
  await ended
  await expect(health()).rejects.toThrow()
})

it('the staff command prints its answer alone, whether there is a .env or not', async () => {
  const { child, output } = npm(['run', '-s', 'staff', '--', 'mails', '--help'], {})
  await new Promise((done) => child.once('close', done))
  expect(output()).toMatch(/^Usage: /)
})

it.each(['dev', 'studio'])('npm run %s tells in one line what is wrong with a variable', async (script) => {
  const { child, output } = npm(['run', '-s', script], { PORT: 'eighty' })
  expect(await new Promise((done) => child.once('close', done))).toBe(1)
  expect(output()).toMatch(/^The environment has a problem:\nPORT [^\n]+\n$/)
})
