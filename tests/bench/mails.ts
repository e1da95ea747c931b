/** `npm run bench:mails`: how much of Resend's limit is used, and how many calls are refused, by one process and by three. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { sendOrders } from '../support/load.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { freePort, startServer } from '../support/server-process.ts'
import { administer } from '../support/test-database.ts'
import { missed, report } from './report.ts'

const SECONDS = 15
const SETTLE_SECONDS = 7
const postgres = await startPostgresServer()

for (const limitASecond of [2, 10, 100]) for (const processes of [1, 3]) await measure(limitASecond, processes)
await postgres.close()
process.exit(missed.length ? 1 : 0)

async function measure(limitASecond: number, processes: number) {
  const name = `mails_${limitASecond}_${processes}`
  await administer(postgres.url, `CREATE DATABASE ${name}`)
  const DATABASE_URL = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
  const resend = await startFakeResend()
  resend.behaviour = { limitASecond }
  const env = { DATABASE_URL, RATE_LIMIT_MAX: '0', LOG_LEVEL: 'error' }
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
  const label = `${limitASecond} a second, ${processes === 1 ? 'one process' : 'three processes'}`
  report(`${label}: of the limit used`, (100 * sent) / (limitASecond * SECONDS), '%', { atLeast: 90 })
  report(`${label}: of the calls refused`, (100 * refused) / Math.max(calls, 1), '%', { atMost: 2 })
  for (const server of servers) await server.stop()
  await resend.close()
}
