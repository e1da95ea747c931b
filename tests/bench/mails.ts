/**
 * `npm run bench:mails`: how much of Resend's limit is used, and how many calls are refused, by one process and by three, with
 * answers after 150 ms; and orders beside 100,000 mails that wait. `npm run bench:mails -- 5 1 100000` measures one case.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { STAFF, sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { sendOrders } from '../support/load.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { calmP50 } from './http-load.ts'
import { finish, median, report } from './report.ts'
import { fill, newDatabase } from './targets.ts'

const SECONDS = 15
const SETTLE_SECONDS = 7
const ANSWER_MS = 150
const ROUNDS = 5
const postgres = await startPostgresServer()

const [limit, processes, waiting] = process.argv.slice(2).map(Number)
if (limit) await (await measure(limit, processes, waiting)).stop()
else {
  for (const processes of [1, 3]) await (await measure(2, processes)).stop()
  await (await measure(5, 3)).stop()
  const alone = await measure(5, 1)
  const beside = await measure(5, 1, 100_000)
  const ratios: number[] = []
  // In turn: the machine may be half as fast a minute later.
  for (let round = 0; round < ROUNDS; round++) ratios.push((await beside.calmP50()) / (await alone.calmP50()))
  report('p50 of an order, 100000 mails waiting / none, median of 5', median(ratios), '×', { atMost: 1.2 })
  await alone.stop()
  await beside.stop()
}
await postgres.close()
finish()

/** @returns the sites, which go on sending */
async function measure(limitASecond: number, processes = 1, waiting = 0) {
  const DATABASE_URL = await newDatabase(postgres)
  if (waiting > 0) await fill(DATABASE_URL, waiting / 2, 'Pending')
  const resend = await startFakeResend()
  resend.behaviour = { limitASecond, slowMs: ANSWER_MS }
  const env = { DATABASE_URL, STAFF_EMAILS: STAFF, RATE_LIMIT_MAX: '0', LOG_LEVEL: 'error' }
  const filling = await startServer(env)
  const orders = Math.ceil((limitASecond * (SECONDS + SETTLE_SECONDS)) / 2) + 10
  await sendOrders({ url: () => filling.url, orders, concurrency: 16, retry: true })
  await filling.stop()
  const servers: ServerProcess[] = []
  for (let index = 0; index < processes; index++) servers.push(await startServer({ ...env, ...sendingThrough(resend) }))
  await sleep(2000) // the first answers have told the limit
  const before = { mails: resend.mails.length, ...resend.calls }
  await sleep(SECONDS * 1000)
  const sent = resend.mails.length - before.mails
  const calls = resend.calls.all - before.all
  const refused = resend.calls.limited - before.limited
  const label = `${limitASecond} a second, ${processes} process(es), ${waiting} mails waiting`
  report(`${label}: of the limit used`, (100 * sent) / (limitASecond * SECONDS), '%', { atLeast: 80 })
  report(`${label}: of the calls refused`, (100 * refused) / Math.max(calls, 1), '%', { atMost: 5 })
  return {
    calmP50: () => calmP50(servers[0]?.url ?? '', 5),
    async stop() {
      for (const server of servers) await server.stop()
      await resend.close()
    },
  }
}
