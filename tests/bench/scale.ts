/** `npm run bench:scale`: start, memory, mails a second, and whether a backlog or a full table slows an order. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { aUniqueOrder } from '../support/load.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { measureHttp, post } from './http-load.ts'
import { median, missed, report } from './report.ts'
import { newDatabase } from './targets.ts'

const STARTS = 5
const MAIL_ROUNDS = 3
const quiet = { LOG_LEVEL: 'error', RATE_LIMIT_MAX: '0' }
const postgres = await startPostgresServer()

console.log('\nPostgreSQL')
await startAndMemory({ DATABASE_URL: await newDatabase(postgres) }, { firstMs: 450, megabytes: 220, growth: 30 })
const folder = await mkdtemp(join(tmpdir(), 'quvera-scale-'))
console.log('\nEmbedded database')
await (await startServer({ DATA_DIR: folder, ...quiet })).stop()
await startAndMemory({ DATA_DIR: folder })
await rm(folder, { recursive: true, force: true })

console.log('\nMails')
await mailsASecond(await newDatabase(postgres))

console.log('\nA backlog and a full table')
await backlogAndSize(await newDatabase(postgres))

await postgres.close()
console.log(missed.length ? `\nMISSED: ${missed.join(', ')}` : '\nok: all goals met')
process.exit(missed.length ? 1 : 0)

async function startAndMemory(
  env: Record<string, string>,
  goals?: { firstMs: number; megabytes: number; growth: number },
) {
  const starts: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const spawned = performance.now()
    const server = await startServer({ ...env, ...quiet }, { waitUntilReady: false })
    await untilAnswered(server.url)
    starts.push(performance.now() - spawned)
    await server.stop()
  }
  const first = median(starts)
  report(`first order answered, median of ${STARTS} starts, after`, first, 'ms', goals && { atMost: goals.firstMs })
  const server = await startServer({ ...env, ...quiet })
  await orders(server, 5000)
  report('memory after 5,000 orders', await megabytes(server), 'MB', goals && { atMost: goals.megabytes })
  await orders(server, 5000)
  const before = await megabytes(server)
  await orders(server, 10_000)
  report(
    'growth from 10,000 to 20,000 orders',
    (await megabytes(server)) - before,
    'MB',
    goals && { atMost: goals.growth },
  )
  await server.stop()
}

async function untilAnswered(url: string): Promise<void> {
  const order = aUniqueOrder()
  for (;;) {
    const answer = await submit(url, order).catch(() => undefined)
    if (answer?.status === 200) return
    await new Promise((done) => setTimeout(done, 5))
  }
}

async function orders(server: ServerProcess, count: number) {
  let left = count
  const client = async () => {
    while (left-- > 0) await submit(server.url, aUniqueOrder())
  }
  await Promise.all(Array.from({ length: 32 }, client))
}

/** Resident memory of the process. */
async function megabytes(server: ServerProcess): Promise<number> {
  const status = await readFile(`/proc/${server.process.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

async function mailsASecond(url: string) {
  const rounds: number[] = []
  for (let round = 0; round < MAIL_ROUNDS; round++) {
    const filling = await startServer({ DATABASE_URL: url, ...quiet })
    await orders(filling, 3000)
    await filling.stop()
    const resend = await startFakeResend() // a new one, which does not have the mails of other rounds to keep
    const sending = sendingThrough(resend)
    const server = await startServer({ DATABASE_URL: url, ...sending, ...quiet })
    const start = performance.now()
    const already = resend.mails.length
    await eventually(() => resend.mails.length >= 6000, 60_000)
    rounds.push((6000 - already) / ((performance.now() - start) / 1000))
    await server.stop()
    await resend.close()
  }
  report(`mails, median of ${MAIL_ROUNDS} rounds`, median(rounds), 'a second', { atLeast: 500 })
}

async function backlogAndSize(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const server = await startServer({ DATABASE_URL: url, ...quiet })
  const p50 = async () => {
    const port = Number(new URL(server.url).port)
    const request = () => post('/trpc/order.submit', aUniqueOrder())
    await measureHttp({ port, connections: 8, seconds: 1, perSecond: 100, request })
    return (await measureHttp({ port, connections: 8, seconds: 8, perSecond: 100, request })).p50Ms
  }
  const empty = await p50()
  report('p50 of an order, empty table', empty, 'ms')
  await fill(client, 50_000, 'Pending')
  const backlog = await p50()
  report('p50 with 100,000 mails waiting', backlog, `ms, ${(backlog / empty).toFixed(2)} ×`)
  await fill(client, 1_000_000, 'Sent')
  await client.query('VACUUM ANALYZE')
  const full = await p50()
  report('p50 with 1,000,000 enquiries', full, 'ms')
  report('that is', full / empty, '× the empty table', { atMost: 1.2 })
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN SELECT "Id" FROM "Quvera_Mail" WHERE "Status" = 'Pending' AND "Kind" = 'Staff' AND "NextAttemptAt" <= now()
     ORDER BY "NextAttemptAt" LIMIT 20 FOR UPDATE SKIP LOCKED`,
  )
  console.log(`\nThe claim, with 2,100,000 mails:\n${rows.map((row) => row['QUERY PLAN']).join('\n')}`)
  await server.stop()
  await client.end()
}

async function fill(client: pg.Client, enquiries: number, status: string) {
  await client.query(
    `WITH form AS (
       INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
       SELECT id, id::text, now() - n * interval '30 seconds', 'Asha Verma', id || '@shop.example', '9876543210', 24, 'Retailer', 'Quvera 300', '2026-11', id
       FROM (SELECT gen_random_uuid() AS id, n FROM generate_series(1, ${enquiries}) n) AS made
       RETURNING "Id"
     )
     INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Status")
     SELECT "Id", kind, '${status}' FROM form CROSS JOIN (VALUES ('Staff'::"Quvera_MailKind"), ('Acknowledgement')) AS owed (kind)`,
  )
}
