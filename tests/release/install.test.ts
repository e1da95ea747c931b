// The README's commands work with what a newcomer has: the Node of the system, npm 10, and nothing else.
// Not in `npm test`: each case installs all packages from the registry, and the last one a Debian too.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'

/** Node 20 and 22 come with it. */
const NPM = 'npm@10.9.9'
const INSTALL = 'npm ci --no-audit --no-fund'
const TEST = 'npm exec -- vitest run --config tests/vitest.config.ts'
/** Copied into the Debian: how this machine finds and trusts hosts, and the registry it uses. */
const NETWORK = ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt', '/root/.npmrc']
const canMakeDebian = process.getuid?.() === 0 && spawnSync('debootstrap', ['--version']).status === 0

/** A shell of a newcomer, who stands in a copy of the last commit. */
interface Newcomer {
  command(line: string): [program: string, args: string[]]
  folder: string
  env: Record<string, string | undefined>
}

function type({ command, folder, env }: Newcomer, line: string): string {
  const [program, args] = command(line)
  return execFileSync(program, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function unpackProject(folder: string) {
  const archive = execFileSync('git', ['archive', 'HEAD'], { maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
}

/** @returns the folder of its program */
function installNpm10(folder: string): string {
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, NPM], { stdio: 'ignore' })
  return 'node_modules/.bin'
}

/** On this machine, without the Node that `npm ci` installed here, and in a folder whose name needs quotes. */
async function aNewcomer(): Promise<Newcomer> {
  const folder = await aFolder('quvera install ü ', tmpdir())
  const npm = await aFolder('quvera-npm-', tmpdir())
  const programs = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))
  const PATH = [join(npm, installNpm10(npm)), ...programs].join(delimiter)
  unpackProject(folder)
  return {
    command: (line) => ['bash', ['-c', line]],
    folder,
    env: { HOME: process.env.HOME, PATH, TZ: 'America/Los_Angeles', LANG: 'hi_IN.UTF-8' },
  }
}

/** On a Debian with nothing but Node and npm. What is started there ends together with its first command. */
async function aNewcomerOnDebian(): Promise<Newcomer> {
  const root = await aFolder('quvera-debian-', tmpdir())
  execFileSync('debootstrap', ['--variant=minbase', 'stable', root], { stdio: ['ignore', 'ignore', 'inherit'] })
  for (const file of NETWORK.filter(existsSync)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    copyFileSync(file, join(root, file))
  }
  copyFileSync(process.execPath, join(root, 'usr/bin/node'))
  const npm = join('/opt', installNpm10(join(root, 'opt')))
  mkdirSync(join(root, 'site'))
  unpackProject(join(root, 'site'))
  const enter = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" sh -c "cd /site && $1"'
  const { NODE_EXTRA_CA_CERTS } = process.env
  return {
    command: (line) => ['unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, root, line]],
    folder: root,
    env: { HOME: '/root', PATH: `${npm}:/usr/sbin:/usr/bin:/sbin:/bin`, NODE_EXTRA_CA_CERTS },
  }
}

/** Ends all that was started with a process. */
function end(site: ChildProcess, signal: NodeJS.Signals) {
  if (site.exitCode === null && site.signalCode === null) process.kill(-(site.pid as number), signal)
}

/** Runs `npm start`, stores an order, ends the site by Ctrl-C or harder, and does it once more. */
async function expectOrdersKept(newcomer: Newcomer, signal: NodeJS.Signals) {
  const PORT = String(await freePort())
  const url = `http://127.0.0.1:${PORT}`
  const references: string[] = []
  for (const order of [anOrder(), anOrder()]) {
    const [program, args] = newcomer.command('npm start')
    const env = { ...newcomer.env, PORT }
    const site = spawn(program, args, { cwd: newcomer.folder, env, stdio: 'inherit', detached: true })
    const ended = new Promise((done) => site.once('close', done))
    atEnd(() => end(site, 'SIGKILL'))
    await eventually(async () => (await fetch(`${url}/readyz`)).ok)
    references.push(String((await submit(url, order)).reference))
    end(site, signal)
    await ended
  }
  const listed = type(newcomer, 'npm run -s staff -- export')
  for (const reference of references) expect(listed).toContain(reference)
}

describe('npm ci and npm start', { timeout: 1_200_000 }, () => {
  it('work with npm 10 and the Node of the system, as do tests that put paths into lines of bash', async () => {
    const newcomer = await aNewcomer()
    type(newcomer, INSTALL)
    await expectOrdersKept(newcomer, 'SIGINT')
    type(newcomer, `${TEST} tests/server/operations/staff.test.ts`)
  })

  it('work where scripts of packages are not run', async () => {
    const newcomer = await aNewcomer()
    type(newcomer, `${INSTALL} --ignore-scripts`)
    await expectOrdersKept(newcomer, 'SIGINT')
  })

  it.skipIf(!canMakeDebian)('work on a bare Debian, as do tests with a browser', async () => {
    const newcomer = await aNewcomerOnDebian()
    type(newcomer, INSTALL)
    await expectOrdersKept(newcomer, 'SIGKILL')
    type(newcomer, `${TEST} tests/e2e/first-order.test.ts`)
  })
})
