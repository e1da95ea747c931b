// systemd understands deploy/quvera.service, whose command starts the site.
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
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

it.skipIf(!hasSystemd)('systemd understands all of it', async () => {
  const file = join(await aFolder('quvera-unit-'), 'quvera.service')
  writeFileSync(file, unit.replaceAll('/opt/quvera', process.cwd()))
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
  expect((stdout + stderr).split('\n').filter((line) => line.includes('quvera.service'))).toEqual([])
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
  const [curl = ''] = /^curl .*127\.0\.0\.1:3000\/readyz$/m.exec(readFileSync('docs/deploy.md', 'utf8')) ?? []
  expect((await runShell(curl.replace('3000', port), {})).stdout).toBe('{"status":"ok"}')
  site.kill('SIGTERM')
  expect(await ended).toBe(0)
})
