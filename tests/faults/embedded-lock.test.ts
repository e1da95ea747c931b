// One site at a time serves a data folder: others wait, and one of them takes over when the first is killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { anEmbeddedSite } from '../support/embedded-site.ts'
import { eventually } from '../support/eventually.ts'
import { freePort, startServer } from '../support/server-process.ts'
import { runProgram } from '../support/staff-command.ts'

const WAITS = 'another process has the database in'
const staffList = (DATA_DIR: string) => runProgram('dist/server/staff.js', ['export'], { DATA_DIR })

/** One more site on a folder. It need not get it. */
async function anotherSite(dataDir: string) {
  const server = await startServer({ DATA_DIR: dataDir, RATE_LIMIT_MAX: '0' }, { waitUntilReady: false })
  atEnd(() => server.stop('SIGKILL'))
  return server
}

it('of four sites that start at once on the folder of a killed one, one gets it; when that is killed, the next', async () => {
  const site = await anEmbeddedSite()
  await site.start()
  const { reference } = await submit(site.url, anOrder())
  await site.kill()
  const sites = await Promise.all(Array.from({ length: 4 }, () => anotherSite(site.dataDir)))
  const serving = () => sites.filter((each) => each.stdout().includes(' is at ') && each.process.signalCode === null)
  await eventually(() => expect(serving()).toHaveLength(1))
  await eventually(() => expect(sites.filter((each) => each.stdout().includes(WAITS))).toHaveLength(3))
  const [winner] = serving()
  expect((await submit(winner?.url ?? '', anOrder())).status).toBe(200)
  await winner?.stop('SIGKILL')
  await eventually(() => expect(serving()).toHaveLength(1))
  expect((await submit(serving()[0]?.url ?? '', anOrder())).status).toBe(200)
  const { stdout } = await staffList(site.dataDir)
  expect(stdout.match(/QV-\w{6}/g)).toHaveLength(3)
  expect(stdout).toContain(reference)
})

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

it('lock files of a killed PostgreSQL that name a living program do not keep the site from starting', async () => {
  const site = await anEmbeddedSite()
  await site.start()
  const { reference = '' } = await submit(site.url, anOrder())
  await site.kill()
  const living = `${process.pid}\n${site.dataDir}/postgres\n1\n5432\n${site.dataDir}\n`
  await writeFile(join(site.dataDir, 'postgres/postmaster.pid'), living)
  await writeFile(join(site.dataDir, '.s.PGSQL.5432.lock'), living)
  await site.start()
  expect((await staffList(site.dataDir)).stdout).toContain(reference)
})
