// The cluster of docs/failover.md loses and doubles no confirmed order when leaders, a standby and a site are killed.
// Not in `npm test`: it needs Patroni, etcd and HAProxy, and takes minutes.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openForSite } from '../../server/database/open.ts'
import { submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { report } from '../support/fault-fixtures.ts'
import { aServer } from '../support/fixtures.ts'
import { aUniqueOrder, type LoadResult, sendOrders } from '../support/load.ts'
import { asPostgres, isUp, ownedByPostgres, programs } from '../support/postgres-server.ts'
import { startProxy } from '../support/round-robin-proxy.ts'
import { freePort } from '../support/server-process.ts'
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
  const databases = new Map([1, 2, 3].map((n) => [`pg${n}`, `${network}1${n}`]))
  const sites = new Map([1, 2].map((n) => [`site${n}`, `${network}2${n}`]))
  const children = new Map<string, ChildProcess[]>()
  atEnd(async () => {
    for (const name of children.keys()) await kill(name)
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  })

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
  function launch(name: string, command: string[], env: NodeJS.ProcessEnv = {}) {
    const [program, args] = asPostgres(command)
    const all = { PATH: process.env.PATH, HOME: join(folder, name), ...env }
    const child = spawn(program, args, { cwd: '/', stdio: 'ignore', env: all })
    children.set(name, [...(children.get(name) ?? []), child])
  }
  function start(name: string) {
    launch(name, [ETCD], parseEnv(fileOf('etcd', name, databases.get(name) ?? '')))
    launch(name, [PATRONI, join(folder, name, 'patroni.yml')])
  }
  async function kill(name: string) {
    for (const child of children.get(name) ?? []) child.kill('SIGKILL')
    children.delete(name)
    await killAllOf(join(folder, name, '/'))
  }
  async function members() {
    const ask = (address: string) =>
      fetch(`http://${address}:${ports.get('8008')}/cluster`, { signal: AbortSignal.timeout(3000) })
    const answer = await Promise.any([...databases.values()].map(ask))
    return ((await answer.json()) as { members: { name: string; role: string; state: string }[] }).members
  }
  async function untilWhole() {
    await eventually(async () => {
      const found = await members()
      expect(found.map(({ role }) => role).sort()).toEqual(['leader', 'replica', 'sync_standby'])
      for (const { state } of found) expect(state).toMatch(/running|streaming/)
    })
  }
  async function nameOf(role: string) {
    const found = (await members()).find((member) => member.role === role)
    if (!found) throw new Error(`None is ${role}`)
    return found.name
  }
  async function switchOver() {
    const [, words = ''] = /`patronictl -c \S+ (switchover .*?)`/.exec(page) ?? []
    await run(...asPostgres(['patronictl', '-c', join(folder, 'pg1', 'patroni.yml'), ...words.split(' ')]))
  }

  for (const name of [...databases.keys(), ...sites.keys()]) await mkdir(join(folder, name))
  for (const [name, address] of databases)
    await writeFile(join(folder, name, 'patroni.yml'), fileOf('patroni.yml', name, address))
  for (const [name, address] of sites)
    await writeFile(join(folder, name, 'haproxy.cfg'), fileOf('haproxy.cfg', name, address))
  await ownedByPostgres(folder)
  for (const name of databases.keys()) start(name)
  for (const name of sites.keys()) launch(name, [HAPROXY, '-db', '-f', join(folder, name, 'haproxy.cfg')])
  await untilWhole()
  const addressAt = (site: string, login: string) => `postgresql://${login}@${site}:${ports.get('5000')}`
  const [first = '', second = ''] = sites.values()
  const superuser = addressAt(first, `postgres:${PASSWORD}`)
  await eventually(() => isUp(`${superuser}/postgres`))
  for (const [, sql = ''] of page.matchAll(/ -c "([^"]+)"/g))
    await administer(`${superuser}/postgres`, sql.replace('…', PASSWORD))
  /** The site's database by way of the HAProxy of each site. */
  const urls = [first, second].map((site) => `${addressAt(site, `quvera:${PASSWORD}`)}/quvera`)
  for (const url of urls) await eventually(() => isUp(url))
  return { urls, start, kill, nameOf, switchOver, untilWhole }
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
  const resend = await startFakeResend()
  atEnd(resend.close)
  const mails = { ...sendingThrough(resend), MAIL_LEASE_SECONDS: '2', MAIL_RETRY_SECONDS: '1' }
  const env = { RATE_LIMIT_MAX: '0', LOG_LEVEL: 'warn', TRUST_PROXY: '127.0.0.1', ...mails }
  const sites = await Promise.all(cluster.urls.map((url) => aServer({ DATABASE_URL: url, ...env })))
  const proxy = await startProxy(sites.map(({ url }) => url))
  atEnd(proxy.close)

  const seconds: Record<string, number> = {}
  const loads: LoadResult[] = []
  /** What is killed under load; then the load goes on until 1000 orders are confirmed. */
  async function under(name: string, fault: () => unknown) {
    async function kill() {
      const start = performance.now()
      await fault()
      await eventually(async () => (await submit(proxy.url, aUniqueOrder())).status === 200)
      seconds[name] = Math.round((performance.now() - start) / 100) / 10
    }
    loads.push(await sendOrders({ url: () => proxy.url, orders: 1000, retry: true, at: { 300: kill } }))
  }
  for (const role of ['leader', 'sync_standby', 'leader']) {
    const name = await cluster.nameOf(role)
    await under(`${role} ${name}`, () => cluster.kill(name))
    cluster.start(name)
    await cluster.untilWhole()
  }
  await under('switchover', cluster.switchOver)
  await under('site', () => sites[0]?.stop('SIGKILL'))

  const { db, close } = await openForSite({ url: cluster.urls[1], dataDir: '', migrations })
  atEnd(close)
  const sent = loads.flatMap((load) => load.sent)
  const acknowledged = new Map(loads.flatMap((load) => [...load.acknowledged]))
  const result = await audit(db, { sent, acknowledged }, resend)
  const statuses = loads.map((load) => Object.fromEntries(load.statuses))
  report('Patroni: served again after', { seconds, statuses, ...result })
  expect(statuses.flatMap(Object.keys).filter((status) => status !== '200' && status !== '503')).toEqual([])
  expect(statuses.at(-1)).toEqual({ 200: 1000 })
  expect(result.acknowledged).toBe(5000)
  expectNothingLost(result)
})
