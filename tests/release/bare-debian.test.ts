// The README's commands work on a Debian with nothing but Node and npm. The test needs root and debootstrap.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'

const NPM = 'npm@10.9.9'
/** Copied where they are: how this machine finds and trusts hosts, and the registry it uses. */
const NETWORK = ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt', '/root/.npmrc']
const canTry = process.getuid?.() === 0 && spawnSync('debootstrap', ['--version']).status === 0

/** The environment within, in which commands end together with the first one. */
function enter(root: string, command: string): [string, string[]] {
  const inside = `mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" sh -c "cd /site && $1"`
  return ['unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', inside, root, command]]
}

async function aBareDebian(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'quvera-debian-'))
  atEnd(async () => void spawnSync('rm', ['-rf', '--one-file-system', root]))
  execFileSync('debootstrap', ['--variant=minbase', 'stable', root], { stdio: ['ignore', 'ignore', 'inherit'] })
  copyFileSync(process.execPath, join(root, 'usr/bin/node'))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', join(root, 'opt'), NPM], { stdio: 'inherit' })
  for (const program of ['npm', 'npx']) {
    const script = `#!/bin/sh\nexec node /opt/node_modules/npm/bin/${program}-cli.js "$@"\n`
    writeFileSync(join(root, 'usr/bin', program), script, { mode: 0o755 })
  }
  for (const file of NETWORK.filter(existsSync)) {
    mkdirSync(join(root, file, '..'), { recursive: true })
    copyFileSync(file, join(root, file))
  }
  mkdirSync(join(root, 'site'))
  const archive = execFileSync('git', ['archive', 'HEAD'], { maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', join(root, 'site')], { input: archive })
  return root
}

it.skipIf(!canTry)(
  'npm ci, npm start and the tests work on a bare Debian',
  async () => {
    const root = await aBareDebian()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const { NODE_EXTRA_CA_CERTS } = process.env
    const env = {
      HOME: '/root',
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      PORT: String(port),
      ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
    }
    const run = (command: string) =>
      execFileSync(...enter(root, command), { env, stdio: ['ignore', 'inherit', 'inherit'] })

    run('npm ci --no-audit --no-fund')
    const site = spawn(...enter(root, 'npm start'), { env, stdio: 'inherit' })
    const ended = new Promise((done) => site.once('close', done))
    await eventually(async () => (await fetch(`${url}/readyz`)).ok)
    const { reference } = await submit(url, anOrder())
    site.kill('SIGKILL')
    await ended
    const listed = execFileSync(...enter(root, 'npm run -s staff -- export'), { env, encoding: 'utf8' })
    expect(listed).toContain(reference)
    // The browser brings its libraries, and the tests their PostgreSQL.
    run('npm exec -- vitest run --config tests/vitest.config.ts tests/e2e/first-order.test.ts')
  },
  1_200_000,
)
