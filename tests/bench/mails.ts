/**
 * `npm run bench:mails`: how much of Resend's limit is used, and how many calls are refused, by one process and by three, with
 * answers after 150 ms; and orders beside 100,000 mails that wait.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { STAFF, sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { aUniqueOrder, sendOrders } from '../support/load.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { freePort, startServer } from '../support/server-process.ts'
import { measureHttp, post } from './http-load.ts'
import { missed, report } from './report.ts'
import { fill, newDatabase } from './targets.ts'

const SECONDS = 15
const SETTLE_SECONDS = 7
const ANSWER_MS = 150
const postgres = await startPostgresServer()

for (const limitASecond of [2, 5]) for (const processes of [1, 3]) await measure(limitASecond, processes)
const alone = await measure(5, 1)
const beside = await measure(5, 1, 100_000)
report('p50 of an order, 100000 mails waiting / none', beside / alone, '×', { atMost: 1.2 })
await postgres.close()
process.exit(missed.length ? 1 : 0)

/** @returns the p50 of 50 orders a second while mails go out */
async function measure(limitASecond: number, processes: number, waiting = 0): Promise<number> {
  const DATABASE_URL = await newDatabase(postgres)
  if (waiting > 0) await fillDatabase(DATABASE_URL, waiting / 2)
  const resend = await startFakeResend()
  resend.behaviour = { limitASecond, slowMs: ANSWER_MS }
  const env = { DATABASE_URL, STAFF_EMAILS: STAFF, RATE_LIMIT_MAX: '0', LOG_LEVEL: 'error' }
  const filling = await startServer(env)
  const orders = Math.ceil((limitASecond * (SECONDS + SETTLE_SECONDS)) / 2) + 10
  await sendOrders({ url: () => filling.url, orders, concurrency: 16, retry: true })
  await filling.stop()
  const servers = []
  for (let index = 0; index < processes; index++)
    servers.push(await startServer({ ...env, ...sendingThrough(resend), PORT: String(await freePort()) }))
  await sleep(2000) // the first answers have told the limit
  const before = { mails: resend.mails.length, calls: resend.calls.all, limited: resend.calls.limited }
  await sleep(SECONDS * 1000)
  const sent = resend.mails.length - before.mails
  const calls = resend.calls.all - before.calls
  const refused = resend.calls.limited - before.limited
  const who = processes === 1 ? 'one process' : 'three processes'
  const label = `${limitASecond} a second, ${who}${waiting ? `, ${waiting} mails waiting` : ''}`
  report(`${label}: of the limit used`, (100 * sent) / (limitASecond * SECONDS), '%', { atLeast: 80 })
  report(`${label}: of the calls refused`, (100 * refused) / Math.max(calls, 1), '%', { atMost: 5 })
  const port = Number(new URL(servers[0]?.url ?? '').port)
  const request = () => post('/trpc/order.submit', aUniqueOrder())
  const { p50Ms } = await measureHttp({ port, connections: 1, seconds: 5, perSecond: 50, request })
  report(`${label}: p50 of an order meanwhile`, p50Ms, 'ms')
  for (const server of servers) await server.stop()
  await resend.close()
  return p50Ms
}

async function fillDatabase(connectionString: string, enquiries: number) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await fill(client, enquiries, 'Pending')
  await client.query('ANALYZE')
  await client.end()
}
