/**
 * `npm run bench:mails`: how much of Resend's limit is used, and how many calls are refused, by one process and by three, with
 * answers after 150 ms; orders beside 100,000 mails that wait; and a minute with more enquiries than the day has mails.
 * `npm run bench:mails -- 5 1 100000` runs one part alone: a limit, processes, mails that wait.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
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

const [limit, processes = 1, waiting] = process.argv.slice(2).map(Number)
if (limit) await measure(limit, processes, waiting)
else {
  for (const limitASecond of [2, 5]) for (const processes of [1, 3]) await measure(limitASecond, processes)
  const alone = await measure(5, 1)
  const beside = await measure(5, 1, 100_000)
  report('p50 of an order, 100000 mails waiting / none', beside / alone, '×', { atMost: 1.2 })
  await measureBudget()
}
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

/** 150 orders in a minute with a day's budget of 100 mails: staff have to know of all of them soon. */
async function measureBudget() {
  const [orders, budget] = [150, 100]
  const resend = await startFakeResend()
  const env = { DATABASE_URL: await newDatabase(postgres), RATE_LIMIT_MAX: '0', LOG_LEVEL: 'error' }
  const server = await startServer({ ...env, ...sendingThrough(resend), MAIL_DAILY_BUDGET: String(budget) })
  const references: string[] = []
  const start = performance.now()
  for (let sent = 0; sent < orders; sent++) {
    await sleep(Math.max(0, start + (sent * 60_000) / orders - performance.now()))
    references.push((await submit(server.url, aUniqueOrder())).reference ?? 'not stored')
  }
  const notices = () => resend.mails.filter(({ to }) => to[0] === STAFF)
  const told = (reference: string) => notices().filter(({ text }) => text.includes(reference)).length
  await eventually(() => references.every(told), 120_000).catch(() => {})
  const seconds = (performance.now() - start) / 1000
  const once = references.filter((reference) => told(reference) === 1).length
  report('150 orders in a minute, 100 mails a day: orders told of in exactly one mail', once, 'orders', {
    atLeast: orders,
  })
  report('… told of the last one after', seconds, 's', { atMost: 90 })
  report(`… mails, ${notices().length} of them to staff`, resend.mails.length, 'mails', { atMost: budget })
  await server.stop()
  await resend.close()
}
