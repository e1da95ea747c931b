import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeSummary } from '../../server/mail/summary.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anApp } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo, storeEnquiries, storeEnquiry } from '../support/stored-enquiry.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const pending = (app: TestApp, where = {}) => app.db.mail.count({ where: { status: 'Pending', ...where } })
const told = (app: TestApp) => app.resend.mails.filter(({ to }) => to[0] === STAFF)

async function orders(app: TestApp, count: number, fields: object = {}): Promise<string[]> {
  const all = Array.from({ length: count }, (_, index) =>
    submit(app.url, anOrder({ name: `Visitor ${index}`, email: `v${index}@shop.example`, ...fields })),
  )
  return (await Promise.all(all)).map(({ reference = 'not stored' }) => reference)
}

describe('a summary', () => {
  it('names the enquiries beyond the limit of notices, each enquiry in exactly one mail to staff', async () => {
    const app = await anApp({ mails: false, dailyBudget: 10 })
    const references = await orders(app, 12)
    const outbox = app.startOutbox()
    await eventually(async () => expect(await pending(app, { kind: 'Notice' })).toBe(0))
    await eventually(() => expect(told(app)).toHaveLength(4))
    await outbox.stop(1000)
    expect(told(app).filter(({ key }) => key.startsWith('staff/'))).toHaveLength(3)
    for (const reference of references) expect(told(app).filter(({ text }) => text.includes(reference))).toHaveLength(1)
    const [summary] = await app.db.mail.findMany({ where: { kind: 'Summary' } })
    expect(summary?.text).toMatch(/^\w+: 9 enquiries, /)
    expect(summary?.text).not.toMatch(/Visitor|@|9876543210/)
    const inSummary = { status: 'Withheld', lastError: `Told in summary ${summary?.id}.` } as const
    expect(await app.db.mail.count({ where: inSummary })).toBe(9)
  })

  it('names suspected spam, which gets no notice of its own; other notices do not wait for it', async () => {
    const app = await anApp({ summaryWaitMs: 3000 })
    const spam = await orders(app, 5, { website: 'x' })
    const [genuine = ''] = await orders(app, 1)
    await eventually(() => expect(told(app)).toHaveLength(2))
    const [alone, together] = told(app).toSorted((a, b) => (a.key < b.key ? -1 : 1)) // staff/…, summary/…
    expect(alone?.text).toContain(genuine)
    expect(together?.text).not.toContain(genuine)
    for (const reference of spam) expect(together?.text).toMatch(new RegExp(`${reference} .* · suspected spam\n`))
    await orders(app, 1, { website: 'x' })
    await new Promise((done) => setTimeout(done, 4000)) // the pause after it is ten minutes
    expect(told(app)).toHaveLength(2)
    expect((await staff(['mails'], { ...app.env, RESEND_API_KEY: 're_test' })).stdout).toMatch(
      /^Suspected spam waits for the next summary\./,
    )
  })

  it('is named by `staff show`, and the list shows that there is one', async () => {
    const app = await anApp({ dailyBudget: 2, summaryWaitMs: 0 })
    const [reference = ''] = await orders(app, 1)
    await eventually(async () => expect(await pending(app)).toBe(1)) // the acknowledgement has no share
    const [summary] = await app.db.mail.findMany({ where: { kind: 'Summary' } })
    const { stdout } = await staff(['show', reference], app.env)
    expect(stdout).toMatch(new RegExp(`Notice: Withheld, 0 tries\n +Told in summary ${summary?.id}.\n`))
    await app.db.mail.deleteMany({ where: { kind: 'Acknowledgement' } })
    expect((await staff(['list'], app.env)).stdout).toContain('In summary')
  })

  it('is an alarm when it does not arrive, until staff withhold it', async () => {
    const app = await anApp({ dailyBudget: 2, summaryWaitMs: 0 })
    await orders(app, 3)
    await eventually(async () =>
      expect(await app.db.mail.count({ where: { kind: 'Summary', status: 'Sent' } })).toBe(1),
    )
    const [{ id, resendId } = { id: 0n, resendId: '' }] = await app.db.mail.findMany({ where: { kind: 'Summary' } })
    await app.recordEvent({ id: 'one', resendId: resendId ?? '', type: 'email.bounced', reason: 'Permanent 550' })
    expect(app.loggedErrors()).toMatchObject([{ kind: 'Summary', state: 'Bounced' }])
    expect((await staff(['mails'], app.env)).stdout).toContain('ALARM: these summaries did not arrive (1)')
    expect((await staff(['digest'], app.env)).stdout).toContain(`Summary ${id} did not arrive (Bounced)`)
    expect((await staff(['mails', 'withhold', String(id)], app.env)).stdout).toContain('1 mail is withheld')
    expect((await staff(['mails'], app.env)).stdout).not.toContain('ALARM')
  })

  it('names every enquiry at least once when the process dies before the notices are marked', async () => {
    const app = await anApp({ mails: false })
    await storeEnquiries(app.db, 2500)
    const { _min } = await app.db.mail.aggregate({ _min: { id: true } })
    await app.db.$executeRawUnsafe(
      `ALTER TABLE "Quvera_Mail" ADD CONSTRAINT "dies" CHECK ("Status" <> 'Withheld' OR "Id" < ${(_min.id ?? 0n) + 3000n})`,
    )
    await writeSummary(app.db, new Date(), true).catch(() => undefined)
    await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" DROP CONSTRAINT "dies"`
    const first = await app.db.mail.count({ where: { kind: 'Notice', status: 'Withheld' } })
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThan(2500)
    await writeSummary(app.db, new Date(), true)
    expect(await app.db.mail.count({ where: { kind: 'Notice', status: 'Pending' } })).toBe(0)
    const [one, two] = await app.db.mail.findMany({ where: { kind: 'Summary' }, orderBy: { id: 'asc' } })
    expect(one?.text).toMatch(/^\w+: 2,500 enquiries, /)
    expect(two?.text).toMatch(new RegExp(`^\\w+: ${(2500 - first).toLocaleString('en-IN')} enquiries, `))
  })

  it('that cannot be written delays no notice', async () => {
    const app = await anApp()
    await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" ADD CONSTRAINT "none" CHECK ("Kind" <> 'Summary')`
    await orders(app, 1, { website: 'x' })
    const logged = () => app.countLogged('a summary could not be written')
    await eventually(() => expect(logged()).toBeGreaterThan(0))
    const [genuine = ''] = await orders(app, 1)
    await eventually(() => expect(told(app)[0]?.text).toContain(genuine))
    await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" DROP CONSTRAINT "none"`
    await eventually(() => expect(told(app)).toHaveLength(2))
  })

  it('does not wait for another one that is tried again', async () => {
    const app = await anApp({ mails: false })
    const tried = { attempts: 1, triedAt: hoursAgo(2), dueAt: new Date(Date.now() + 300_000) }
    await app.db.mail.create({ data: { kind: 'Summary', key: 'summary/tried', text: 'Quvera: earlier', ...tried } })
    const outbox = app.startOutbox()
    atEnd(() => outbox.stop(0))
    const [spam = ''] = await orders(app, 1, { website: 'x' })
    await eventually(() => expect(told(app)[0]?.text).toContain(spam))
  })

  it('is never too old to be sent, because nothing else names its enquiries', async () => {
    const app = await anApp({ mails: false })
    const data = { kind: 'Summary', key: 'summary/old', text: 'Quvera: 3 enquiries', dueAt: hoursAgo(24 * 30) } as const
    await app.db.mail.create({ data })
    const outbox = app.startOutbox()
    await eventually(() => expect(told(app)).toHaveLength(1))
    await outbox.stop(1000)
  })

  it('that is Unknown is an alarm, as a notice is', async () => {
    const app = await anApp({ mails: false })
    const reference = await storeEnquiry(app.db, {}, { Notice: ['Unknown', 'no clear answer'] })
    const { id } = await app.db.mail.create({
      data: { kind: 'Summary', key: 'summary/x', text: 'Quvera: 3 enquiries', status: 'Unknown' },
    })
    const { stdout } = await staff(['mails'], app.env)
    expect(stdout).toMatch(/ALARM: nobody has been told of these enquiries \(1\)[\s\S]*no clear answer/)
    expect(stdout).toContain('ALARM: these summaries did not arrive (1)')
    expect(stdout).not.toContain('Not sent, and not tried again')
    const digest = (await staff(['digest'], app.env)).stdout
    expect(digest).toMatch(new RegExp(`Nobody has been told of these.*\\n${reference} · `))
    expect(digest).toContain(`Summary ${id} did not arrive (Unknown)`)
  })

  it('is written once the limit is reached, although mails of yesterday leave room for a notice every 200 ms', async () => {
    const app = await anApp({ mails: false, dailyBudget: 1000, summaryWaitMs: 1500 })
    await orders(app, 60)
    await app.db.$executeRaw`
      INSERT INTO "Quvera_Mail" ("Kind", "Status", "Key", "TriedAt", "DueAt")
      SELECT 'Staff', 'Sent', 'yesterday', now() - interval '24 hours' + n * interval '200 ms', NULL FROM generate_series(1, 300) n`
    const outbox = app.startOutbox()
    atEnd(() => outbox.stop(0))
    const summaries = () => app.db.mail.count({ where: { kind: 'Summary' } })
    await eventually(async () => expect(await summaries()).toBe(1), 5000)
    await eventually(async () => expect(await pending(app, { kind: 'Notice' })).toBe(0))
    expect(told(app).filter(({ key }) => key.startsWith('staff/')).length).toBeGreaterThan(1)
  })

  it('leaves a notice alone that was stored while the summary was written', async () => {
    const app = await anApp({ mails: false })
    await orders(app, 2)
    let late = ''
    const slow = app.db.$extends({
      query: {
        mail: {
          async create({ args, query }) {
            late ||= (await orders(app, 1))[0] ?? ''
            return query(args)
          },
        },
      },
    })
    await writeSummary(slow as unknown as typeof app.db, new Date(), true)
    expect(
      await app.db.mail.findMany({ where: { kind: 'Notice', status: 'Pending' }, include: { enquiry: true } }),
    ).toMatchObject([{ enquiry: { reference: late } }])
  })
})

it('mails to several receivers stay within the budget, and every enquiry is named', async () => {
  const to = ['a@quvera.test', 'b@quvera.test', 'c@quvera.test']
  const app = await anApp({ mails: false, dailyBudget: 30, staff: to })
  await orders(app, 20)
  const outbox = app.startOutbox()
  await eventually(async () => expect(await pending(app, { kind: 'Notice' })).toBe(0))
  await eventually(async () => expect(await pending(app)).toBe(11))
  await outbox.stop(1000)
  expect(app.resend.mails.reduce((sum, mail) => sum + mail.to.length, 0)).toBe(3 * 3 + 3 + 9)
})

describe('without webhooks', () => {
  let app: TestApp
  beforeEach(async () => {
    app = await startTestApp()
  })
  afterEach(() => app.close())

  async function aMailOfSixMinutesAgo() {
    await submit(app.url, anOrder())
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(2))
    for (const { id, to } of app.resend.mails) app.resend.lastEvents.set(id, to[0] === STAFF ? 'delivered' : 'bounced')
    const sixMinutesAgo = new Date(Date.now() - 6 * 60_000)
    await app.db.mail.updateMany({ data: { triedAt: sixMinutesAgo, dueAt: new Date(Date.now() - 60_000) } })
  }

  it('Resend is asked once, some minutes later, whether a mail arrived', async () => {
    await aMailOfSixMinutesAgo()
    await eventually(async () => {
      const rows = await app.db.mail.findMany({ orderBy: { kind: 'asc' } })
      expect(rows.map(({ status }) => status)).toEqual(['Delivered', 'Bounced'])
    })
    expect(app.resend.calls.all).toBe(4)
  })

  it('a key that may only send is reported once', async () => {
    app.resend.sendingOnly = true
    await aMailOfSixMinutesAgo()
    await eventually(() => expect(app.logLines.join()).toContain('may only send'))
    const calls = app.resend.calls.all
    await new Promise((done) => setTimeout(done, 500)) // several looks
    expect(app.resend.calls.all).toBe(calls)
  })

  it('a check that Resend does not answer delays neither mails nor the end of the process, and is not repeated at once', async () => {
    app.resend.lookUp = 'hang'
    await aMailOfSixMinutesAgo()
    await eventually(() => expect(app.resend.calls.lookedUp).toHaveLength(1))
    const ordered = performance.now()
    await submit(app.url, anOrder())
    await eventually(() => expect(app.resend.mails).toHaveLength(4))
    expect(performance.now() - ordered).toBeLessThan(2000)
    const stopped = performance.now()
    await app.outbox.stop(4000)
    expect(performance.now() - stopped).toBeLessThan(1000)

    app.resend.lookUp = 'fail'
    const again = app.startOutbox()
    await eventually(() => expect(app.resend.calls.lookedUp).toHaveLength(2))
    await submit(app.url, anOrder()) // looks go on
    await eventually(() => expect(app.resend.mails).toHaveLength(6))
    await new Promise((done) => setTimeout(done, 500)) // several looks
    expect(new Set(app.resend.calls.lookedUp).size).toBe(app.resend.calls.lookedUp.length)
    await again.stop(1000)
  })

  it('checks keep to the limit that Resend names, as mails do', async () => {
    await app.outbox.stop(1000)
    app.resend.behaviour = { limitASecond: 2 }
    await app.db.$executeRaw`
      INSERT INTO "Quvera_Mail" ("Kind", "Status", "Key", "ResendId", "TriedAt", "DueAt")
      SELECT 'Summary', 'Sent', 'x', 'sent-' || n, now() - interval '6 minutes', now() FROM generate_series(1, 30) n`
    const outbox = app.startOutbox()
    await new Promise((done) => setTimeout(done, 2500)) // 25 polls
    await outbox.stop(1000)
    expect(app.resend.calls.lookedUp.length).toBeGreaterThan(2)
    expect(app.resend.calls.limited).toBe(0)
  })

  it('a mail is checked again when its age has doubled', async () => {
    app.resend.lookUp = 'fail'
    await aMailOfSixMinutesAgo()
    await eventually(() => expect(app.resend.calls.lookedUp).toHaveLength(2))
    app.resend.lookUp = 'answer'
    await app.db.$executeRaw`UPDATE "Quvera_Mail" SET "DueAt" = "DueAt" - interval '6 minutes'`
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(0))
    expect(app.resend.calls.lookedUp).toHaveLength(4)
  })
})
