// An enquiry that gets no notice of its own is named in a summary, and a summary that does not arrive is an alarm.
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { withholdNotices } from '../../server/mail/queue.ts'
import { writeSummary } from '../../server/mail/summary.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anApp } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo, storeEnquiries, storeEnquiry } from '../support/stored-enquiry.ts'
import type { TestApp } from '../support/test-app.ts'
import { administer } from '../support/test-database.ts'

const pending = (app: TestApp, where = {}) => app.db.mail.count({ where: { status: 'Pending', ...where } })
const told = (app: TestApp, address = STAFF) => app.resend.mails.filter(({ to }) => to[0] === address)

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
    await eventually(() => expect(told(app)).toHaveLength(8))
    await outbox.stop(1000)
    expect(told(app).filter(({ key }) => key.startsWith('staff/'))).toHaveLength(7)
    for (const reference of references) expect(told(app).filter(({ text }) => text.includes(reference))).toHaveLength(1)
    const [summary] = await app.db.mail.findMany({ where: { kind: 'Summary' } })
    expect(summary?.text).toMatch(/^\w+: 5 enquiries, /)
    expect(summary?.text).not.toMatch(/Visitor|@|9876543210/)
    const inSummary = { status: 'Withheld', lastError: `Told in summary ${summary?.id}.` } as const
    expect(await app.db.mail.count({ where: inSummary })).toBe(5)
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
      /^1 notice waits for the next summary\./,
    )
  })

  it('is named by `staff show`, and the list shows that there is one', async () => {
    const app = await anApp({ dailyBudget: 1, summaryWaitMs: 0 })
    const [reference = ''] = await orders(app, 1)
    const isSent = { kind: 'Summary', status: 'Sent' } as const
    await eventually(async () => expect(await app.db.mail.count({ where: isSent })).toBe(1))
    const [summary] = await app.db.mail.findMany({ where: { kind: 'Summary' } })
    const { stdout } = await staff(['show', reference], app.env)
    expect(stdout).toMatch(new RegExp(`Notice: Withheld, 0 tries\n +Told in summary ${summary?.id}.\n`))
    await app.db.mail.deleteMany({ where: { kind: 'Acknowledgement' } })
    expect((await staff(['list'], app.env)).stdout).toContain('In summary')
  })

  it('is an alarm when it does not arrive, until staff withhold it', async () => {
    const app = await anApp({ dailyBudget: 1, summaryWaitMs: 0 })
    await orders(app, 3)
    await eventually(async () =>
      expect(await app.db.mail.count({ where: { kind: 'Summary', status: 'Sent' } })).toBe(1),
    )
    const { id, tag } = await app.db.mail.findFirstOrThrow({ where: { kind: 'Summary' } })
    await app.recordEvent({ tag, resendId: 'one', state: 'Bounced', reason: 'bounced: Permanent 550' })
    expect(app.loggedErrors()).toMatchObject([{ kind: 'Summary', state: 'Bounced' }])
    expect((await staff(['mails'], app.env)).stdout).toContain('ALARM: these summaries did not arrive (1)')
    expect((await staff(['check'], app.env)).stdout).toContain(`Summary ${id} did not arrive (Bounced)`)
    expect((await staff(['mails', 'withhold', String(id)], app.env)).stdout).toContain('1 mail is withheld')
    expect((await staff(['mails'], app.env)).stdout).not.toContain('ALARM')
  })

  it('is not stored when the process dies before the notices are marked; the next one names every enquiry', async () => {
    const app = await anApp({ mails: false })
    await storeEnquiries(app.db, 2500)
    await withholdNotices(app.db)
    await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" ADD CONSTRAINT "unmarked" CHECK ("LastError" NOT LIKE 'Told%')`
    await expect(writeSummary(app.db, new Date())).rejects.toThrow('unmarked')
    expect(await app.db.mail.count({ where: { kind: 'Summary' } })).toBe(0)
    await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" DROP CONSTRAINT "unmarked"`
    await writeSummary(app.db, new Date())
    expect(await app.db.mail.count({ where: { kind: 'Notice', dueAt: { not: null } } })).toBe(0)
    const summaries = await app.db.mail.findMany({ where: { kind: 'Summary' } })
    expect(summaries).toMatchObject([{ text: expect.stringMatching(/^\w+: 2,500 enquiries, /) }])
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
    const digest = (await staff(['check'], app.env)).stdout
    expect(digest).toMatch(new RegExp(`Nobody has been told of these.*\\n${reference} · `))
    expect(digest).toContain(`Summary ${id} did not arrive (Unknown)`)
  })

  it('tells within a minute of what nobody was told of, once, without waiting for a digest', async () => {
    const app = await anApp({ mails: false })
    const states = ['Failed', 'Bounced', 'Unknown'] as const
    const untold = await Promise.all(states.map((state) => storeEnquiry(app.db, {}, { Notice: [state, 'no'] })))
    const answered = await storeEnquiry(app.db, { status: 'Contacted' }, { Notice: 'Failed' })
    const restored = await storeEnquiry(app.db, {}, { Notice: 'Pending' })
    await administer(app.env.DATABASE_URL ?? '', await readFile('server/database/after-pg-restore.sql', 'utf8'))
    const outbox = app.startOutbox()
    atEnd(() => outbox.stop(0))
    await eventually(() => expect(told(app)).toHaveLength(1))
    const [summary] = told(app)
    for (const reference of [...untold, restored]) expect(summary?.text).toContain(reference)
    expect(summary?.text).not.toContain(answered)
    await eventually(async () => expect(await app.db.mail.count({ where: { dueAt: { not: null } } })).toBe(0))
    const rows = await app.db.mail.findMany({ where: { kind: 'Notice' }, orderBy: { id: 'asc' } })
    expect(rows.map(({ status }) => status).toSorted()).toEqual(['Bounced', 'Failed', 'Failed', 'Unknown', 'Withheld'])
    await staff(['mails', 'retry', '--restored', '--yes'], app.env)
    const again = await app.db.mail.findFirst({ where: { kind: 'Notice', enquiry: { reference: restored } } })
    expect(again?.status).toBe('Pending')
  })

  it('that was pending in a backup is withheld, and the next one names its enquiries', async () => {
    const app = await anApp({ mails: false })
    const [spam = ''] = await orders(app, 1, { website: 'x' })
    const failed = await storeEnquiry(app.db, {}, { Notice: ['Failed', '422'] })
    await writeSummary(app.db, new Date())
    expect(await app.db.mail.count({ where: { kind: 'Notice', dueAt: { not: null } } })).toBe(0)
    const statements = await readFile('server/database/after-pg-restore.sql', 'utf8')
    for (let run = 0; run < 2; run++) await administer(app.env.DATABASE_URL ?? '', statements)
    expect((await staff(['mails'], app.env)).stdout).toMatch(/^1 notice waits for the next summary\./)
    const outbox = app.startOutbox()
    atEnd(() => outbox.stop(0))
    await eventually(async () => expect(await app.db.mail.count({ where: { kind: 'Summary' } })).toBe(2), 10_000)
    await eventually(() => expect(told(app)).toHaveLength(1))
    for (const reference of [spam, failed]) expect(told(app)[0]?.text).toContain(reference)
    await administer(app.env.DATABASE_URL ?? '', statements)
    expect(await app.db.mail.count({ where: { kind: 'Notice', dueAt: { not: null } } })).toBe(0) // told already
  })

  it('leaves a notice alone that was stored while the summary was written', async () => {
    const app = await anApp({ mails: false })
    await orders(app, 2, { website: 'x' })
    let late = ''
    const slow = app.db.$extends({
      query: {
        mail: {
          async create({ args, query }) {
            late ||= (await orders(app, 1, { website: 'x' }))[0] ?? ''
            return query(args)
          },
        },
      },
    })
    await writeSummary(slow as unknown as typeof app.db, new Date())
    expect(
      await app.db.mail.findMany({ where: { kind: 'Notice', dueAt: { not: null } }, include: { enquiry: true } }),
    ).toMatchObject([{ enquiry: { reference: late } }])
  })
})

it('mails to several receivers stay within the budget, and every enquiry is named', async () => {
  const to = ['a@quvera.test', 'b@quvera.test', 'c@quvera.test']
  const app = await anApp({ mails: false, dailyBudget: 30, staff: to })
  await orders(app, 20)
  const outbox = app.startOutbox()
  await eventually(async () => expect(await pending(app, { kind: 'Notice' })).toBe(0))
  await eventually(() => expect(told(app, to[0]).some(({ key }) => key.startsWith('summary/'))).toBe(true))
  await outbox.stop(1000)
  expect(app.resend.mails.reduce((sum, mail) => sum + mail.to.length, 0)).toBe(7 * 3 + 3)
})
