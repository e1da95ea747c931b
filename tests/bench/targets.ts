import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { openForSite } from '../../server/database/open.ts'
import { findPrograms } from '../../server/embedded/programs.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { type PostgresServer, startPostgresServer } from '../support/postgres-server.ts'
import { freePort } from '../support/server-process.ts'
import { administer, migrations } from '../support/test-database.ts'
import { type HttpLoad, type Measured, measureHttp, postOrder } from './http-load.ts'

export type OrderMeasured = Measured & { cpuMicrosAnOrder: number }

/** A server of the version that the site starts itself, with PostgreSQL's own settings. */
export async function startServerOfSameVersion(): Promise<PostgresServer> {
  const { postgres } = await findPrograms()
  return startPostgresServer(undefined, dirname(postgres))
}

export async function newDatabase(postgres: PostgresServer): Promise<string> {
  const name = `bench_${crypto.randomUUID().replaceAll('-', '')}`
  await administer(postgres.url, `CREATE DATABASE ${name}`)
  const url = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
  await (await openForSite({ url, dataDir: '', migrations, migrate: true })).close()
  return url
}

interface Program {
  name: string
  entry: string
  flags?: string[]
  path: string
  env?: Record<string, string>
}

/** A server process that takes orders at `path`. */
export async function startHttpTarget(postgres: PostgresServer, program: Program) {
  const { name, entry, flags = [], path, env = {} } = program
  const port = await freePort()
  const child = spawn(process.execPath, [...flags, resolve(entry)], {
    stdio: 'inherit',
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      ...(env.DATA_DIR ? {} : { DATABASE_URL: await newDatabase(postgres) }),
      RATE_LIMIT_MAX: '0',
      LOG_LEVEL: 'fatal', // a process that is stopped and goes on finds its queries timed out
      ...env,
    },
  })
  await eventually(async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0, 20_000)
  return {
    name,
    async measure(load: Pick<HttpLoad, 'connections' | 'seconds' | 'perSecond'>): Promise<OrderMeasured> {
      child.kill('SIGCONT')
      const before = await cpuMicros(child.pid ?? 0)
      const measured = await measureHttp({ ...load, port, request: () => postOrder(path) })
      const cpu = (await cpuMicros(child.pid ?? 0)) - before
      child.kill('SIGSTOP') // else what it still has to do, its mails above all, would be done at the expense of the next
      if (measured.failed) throw new Error(`${name}: ${measured.failed} requests failed`)
      return { ...measured, cpuMicrosAnOrder: cpu / (measured.perSecond * load.seconds) }
    },
    close: () => child.kill('SIGKILL'),
  }
}

/** CPU time of a process so far. */
async function cpuMicros(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** Stores enquiries of the past, each with a notice and an acknowledgement in this state, due now. */
export async function fill(url: string, enquiries: number, status: 'Pending' | 'Sent') {
  const times = status === 'Pending' ? 'now(), NULL, NULL' : 'NULL, now(), now()'
  await administer(
    url,
    `WITH form AS (
       INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
       SELECT id, id::text, now() - n * interval '30 seconds', 'Asha Verma', id || '@shop.example', '9876543210', 24, 'Retailer', 'Quvera 300', '2026-11', id
       FROM (SELECT gen_random_uuid() AS id, n FROM generate_series(1, ${enquiries}) n) AS made
       RETURNING "Id"
     )
     INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "To", "Status", "DueAt", "FirstTriedAt", "SentAt")
     SELECT "Id", kind, receiver, '${status}', ${times}
     FROM form CROSS JOIN (VALUES ('Notice'::"Quvera_MailKind", '${STAFF}'), ('Acknowledgement', NULL)) AS owed (kind, receiver)`,
  )
  await administer(url, 'VACUUM ANALYZE')
}
