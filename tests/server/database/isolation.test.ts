// On a server whose transactions are REPEATABLE READ unless they say otherwise: what waits for a lock sees what the other has done.
import { beforeEach, expect, it } from 'vitest'
import { createLink } from '../../../server/desk/sessions.ts'
import { aClient } from '../../support/a-client.ts'
import { call } from '../../support/an-order.ts'
import { atEnd } from '../../support/at-end.ts'
import { cookieOf, getStaff, postStaff } from '../../support/desk.ts'
import { eventually } from '../../support/eventually.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp } from '../../support/fixtures.ts'
import { administer } from '../../support/test-database.ts'

let app: Awaited<ReturnType<typeof anApp>>
let other: Awaited<ReturnType<typeof aClient>>
beforeEach(async () => {
  app = await anApp()
  other = await aClient(app.env)
  const { rows } = await other.query('SELECT current_database() AS name')
  const set = async (change: string) => {
    await administer(app.env.DATABASE_URL ?? '', `ALTER DATABASE ${rows[0].name} ${change}`)
    await other.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`)
  }
  await set(`SET default_transaction_isolation TO 'repeatable read'`)
  atEnd(() => set('RESET default_transaction_isolation'))
  // Until the pool has dropped the connections that it had.
  await eventually(() => Promise.all(Array.from({ length: 10 }, () => app.db.$queryRaw`SELECT pg_sleep(0.05)::text`)))
})

/** Begins `each` while `lock` is held, and ends the lock once all of them wait. */
async function behind<T>(lock: string, each: (() => Promise<T>)[]): Promise<T[]> {
  await other.query(`BEGIN; ${lock}`)
  const answers = each.map((start) => start())
  await eventually(async () => {
    const { rowCount } = await other.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    expect(rowCount).toBe(each.length)
  })
  await other.query('COMMIT')
  return Promise.all(answers)
}

it('two requests for a link at once are answered by one mail', async () => {
  const ask = () => postStaff(app.url, 'sign-in', { email: STAFF, to: '/staff' })
  await behind(`SELECT pg_advisory_xact_lock(hashtext('Quvera_Session'))`, [ask, ask])
  await app.signIn.close(60_000)
  expect(app.resend.mails).toHaveLength(1)
})

it('a button pressed twice at once enters the desk twice', async () => {
  const token = await createLink(app.db, { email: STAFF, leadsTo: '/staff' })
  const cookie = cookieOf(await getStaff(app.url, `/enter?token=${token}`))
  const press = () => postStaff(app.url, 'enter', { token }, { cookie })
  const answers = await behind('SELECT FROM "Quvera_Session" FOR UPDATE', [press, press])
  expect(answers.map(({ status }) => status)).toEqual([303, 303])
})

it('an address is subscribed while another request stores it', async () => {
  const subscribe = () => call(app.url, 'subscription.subscribe', { email: 'asha@shop.example' })
  await subscribe()
  const [answer] = await behind('UPDATE "Quvera_Subscriber" SET "SubscribedAt" = now()', [subscribe])
  expect(answer?.status).toBe(200)
})
