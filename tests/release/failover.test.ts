// The cluster of docs/failover.md loses and doubles no confirmed order when leaders, a standby and a site are killed.
// The test needs Patroni, etcd and HAProxy.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openForSite } from '../../server/open-database.ts'
import { submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { report } from '../support/fault-fixtures.ts'
import { aUniqueOrder, type LoadResult, sendOrders } from '../support/load.ts'
import { asPostgres, isUp, ownedByPostgres, programs } from '../support/postgres-server.ts'
import { startProxy } from '../support/round-robin-proxy.ts'
import { freePort, startServer } from '../support/server-process.ts'
import { administer, migrations } from '../support/test-database.ts'

const run = promisify(execFile)

const ETCD = '/usr/bin/etcd'
const PATRONI = '/usr/bin/patroni'
const HAPROXY = '/usr/sbin/haproxy'
const missingPrograms = [ETCD, PATRONI, HAPROXY, '/usr/lib/postgresql'].filter((path) => !existsSync(path))

const PASSWORD = 'a-password'
const page = readFileSync('docs/failover.md', 'utf8')

/** What docs/failover.md sets up, with its files: here on addresses of the loopback network, with free ports. */
async function startPatroniCluster() {
  const folder = await mkdtemp(join(tmpdir(), 'quvera-patroni-'))
  const byte = () => 1 + Math.floor(Math.random() * 250)
  const network = `127.${byte()}.${byte()}.`
  const ports = new Map<string, number>()
  for (const port of ['2379', '2380', '5432', '8008', '5000']) ports.set(port, await freePort())
  const bin = await programs()

  /** A file of deploy/failover, changed for this machine as the page says. */
  function fileOf(file: string, name: string, address: string): string {
    const text = readFileSync(`deploy/failover/${file}`, 'utf8')
    const [, own = ''] = /^sed -i '(.*)' /m.exec(page) ?? []
    const script = own.replace('pg1', name).replace('10.0.0.11', address).replaceAll('…', PASSWORD)
    return execFileSync('sed', [script], { input: text, encoding: 'utf8' })
      .replaceAll('10.0.0.', network)
      .replaceAll('127.0.0.1:', `${address}:`)
      .replaceAll(/\b(2379|2380|5432|8008|5000)\b/g, (port) => String(ports.get(port)))
      .replaceAll('/usr/lib/postgresql/15/bin', bin)
      .replaceAll('/var/lib/', `${folder}/${name}/`)
      .replaceAll('/var/run/postgresql', `${folder}/${name}`)
      .replaceAll(/^ {2}(user|group) .*\n/gm, '') // all of it runs as the user postgres
  }
  const addresses = new Map([1, 2, 3].map((n) => [`pg${n}`, `${network}1${n}`]))
  const children = new Map<string, ChildProcess[]>()

  function launch(name: string, command: string[], env: NodeJS.ProcessEnv = {}) {
    const [program, args] = asPostgres(command)
    const home = join(folder, name)
    const child = spawn(program, args, {
      cwd: '/',
      stdio: 'ignore',
      env: { PATH: process.env.PATH, HOME: home, ...env },
    })
    children.set(name, [...(children.get(name) ?? []), child])
  }
  function start(name: string) {
    const flags = fileOf('etcd', name, addresses.get(name) ?? '')
    launch(name, [ETCD], parseEnv(flags))
    launch(name, [PATRONI, join(folder, name, 'patroni.yml')])
  }
  async function kill(name: string) {
    for (const child of children.get(name) ?? []) child.kill('SIGKILL')
    children.delete(name)
    await killAllOf(join(folder, name, '/'))
  }
  async function members(): Promise<{ name: string; role: string; state: string }[]> {
    const ask = (address: string) =>
      fetch(`http://${address}:${ports.get('8008')}/cluster`, { signal: AbortSignal.timeout(3000) })
    const answer = await Promise.any([...addresses.values()].map(ask))
    return ((await answer.json()) as { members: { name: string; role: string; state: string }[] }).members
  }
  const cluster = {
    /** The site's database by way of the HAProxy of each of two sites. */
    urls: [] as string[],
    start,
    kill,
    async nameOf(role: string) {
      const found = (await members()).find((member) => member.role === role)
      if (!found) throw new Error(`None is ${role}`)
      return found.name
    },
    async switchOver() {
      const [, words = ''] = /`patronictl -c \S+ (switchover .*?)`/.exec(page) ?? []
      await run(...asPostgres(['patronictl', '-c', join(folder, 'pg1', 'patroni.yml'), ...words.split(' ')]))
    },
    untilWhole: () =>
      eventually(async () => {
        const found = await members()
        const roles = found.map(({ role }) => role).sort()
        return (
          roles.join() === 'leader,replica,sync_standby' && found.every(({ state }) => /running|streaming/.test(state))
        )
      }, 90_000),
    async close() {
      for (const name of [...children.keys()]) await kill(name)
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
  try {
    for (const [name, address] of addresses) {
      await mkdir(join(folder, name))
      await writeFile(join(folder, name, 'patroni.yml'), fileOf('patroni.yml', name, address))
    }
    for (const [name, address] of [['site1', `${network}21`] as const, ['site2', `${network}22`] as const]) {
      await mkdir(join(folder, name))
      await writeFile(join(folder, name, 'haproxy.cfg'), fileOf('haproxy.cfg', name, address))
      cluster.urls.push(`postgresql://quvera:${PASSWORD}@${address}:${ports.get('5000')}/quvera`)
    }
    await ownedByPostgres(folder)
    for (const name of addresses.keys()) start(name)
    for (const name of ['site1', 'site2']) launch(name, [HAPROXY, '-db', '-f', join(folder, name, 'haproxy.cfg')])
    await cluster.untilWhole()
    const superuser = cluster.urls[0]?.replace('quvera:', 'postgres:').replace('/quvera', '/postgres') ?? ''
    await eventually(() => isUp(superuser))
    for (const [, sql = ''] of page.matchAll(/ -c "([^"]+)"/g)) await administer(superuser, sql.replace('…', PASSWORD))
    for (const url of cluster.urls) await eventually(() => isUp(url))
    return cluster
  } catch (error) {
    await cluster.close()
    throw error
  }
}

/** Kills, by pid, the processes whose command names a folder, and those that they started. */
async function killAllOf(folder: string): Promise<void> {
  for (;;) {
    const { stdout } = await run('ps', ['-eww', '-o', 'pid=,ppid=,stat=,args='])
    const all = stdout
      .split('\n')
      .map((line) => /^ *(\d+) +(\d+) +(\S+) (.*)/.exec(line) ?? [])
      .filter(([, , , stat = 'Z']) => !stat.startsWith('Z'))
    const named = new Set(all.filter(([, , , , args = '']) => args.includes(folder)).map(([, pid]) => pid))
    if (named.size === 0) return
    for (const [, pid, parent] of all) {
      if (!named.has(pid) && !named.has(parent)) continue
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {
        // It has ended meanwhile.
      }
    }
  }
}

it('two leaders, a standby and a site that docs/failover.md sets up die under load, and nothing confirmed is lost or doubled', {
  timeout: 400_000,
}, async ({ skip }) => {
  skip(missingPrograms.length > 0, `apt-get install patroni etcd-server haproxy postgresql: no ${missingPrograms}`)
  const cluster = await startPatroniCluster()
  atEnd(cluster.close)
  const resend = await startFakeResend()
  atEnd(resend.close)
  const sites = await Promise.all(
    cluster.urls.map((url) =>
      startServer({
        DATABASE_URL: url,
        ...sendingThrough(resend),
        RATE_LIMIT_MAX: '0',
        LOG_LEVEL: 'warn',
        TRUST_PROXY: '127.0.0.1',
        MAIL_LEASE_SECONDS: '2',
        MAIL_RETRY_SECONDS: '1',
      }),
    ),
  )
  for (const site of sites) atEnd(() => site.stop('SIGKILL'))
  const proxy = await startProxy(sites.map(({ url }) => url))
  atEnd(proxy.close)

  const seconds: Record<string, number> = {}
  const loads: LoadResult[] = []
  /** What is killed under load; then the load goes on until 1000 orders are confirmed. */
  async function under(name: string, fault: () => unknown) {
    async function kill() {
      const start = performance.now()
      await fault()
      await eventually(async () => (await submit(proxy.url, aUniqueOrder())).status === 200, 90_000)
      seconds[name] = Math.round((performance.now() - start) / 100) / 10
    }
    loads.push(await sendOrders({ url: () => proxy.url, orders: 1000, retry: true, at: { 300: kill } }))
  }
  async function killOf(role: string) {
    const name = await cluster.nameOf(role)
    await under(`${role} ${name}`, () => cluster.kill(name))
    cluster.start(name)
    await cluster.untilWhole()
  }
  await killOf('leader')
  await killOf('sync_standby')
  await killOf('leader')
  await under('switchover', cluster.switchOver)
  await under('site', () => sites[0]?.stop('SIGKILL'))

  const { db, close } = await openForSite({ url: cluster.urls[1], dataDir: '', migrations })
  atEnd(close)
  const all = {
    sent: loads.flatMap(({ sent }) => sent),
    acknowledged: new Map(loads.flatMap(({ acknowledged }) => [...acknowledged])),
  }
  const result = await audit(db, all, resend)
  const statuses = loads.map((load) => Object.fromEntries(load.statuses))
  report('Patroni: served again after', { seconds, statuses, ...result })
  expect(statuses.flatMap(Object.keys).filter((status) => status !== '200' && status !== '503')).toEqual([])
  expect(statuses.at(-1)).toEqual({ 200: 1000 })
  expect(result.acknowledged).toBe(5000)
  expectNothingLost(result)
})
