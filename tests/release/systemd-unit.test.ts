// deploy/quvera.service starts the site, lets it write where the documents say, and ends it in time.
// Not in `npm test`: it runs the unit's own command on a port, and asks systemd what it makes of the unit.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { atEnd } from '../support/at-end.ts'
import { aDatabase } from '../support/fixtures.ts'
import { freePort } from '../support/server-process.ts'
import { runShell } from '../support/staff-command.ts'

const unit = readFileSync('deploy/quvera.service', 'utf8')
const deploy = readFileSync('docs/deploy.md', 'utf8')
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

it.skipIf(!hasSystemd)('systemd understands all of it', async () => {
  const file = join(await aFolder('quvera-unit-'), 'quvera.service')
  writeFileSync(file, unit.replaceAll('/opt/quvera', process.cwd()))
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
  expect((stdout + stderr).split('\n').filter((line) => line.includes('quvera.service'))).toEqual([])
})

it('the site may write to each folder that the documents name', () => {
  const [, states = ''] = /^StateDirectory=(.+)$/m.exec(unit) ?? []
  const writable = states.split(' ').map((name) => `/var/lib/${name}`)
  const named = (deploy + readFileSync('docs/backup.md', 'utf8')).matchAll(/(?:DATA|BACKUP)_DIR=(\/[\w/-]+)/g)
  const folders = [...new Set([...named].map(([, folder = '']) => folder))]
  expect(folders.sort()).toEqual([writable[0], writable[1], `${writable[0]}/restored`].sort())
})

it('its command starts the site, which ends at SIGTERM', async () => {
  const [, program = '', words = ''] = /^ExecStart=\/opt\/quvera\/(\S+) (.+)$/m.exec(unit) ?? []
  const port = String(await freePort())
  const { PATH, HOME } = process.env
  const site = spawn(program, words.split(' '), {
    env: { PATH, HOME, ...(await aDatabase()), PORT: port },
    stdio: 'ignore',
  })
  const ended = new Promise((done) => site.once('exit', done))
  atEnd(() => site.kill('SIGKILL'))
  const [curl = ''] = /^curl .*127\.0\.0\.1:3000\/readyz$/m.exec(deploy) ?? []
  expect((await runShell(curl.replace('3000', port), {})).stdout).toBe('{"status":"ok"}')
  site.kill('SIGTERM')
  expect(await ended).toBe(0)
})
