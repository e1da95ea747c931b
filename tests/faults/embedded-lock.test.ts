// One site at a time serves a data folder; another one waits, and takes over when the first is killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { anEmbeddedSite } from '../support/embedded-site.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'
import { runProgram } from '../support/staff-command.ts'

const WAITS = 'another process has the database in'

it.skipIf(process.getuid?.() !== 0)(
  'of two containers on one volume, which do not see each other’s processes, one serves',
  async () => {
    const site = await anEmbeddedSite()
    const first = await site.start()
    const command = ['--pid', '--fork', '--mount-proc', process.execPath, resolve('dist/server/main.js')]
    const env = { PATH: process.env.PATH, DATA_DIR: site.dataDir, PORT: String(await freePort()) }
    const other = spawn('unshare', ['--kill-child', ...command], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(other, 'exit')
    atEnd(() => {
      other.kill('SIGKILL')
      return ended
    })
    let said = ''
    other.stdout.setEncoding('utf8').on('data', (chunk) => (said += chunk))
    await eventually(() => expect(said).toContain(WAITS))
    expect((await submit(site.url, anOrder())).status).toBe(200)
    await first.stop('SIGKILL')
    await eventually(() => expect(said).toContain(' is at '))
    expect((await submit(`http://127.0.0.1:${env.PORT}`, anOrder())).status).toBe(200)
  },
)

it('lock files of a killed PostgreSQL that name a living program hold up neither two staff commands at once nor the site', async () => {
  const site = await anEmbeddedSite()
  await site.start()
  const { reference = '' } = await submit(site.url, anOrder())
  await site.kill()
  const living = `${process.pid}\n${site.dataDir}/postgres\n1\n5432\n${site.dataDir}\n`
  await writeFile(join(site.dataDir, 'postgres/postmaster.pid'), living)
  await writeFile(join(site.dataDir, '.s.PGSQL.5432.lock'), living)
  const list = () => runProgram('dist/server/staff.js', ['export'], { DATA_DIR: site.dataDir })
  for (const { stdout } of await Promise.all([list(), list()])) expect(stdout).toContain(reference)
  await site.start()
})
