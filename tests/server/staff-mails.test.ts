import { afterEach, expect, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { withDatabase } from '../../server/database/open-database.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { startServer } from '../support/server-process.ts'
import { staff } from '../support/staff-command.ts'
import { createTestDatabase } from '../support/test-database.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action()
})

/** A running site that sends through a fake Resend. */
async function aSite() {
  const [{ env: database, drop }, resend] = await Promise.all([createTestDatabase(), startFakeResend()])
  cleanUp.push(drop, resend.close)
  const server = await startServer({
    ...database,
    RATE_LIMIT_MAX: '0',
    ...sendingThrough(resend),
    MAIL_RETRY_SECONDS: '600',
  })
  cleanUp.push(() => server.stop('SIGKILL'))
  function change<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return withDatabase({ DATA_DIR: '', ...database }, ({ db }) => work(db))
  }
  return { url: server.url, database, resend, change }
}

it('lists a mail that Resend refused, and the site sends it after retry', async () => {
  const { url, database, resend } = await aSite()
  resend.behaviour = { status: 422, name: 'validation_error' }
  const { reference } = await submit(url, anOrder())
  await eventually(async () =>
    expect((await staff(['mails', '--failed'], database)).stdout.match(/Failed/g)).toHaveLength(2),
  )
  const { stdout } = await staff(['mails'], database)
  expect(stdout).toContain(reference)
  expect(stdout).toContain('422 validation_error')
  expect(stdout).not.toContain('@')

  resend.behaviour = 'accept'
  expect((await staff(['mails', 'retry'], database)).stdout).toContain('2 mails are due now')
  await eventually(() => expect(resend.mails).toHaveLength(2))
  await eventually(async () => expect((await staff(['mails'], database)).stdout).toBe('No mail is owed.\n'))
})

it('makes a mail that waits due now', async () => {
  const { url, database, resend } = await aSite()
  resend.behaviour = 'html'
  await submit(url, anOrder())
  await eventually(() => expect(resend.calls.all).toBeGreaterThan(1))
  await eventually(async () => expect((await staff(['mails'], database)).stdout.match(/502 /g)).toHaveLength(2))
  resend.behaviour = 'accept'
  await staff(['mails', 'retry'], database)
  await eventually(() => expect(resend.mails).toHaveLength(2))
})

it('sends a mail that may have been sent only when told to, and never one that was sent or withheld', async () => {
  const { url, database, resend, change } = await aSite()
  await submit(url, anOrder())
  await eventually(() => expect(resend.mails).toHaveLength(2))
  await eventually(() => change(async (db) => expect(await db.mail.count({ where: { status: 'Sent' } })).toBe(2)))
  await change((db) =>
    db.mail.updateMany({ where: { kind: 'Staff' }, data: { status: 'Unknown', ambiguousAt: new Date(0) } }),
  )
  const [sent] = await change((db) => db.mail.findMany({ where: { status: 'Sent' } }))

  const careful = await staff(['mails', 'retry'], database)
  expect(careful.stdout).toContain('0 mails are due now')
  expect(careful.stdout).toContain('Left: 1 mail that may have been sent already')
  const named = await staff(['mails', 'retry', String(sent?.id), '999999'], database)
  expect(named.stdout).toContain('Left: 2 mails that are sent, withheld or not there')

  const calls = resend.calls.all
  expect((await staff(['mails', 'retry', '--include-unknown'], database)).stdout).toContain('1 mail is due now')
  await eventually(() => expect(resend.calls.all).toBe(calls + 1))
  await eventually(() => change(async (db) => expect(await db.mail.count({ where: { status: 'Sent' } })).toBe(2)))
})
