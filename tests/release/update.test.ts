// deploy/update.sh replaces a running site by the newest version, or leaves it as it was. Not in `npm test`: each version is
// installed and built anew. Emulated is systemctl, by a program that answers as it would and has this test start the site.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/listen.ts'
import { freePort } from '../support/server-process.ts'
import { runShell } from '../support/staff-command.ts'

const isRoot = process.getuid?.() === 0
/** The site's user: here is none called quvera. */
const [USER, UID] = ['nobody', 65534]

let folder: string
let site: string
let url: string
let port: string
let systemctl: Awaited<ReturnType<typeof listen>>
let running: ChildProcess | undefined
const output: string[] = []

const git = (where: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@quvera.test', '-C', where, ...args], {
    encoding: 'utf8',
  })
const at = (name: string) => join(folder, name)

async function stop() {
  if (!running || running.exitCode !== null || running.signalCode !== null) return
  const ended = once(running, 'exit')
  running.kill('SIGTERM')
  await ended
}

/** As `systemctl restart quvera` does: with the unit's command, in the site's folder, as its user. */
async function restart() {
  await stop()
  const [, words = ''] = /^ExecStart=\/opt\/quvera\/(.+)$/m.exec(readFileSync('deploy/quvera.service', 'utf8')) ?? []
  const [program = '', ...args] = words.split(' ')
  const env = { PATH: process.env.PATH, ENV_FILE: at('quvera.env') }
  running = spawn(join(site, program), args, {
    cwd: site,
    env,
    uid: UID,
    gid: UID,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  running.stderr?.on('data', (chunk) => output.push(String(chunk)))
}

/** Commits a change of one file to the repository that the site comes from. @returns the commit */
function release(file: string, change: (text: string) => string): string {
  const path = join(at('origin'), file)
  writeFileSync(path, change(readFileSync(path, 'utf8')))
  git(at('origin'), 'commit', '-qam', `Change ${file}`)
  return git(at('origin'), 'rev-parse', 'HEAD').trim()
}

const update = () =>
  runShell(`${join(site, 'deploy/update.sh')}`, {
    HOME: process.env.HOME ?? '',
    NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? '',
    PATH: `${at('bin')}:${process.env.PATH}`,
    WAIT: '20',
  })

const version = (where = site) => git(where, 'rev-parse', 'HEAD').trim()
const isReady = async () => (await fetch(`${url}/readyz`)).ok
const leftOver = () => globSync('/var/tmp/quvera-trial.*')

beforeAll(async () => {
  if (!isRoot) return
  folder = mkdtempSync(join(tmpdir(), 'quvera-update-'))
  chmodSync(folder, 0o755)
  site = at('site')
  port = String(await freePort())
  url = `http://127.0.0.1:${port}`
  systemctl = await listen(createServer((_, answer) => void restart().then(() => answer.end())))
  mkdirSync(at('bin'))
  const answers = `User) echo ${USER} ;; Environment) echo ENV_FILE=${at('quvera.env')} ;;`
  writeFileSync(
    at('bin/systemctl'),
    `#!/bin/sh\n[ "$1" = restart ] && exec curl -fsS ${systemctl.url}\ncase "\${3#--property=}" in ${answers} esac\n`,
    { mode: 0o755 },
  )
  mkdirSync(at('data'))
  execFileSync('chown', [USER, at('data')])
  writeFileSync(at('quvera.env'), `PORT=${port}\nDATA_DIR=${at('data')}\n`)
  // The files that git knows or would take, and what `npm ci` and `npm run build` made of them here.
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  })
  for (const file of files.split('\0').filter((name) => name && existsSync(name)))
    cpSync(file, join(at('origin'), file))
  git(at('origin'), 'init', '-q', '-b', 'main')
  git(at('origin'), 'add', '-A')
  git(at('origin'), 'commit', '-qm', 'The version that runs')
  execFileSync('git', ['clone', '-q', at('origin'), site])
  execFileSync('cp', ['-a', 'node_modules', 'dist', site])
  execFileSync('chmod', ['-R', 'go+rX', site])
  await restart()
  await eventually(isReady)
}, 300_000)

afterAll(async () => {
  if (!isRoot) return
  await stop()
  await systemctl.close()
  rmSync(folder, { recursive: true, force: true })
})

it.skipIf(!isRoot)('a site is updated, or left as it was', { timeout: 1_800_000 }, async () => {
  const first = version()
  const order = anOrder()
  const { reference } = await submit(url, order)
  expect(reference).toMatch(/^QV-/)
  const pid = running?.pid

  // Nothing is new.
  expect(await update()).toMatchObject({ code: 0, stdout: expect.stringContaining('is running already') })
  expect(running?.pid).toBe(pid)

  // A folder is left over, and the build fails.
  mkdirSync(at('site-new'))
  writeFileSync(at('site-new/package.json'), 'left over')
  release('client/main.ts', (text) => `${text}\nimport './missing.ts'\n`)
  const unbuilt = await update()
  expect(unbuilt.code, unbuilt.stderr).not.toBe(0)
  expect(unbuilt.stdout + unbuilt.stderr).toContain('missing.ts')
  expect([version(), running?.pid, await isReady(), existsSync(at('site-before'))]).toEqual([first, pid, true, false])

  // It is built, and does not start.
  release('client/main.ts', (text) => text.replace("\nimport './missing.ts'\n", ''))
  release('server/main.ts', (text) => `${text}\nthrow new Error('a fault of the new version')\n`)
  const unstarted = await update()
  expect(unstarted).toMatchObject({ code: 1, stderr: expect.stringContaining('the new version does not answer') })
  expect(unstarted.stderr).toContain('a fault of the new version')
  expect([version(), running?.pid, await isReady(), existsSync(at('site-before'))]).toEqual([first, pid, true, false])
  expect(leftOver()).toEqual([])

  // It starts on its own port, but not in the site's place.
  release('server/main.ts', (text) =>
    text.replace(/\nthrow .*\n/, `\nif (process.env.PORT === '${port}') process.exit(1)\n`),
  )
  const back = await update()
  expect(back).toMatchObject({ code: 1, stderr: expect.stringContaining('The one before runs again') })
  expect([version(), await isReady(), existsSync(at('site-failed'))]).toEqual([first, true, true])
  expect(await submit(url, order)).toMatchObject({ reference })

  // It works, and a second run changes nothing.
  const good = release('server/main.ts', (text) => text.replace(/\nif \(process.env.PORT .*\n/, ''))
  const updated = await update()
  expect(updated, updated.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('Updated.') })
  expect([version(), version(at('site-before')), await isReady()]).toEqual([good, first, true])
  expect(await submit(url, order)).toMatchObject({ reference })
  expect(await update()).toMatchObject({ code: 0, stdout: expect.stringContaining('is running already') })
  expect([version(), version(at('site-before')), await isReady()]).toEqual([good, first, true])
  expect(leftOver()).toEqual([])

  // A change in the site's own folder would be lost.
  writeFileSync(join(site, 'README.md'), 'changed')
  expect(await update()).toMatchObject({ code: 1, stderr: expect.stringContaining('were changed') })
})
