import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeMessage } from '../../server/mail/letters.ts'
import { claimBundle, withholdOld } from '../../server/mail/owed.ts'
import { planOf, type Used } from '../../server/mail/plan.ts'
import { createMailer } from '../../server/mail/resend.ts'
import { bundle } from '../../server/mail/states.ts'
import { products } from '../../shared/catalogue.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { staff } from '../support/staff-command.ts'
import { PUBLIC_URL, startTestApp, type TestApp } from '../support/test-app.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const nothing: Used = { toStaff: 0, toVisitors: 0, quietMs: DAY_MS, suspected: 0, suspectedWaitMs: 0, held: false }

describe('a day’s mails', () => {
  const plan = (mails: number, staff: number, used: Partial<Used> = {}) =>
    planOf({ mails, staff }, { ...nothing, ...used })

  it('go one by one while there are plenty, those to visitors up to a third', () => {
    expect(plan(100, 1)).toEqual({ notices: 34, suspected: 20, bundle: false, toVisitors: 33 })
    expect(plan(100, 1, { toStaff: 33, toVisitors: 33 })).toMatchObject({ notices: 1, bundle: false, toVisitors: 0 })
  })

  it('are counted as Resend counts them: a mail to three is three', () => {
    expect(plan(100, 3)).toMatchObject({ notices: 2, toVisitors: 33 })
    expect(plan(100, 3, { toStaff: 22 })).toMatchObject({ notices: 0, bundle: false })
  })

  it('then go together, with pauses that grow from seconds to little more than an hour', () => {
    const pauses = Array.from({ length: 33 }, (_, sent) => {
      let quietMs = 0
      while (!plan(100, 1, { toStaff: 34 + sent, quietMs }).bundle) quietMs += 1000
      return quietMs
    })
    expect(pauses[0]).toBeLessThan(5000)
    expect(pauses.every((pause, index) => pause >= (pauses[index - 1] ?? 0))).toBe(true)
    expect(Math.max(...pauses)).toBeLessThan(1.2 * HOUR_MS)
    expect(plan(100, 1, { toStaff: 67, quietMs: HOUR_MS })).toMatchObject({ notices: 0, bundle: false })
  })

  it('of suspected spam are twenty; the rest waits for an hour and then goes together', () => {
    expect(plan(100, 1, { suspected: 20, suspectedWaitMs: HOUR_MS - 1 })).toMatchObject({ suspected: 0, bundle: false })
    expect(plan(100, 1, { suspected: 20, suspectedWaitMs: HOUR_MS + 1 })).toMatchObject({ suspected: 0, bundle: true })
    expect(plan(0, 1, { suspected: 20, suspectedWaitMs: HOUR_MS + 1 })).toMatchObject({ suspected: 0, bundle: true })
  })

  /** A week in which somebody sends an order every so often: the longest that one waited, and the most mails of a day. */
  function aWeek(mails: number, staff: number, everyMs: number) {
    const sent: number[] = []
    const waiting: number[] = []
    let [longestMs, mostADay, oldest] = [0, 0, 0]
    for (let now = 0; now < 7 * DAY_MS; now += 6000) {
      if (now % everyMs === 0) waiting.push(now)
      while ((sent[oldest] ?? now) <= now - DAY_MS) oldest++
      const toStaff = sent.length - oldest
      const { notices, bundle } = plan(mails, staff, { toStaff, quietMs: now - (sent.at(-1) ?? -DAY_MS) })
      const told = waiting.splice(0, bundle ? waiting.length : notices)
      for (const each of told) longestMs = Math.max(longestMs, now - each)
      for (const _ of bundle ? told.slice(0, 1) : told) sent.push(now)
      mostADay = Math.max(mostADay, sent.length - oldest)
    }
    for (const each of waiting) longestMs = Math.max(longestMs, 7 * DAY_MS - each)
    return { hours: longestMs / HOUR_MS, receivers: mostADay * staff }
  }

  it.each([
    [100, 1],
    [100, 3],
    [30, 1],
    [1000, 2],
  ])(
    'tell of an enquiry within two hours in a week of ten orders a minute: %i mails to %i of staff',
    (mails, staff) => {
      for (const everyMs of [6000, MINUTE_MS, 20 * MINUTE_MS]) {
        const { hours, receivers } = aWeek(mails, staff, everyMs)
        expect(hours).toBeLessThan(2)
        expect(receivers).toBeLessThanOrEqual(mails - Math.floor(mails / 3))
      }
    },
  )

  it.each([
    [10, 1, 5],
    [10, 3, 13],
    [10, 8, 25],
  ])('of %i to %i of staff tell of all within %i hours', (mails, staff, within) => {
    expect(aWeek(mails, staff, 6000).hours).toBeLessThan(within)
  })
})

it('no more receivers are written to in a day than the budget has, and nobody goes untold', async () => {
  const to = ['a@quvera.test', 'b@quvera.test', 'c@quvera.test']
  const app = await startTestApp({ mails: false, dailyBudget: 30, staff: to })
  for (let index = 0; index < 20; index++) await submit(app.url, anOrder({ email: `v${index}@shop.example` }))
  const outbox = app.startOutbox()
  await eventually(async () => expect(await app.db.mail.count({ where: { kind: 'Staff', status: 'Pending' } })).toBe(0))
  await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(10))
  await outbox.stop(1000)
  expect(app.resend.mails.reduce((sum, mail) => sum + mail.to.length, 0)).toBe(13)
  await app.close()
})

describe('several enquiries in one mail', () => {
  let app: TestApp
  beforeEach(async () => {
    app = await startTestApp({ mails: false })
  })
  afterEach(() => app.close())

  async function orders(count: number): Promise<string[]> {
    const answers = []
    for (let index = 0; index < count; index++)
      answers.push(await submit(app.url, anOrder({ name: `Visitor ${index}`, email: `v${index}@shop.example` })))
    return answers.map(({ reference = '' }) => reference)
  }
  const makeDue = () => app.db.mail.updateMany({ where: { status: 'Pending' }, data: { nextAttemptAt: new Date() } })
  const notices = () => app.resend.mails.filter(({ to }) => to[0] === STAFF)
  const rows = (which: 'Staff' | 'Bundle') =>
    app.db.mail.findMany({
      where: which === 'Bundle' ? bundle : { kind: 'Staff', NOT: bundle },
      orderBy: { id: 'asc' },
    })
  const states = async (kind: 'Staff' | 'Bundle') => (await rows(kind)).map(({ status }) => status)
  const allTold = () =>
    eventually(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(0))

  it('hold all their data, and each enquiry is in one sent mail after a crash between sending and recording', async () => {
    const references = await orders(5)
    const [claimed] = await claimBundle(app.db, 60)
    expect(claimed?.enquiries.map(({ reference }) => reference)).toEqual(references.toReversed())
    const mailer = createMailer({ apiKey: 're_test', baseUrl: app.resend.url, from: 'a@quvera.test' })
    const message = claimed && writeMessage(claimed, [STAFF], PUBLIC_URL)
    if (message) await mailer.send(message, AbortSignal.timeout(5000))
    // Here the process dies. Meanwhile more enquiries come.
    const [late = ''] = await orders(1)
    await makeDue()
    const outbox = app.startOutbox({ from: 'a@quvera.test' })
    await allTold()
    await outbox.stop(1000)
    expect(notices()).toHaveLength(2)
    for (const [index, reference] of references.entries()) {
      const mails = notices().filter(({ text }) => text.includes(reference) && text.includes(`Visitor ${index}`))
      expect(mails).toHaveLength(1)
    }
    expect(notices().filter(({ text }) => text.includes(late))).toHaveLength(1)
    expect(await rows('Bundle')).toMatchObject([{ status: 'Sent', resendId: notices()[0]?.id, key: notices()[0]?.key }])
  })

  it('are told what became of it, by whatever way: sent, and then turned away', async () => {
    await orders(3)
    await claimBundle(app.db, 60)
    await makeDue()
    const outbox = app.startOutbox()
    await allTold()
    await outbox.stop(1000)
    expect(await states('Staff')).toEqual(['Sent', 'Sent', 'Sent'])
    const resendId = notices()[0]?.id ?? ''
    await app.recordEvent({ id: 'one', resendId, type: 'email.bounced', reason: 'mailbox full' })
    for (const mail of [...(await rows('Staff')), ...(await rows('Bundle'))])
      expect(mail).toMatchObject({ status: 'Bounced', lastError: 'bounced: mailbox full' })
    const { stdout } = await staff(['mails'], app.env)
    expect(stdout).toContain('ALARM: nobody has been told of 3 enquiries')
    const [bundled] = await rows('Bundle')
    const { reference = '' } = (await app.db.enquiry.findFirst()) ?? {}
    const shown = (await staff(['show', reference], app.env)).stdout
    expect(shown).toMatch(new RegExp(`Staff: Bounced, sent .*, together with others in mail ${bundled?.id}\\n`))
    expect(shown).toContain('did not reach staff')
  })

  it('are sent one by one after a retry when the mail for all was refused', async () => {
    await orders(3)
    await claimBundle(app.db, 60)
    await makeDue()
    app.resend.behaviour = { status: 422, name: 'validation_error' }
    const outbox = app.startOutbox()
    await allTold()
    expect([await states('Staff'), await states('Bundle')]).toEqual([['Failed', 'Failed', 'Failed'], ['Failed']])
    app.resend.behaviour = 'accept'
    await staff(['mails', 'retry', '--yes'], app.env)
    await allTold()
    await outbox.stop(1000)
    expect([await states('Staff'), await states('Bundle')]).toEqual([['Sent', 'Sent', 'Sent'], ['Withheld']])
    expect(
      notices()
        .map(({ key }) => key)
        .sort(),
    ).toEqual((await rows('Staff')).map(({ enquiryId }) => `staff/${enquiryId}`).sort())
    expect((await rows('Staff')).every(({ bundledInto }) => bundledInto === null)).toBe(true)
  })

  it('wait for none of them: the first may be withheld by hand or by age, the others are told', async () => {
    const [first = '', ...others] = await orders(5)
    await claimBundle(app.db, 1)
    const receivedAt = new Date(Date.now() - 8 * DAY_MS)
    await app.db.enquiry.update({ where: { reference: first }, data: { receivedAt } })
    const [notice] = await rows('Staff')
    const [together] = await rows('Bundle')
    const refused = await staff(['mails', 'withhold', String(notice?.id)], app.env)
    expect(refused.stdout).toContain(`Left: mail ${notice?.id}, which goes along in bundle ${together?.id}.`)
    await app.db.mail.updateMany({ where: bundle, data: { ambiguousAt: null } })
    await withholdOld(app.db, 7)
    await staff(['mails', 'withhold', '--older-than', '7d'], app.env)
    await staff(['mails', 'retry', String(notice?.id)], app.env)
    const outbox = app.startOutbox()
    await allTold()
    await outbox.stop(1000)
    expect(await states('Staff')).toEqual(Array(5).fill('Sent'))
    for (const reference of others) expect(notices()[0]?.text).toContain(reference)
  })

  it('are withheld with it', async () => {
    await orders(2)
    const [claimed] = await claimBundle(app.db, 60)
    expect((await staff(['mails', 'withhold', String(claimed?.id)], app.env)).stdout).toContain('1 mail is withheld')
    expect(await states('Staff')).toEqual(['Withheld', 'Withheld'])
  })

  it('stay owed when the first of them is erased; a mail that is about nothing any more is not sent', async () => {
    const [first = '', ...rest] = await orders(3)
    await claimBundle(app.db, 60)
    await app.db.enquiry.delete({ where: { reference: first } })
    await makeDue()
    const outbox = app.startOutbox()
    await allTold()
    for (const reference of rest) expect(notices().filter(({ text }) => text.includes(reference))).toHaveLength(1)
    await outbox.stop(1000)
    await orders(2)
    await claimBundle(app.db, 60)
    await app.db.enquiry.deleteMany()
    await makeDue()
    const again = app.startOutbox()
    await allTold()
    await again.stop(1000)
    expect(notices()).toHaveLength(1)
    expect(await states('Bundle')).toEqual(['Sent', 'Withheld'])
  })

  it('are for a person to look up when one was erased after a try that Resend took', async () => {
    const [first = ''] = await orders(3)
    const [claimed] = await claimBundle(app.db, 60)
    const mailer = createMailer({ apiKey: 're_test', baseUrl: app.resend.url, from: 'Quvera <a@quvera.example>' })
    const message = claimed && writeMessage(claimed, [STAFF], PUBLIC_URL)
    if (message) await mailer.send(message, AbortSignal.timeout(5000))
    await app.db.enquiry.delete({ where: { reference: first } })
    await makeDue()
    const outbox = app.startOutbox()
    await allTold()
    await outbox.stop(1000)
    expect(notices()).toHaveLength(1)
    expect([await states('Staff'), await states('Bundle')]).toEqual([['Unknown', 'Unknown'], ['Unknown']])
  })

  it('are all named in less than Gmail shows, however many and however long', async () => {
    const [newest = ''] = (await orders(1)).slice(-1)
    await app.db.$executeRaw`
      WITH form AS (
        INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
        SELECT gen_random_uuid(), 'QV-' || n, now() - interval '1 hour', repeat(chr(39) || 'क', 100), repeat('a', 64) || '@' || repeat(repeat('b', 60) || '.', 3) || 'in',
          '9876543210', 9007199254740991, 'Self Use', ${products[0]}::"Quvera_Product", '1', gen_random_uuid()
        FROM generate_series(1, 6000) n RETURNING "Id"
      )
      INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind") SELECT "Id", 'Staff' FROM form`
    await app.db.mail.updateMany({ where: { kind: 'Acknowledgement' }, data: { status: 'Sent' } })
    const [claimed] = await claimBundle(app.db, 60)
    expect(claimed?.total).toBe(6001)
    expect(claimed?.enquiries.length).toBeLessThanOrEqual(50)
    const message = claimed && writeMessage(claimed, [STAFF], PUBLIC_URL)
    expect(message?.subject).toMatch(/^6001 enquiries: /)
    expect(Buffer.byteLength(`${message?.html}${message?.text}`)).toBeLessThan(102_000)
    const shown = message?.text.match(/^Reference: /gm)?.length ?? 0
    expect(shown).toBeGreaterThan(10)
    for (const part of [message?.text, message?.html]) {
      expect(new Set(part?.match(/\b[A-Z]{2,5}-\w+/g)).size).toBe(1000)
      expect(part).toContain(`Enquiry ${newest}: `)
      expect(part).toContain('And 5001 more: npm run -s staff -- list --new --limit 6001')
    }
    expect(await app.db.mail.count({ where: { kind: 'Staff', bundledInto: null, NOT: bundle } })).toBe(0)
  }, 60_000)
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
    await app.db.mail.updateMany({ data: { sentAt: new Date(Date.now() - 6 * 60_000) } })
  }

  it('Resend is asked once, some minutes later, what became of a mail', async () => {
    await aMailOfSixMinutesAgo()
    await eventually(async () => {
      const rows = await app.db.mail.findMany({ orderBy: { kind: 'asc' } })
      expect(rows.map(({ status }) => status)).toEqual(['Delivered', 'Bounced'])
      expect(rows.every(({ checkedAt }) => checkedAt)).toBe(true)
    })
    expect(app.resend.calls.all).toBe(4)
  })

  it('a key that may only send is told of once', async () => {
    app.resend.sendingOnly = true
    await aMailOfSixMinutesAgo()
    await eventually(() => expect(app.logLines.join()).toContain('may only send'))
    const calls = app.resend.calls.all
    await new Promise((done) => setTimeout(done, 500)) // several looks
    expect(app.resend.calls.all).toBe(calls)
  })

  it('a question that Resend does not answer holds up neither a mail nor the end, and is not put again at once', async () => {
    app.resend.asked = 'hang'
    await aMailOfSixMinutesAgo()
    await eventually(() => expect(app.resend.calls.asked).toHaveLength(1))
    const ordered = performance.now()
    await submit(app.url, anOrder())
    await eventually(() => expect(app.resend.mails).toHaveLength(4))
    expect(performance.now() - ordered).toBeLessThan(2000)
    const stopped = performance.now()
    await app.outbox.stop(4000)
    expect(performance.now() - stopped).toBeLessThan(1000)

    app.resend.asked = 'fail'
    const again = app.startOutbox()
    await eventually(() => expect(app.resend.calls.asked).toHaveLength(2))
    await submit(app.url, anOrder()) // looks go on
    await eventually(() => expect(app.resend.mails).toHaveLength(6))
    await new Promise((done) => setTimeout(done, 500)) // several looks
    expect(new Set(app.resend.calls.asked).size).toBe(app.resend.calls.asked.length)
    await again.stop(1000)
  })

  it('Resend is asked again when a mail is twice as old', async () => {
    app.resend.asked = 'fail'
    await aMailOfSixMinutesAgo()
    await eventually(() => expect(app.resend.calls.asked).toHaveLength(2))
    app.resend.asked = 'answer'
    await app.db
      .$executeRaw`UPDATE "Quvera_Mail" SET "SentAt" = now() - interval '13 minutes', "CheckedAt" = now() - interval '7 minutes'`
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(0))
    expect(app.resend.calls.asked).toHaveLength(4)
  })
})
