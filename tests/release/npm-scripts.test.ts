// npm start takes its server along when it ends, and the npm scripts say plainly what is wrong or missing.
import { type ChildProcess, spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { scratch } from '../support/scratch.ts'
import { freePort } from '../support/server-process.ts'
import { runShell } from '../support/staff-command.ts'
import { createTestDatabase } from '../support/test-database.ts'

/** Runs a script of package.json without the build that precedes it. */
function npm(args: string[], env: Record<string, string>): { child: ChildProcess; output(): string } {
  const child = spawn('npm', ['--ignore-scripts', ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // Also what npm may have left behind.
  atEnd(() => {
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
  atEnd(database.drop)
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

it('npm test tells of a forgotten migration first, and runs nothing after it', async () => {
  const folder = await mkdtemp(join(scratch, 'quvera-forgotten-'))
  atEnd(() => rm(folder, { recursive: true }))
  for (const path of ['package.json', 'prisma', 'server', 'shared'])
    await cp(path, join(folder, path), { recursive: true })
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  const schema = join(folder, 'prisma/schema.prisma')
  await writeFile(
    schema,
    (await readFile(schema, 'utf8')).replace(/^ {2}mobile .*$/m, '$&\n  city String @default("")'),
  )
  const now = new Date()
  await utimes(join(folder, 'server/database/generated/client.ts'), now, now) // else it is generated anew, from the network
  const { code, stdout, stderr } = await runShell(`cd ${folder} && npm test`, { HOME: process.env.HOME ?? '' })
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^prisma\/schema\.prisma has changes without a migration\. npm run migration -- WHAT writes it:$/m,
  )
  expect(stderr).toContain('ADD COLUMN     "city" TEXT')
  expect(stdout).not.toContain('Test Files')
})

it('without Chromium the tests say in one sentence what is missing, and what runs the rest', async () => {
  const folder = await mkdtemp(join(scratch, 'quvera-no-chromium-'))
  atEnd(() => rm(folder, { recursive: true }))
  const CHROMIUM = join(folder, 'chromium')
  const missing = 'error while loading shared libraries: libnss3.so: cannot open shared object file'
  await writeFile(CHROMIUM, `#!/bin/sh\necho '${missing}' >&2\nexit 127\n`, { mode: 0o755 })
  const test = (options: string) =>
    runShell(`node_modules/.bin/vitest run --config tests/vitest.config.ts ${options}`, { CHROMIUM })
  const stopped = await test('--project client --project e2e')
  expect(stopped.code).toBe(1)
  expect(stopped.stderr).toContain(`Chromium does not start here (${missing}). Install one`)
  expect(stopped.stderr).toContain('the rest runs: npm test -- --project shared --project server')
  expect(stopped.stdout).not.toContain('✓')
  expect(await test('--project shared --project server tests/lock')).toMatchObject({ code: 0 })
})

it.each(['dev', 'studio'])('npm run %s tells in one line what is wrong with a variable', async (script) => {
  const { child, output } = npm(['run', '-s', script], { PORT: 'eighty' })
  expect(await new Promise((done) => child.once('close', done))).toBe(1)
  expect(output()).toMatch(/^The environment has a problem:\nPORT [^\n]+\n$/)
})
