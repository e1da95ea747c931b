import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { asPostgres, isUp, ownedByPostgres } from './postgres-server.ts'
import { freePort } from './server-process.ts'

const PROGRAM = '/usr/sbin/pgbouncer'

/** Debian's package; the tests that need it are passed over where it is not. */
export const hasPgBouncer = existsSync(PROGRAM)

/** A PgBouncer in transaction mode in front of the server of `url`, and otherwise as it is unless `setting` says more. */
export async function startPgBouncer(url: string, setting = '') {
  const target = new URL(url)
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'quvera-pgbouncer-'))
  const settings = join(folder, 'pgbouncer.ini')
  await writeFile(join(folder, 'users'), `"${target.username}" ""\n`)
  await writeFile(
    settings,
    `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${folder}/users
pool_mode = transaction
${setting}
`,
  )
  await ownedByPostgres(folder)
  const pooler = spawn(...asPostgres([PROGRAM, settings]), { stdio: 'ignore', cwd: '/' })
  const through = Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href
  await eventually(() => isUp(through))
  return {
    /** The same database through it. */
    url: through,
    async close() {
      pooler.kill('SIGKILL')
      await rm(folder, { recursive: true })
    },
  }
}
