import { execFile, spawn } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { eventually } from './eventually.ts'
import { freePort } from './server-process.ts'

const run = promisify(execFile)

export interface PostgresServer {
  /** The maintenance database. */
  url: string
  start(): Promise<void>
  /** Kills every process of the server at once, as a power cut would. */
  kill(): Promise<void>
  /** Stops or resumes every process of the server, as a network that swallows packets would. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  close(): Promise<void>
}

/**
 * A PostgreSQL server of its own with default settings, fsync included, from the programs of the machine.
 * @param primary a server that this one follows as its standby
 * @param bin the folder of other programs
 */
export async function startPostgresServer(primary?: PostgresServer, bin?: string): Promise<PostgresServer> {
  bin ??= await programs()
  const folder = await mkdtemp(join(tmpdir(), 'quvera-postgres-'))
  const port = await freePort()
  await ownedByPostgres(folder)
  await chmod(folder, 0o700)
  const data = join(folder, 'data')
  const make = primary
    ? ['pg_basebackup', '-D', data, '-d', primary.url, '--write-recovery-conf', '--checkpoint=fast']
    : ['initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8']
  await run(...asPostgres([join(bin, make[0] ?? ''), ...make.slice(1)]), { cwd: '/' })
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`

  async function signal(name: NodeJS.Signals) {
    const postmaster = Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0])
    process.kill(postmaster, 'SIGSTOP') // so that no backend is born after the others are listed
    const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(postmaster)]).catch(() => ({ stdout: '' }))
    for (const pid of [...stdout.split('\n').map(Number).filter(Boolean), postmaster]) {
      try {
        process.kill(pid, name)
      } catch {
        // It has ended by itself meanwhile.
      }
    }
  }
  const server: PostgresServer = {
    url,
    async start() {
      const settings = `-p ${port} -k ${folder} -c timezone=Asia/Kolkata -c max_connections=200`
      const [command, args] = asPostgres([join(bin, 'postgres'), '-D', data, ...settings.split(' ')])
      spawn(command, args, { stdio: 'ignore', cwd: '/' })
      await eventually(() => isUp(url), 30_000)
    },
    async kill() {
      await signal('SIGKILL')
      await eventually(async () => !(await isUp(url).catch(() => false)))
      await sleep(200) // until the kernel has taken down the shared memory
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async close() {
      await signal('SIGCONT').catch(() => {})
      await signal('SIGKILL').catch(() => {})
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
  await server.start()
  return server
}

/** PostgreSQL and PgBouncer refuse to run as root. */
const isRoot = process.getuid?.() === 0

export function asPostgres(command: string[]): [string, string[]] {
  return isRoot
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', ...command]]
    : [command[0] ?? '', command.slice(1)]
}

export async function ownedByPostgres(folder: string): Promise<void> {
  if (isRoot) await run('chown', ['-R', 'postgres', folder])
}

/** Whether it answers; throws what keeps it from that. */
export async function isUp(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 500 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } finally {
    await client.end().catch(() => {})
  }
}

/** The folder of the server programs: Debian keeps them out of PATH. */
export async function programs(): Promise<string> {
  const root = '/usr/lib/postgresql'
  const versions = await readdir(root).catch(() => [])
  const newest = Math.max(0, ...versions.map(Number).filter(Boolean))
  if (newest) return join(root, String(newest), 'bin')
  const found = await run('sh', ['-c', 'dirname "$(command -v initdb)"']).catch(() => undefined)
  const path = found?.stdout.trim()
  if (!path || path === '.')
    throw new Error('This suite needs the server programs of PostgreSQL: apt-get install postgresql')
  return path
}
