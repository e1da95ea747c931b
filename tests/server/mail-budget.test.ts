import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { allowanceOf } from '../../server/mail/budget.ts'
import { claimBundle } from '../../server/mail/claims.ts'
import { createMailer } from '../../server/mail/mailer.ts'
import { writeMessage } from '../../server/mail/write-message.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

describe('a day’s mails', () => {
  const HOUR_MS = 3_600_000
  const used = (notices: number, acknowledgements = 0, quietMs = 0) => ({ notices, acknowledgements, quietMs })

  it('go one by one while there are plenty, acknowledgements up to a third', () => {
    expect(allowanceOf(100, used(0))).toEqual({ notices: 34, bundled: false, pauseMs: 0, acknowledgements: 33 })
    expect(allowanceOf(100, used(33, 33))).toMatchObject({ notices: 1, bundled: false, acknowledgements: 0 })
  })

  it('then together, with pauses that grow', () => {
    const pauses = Array.from({ length: 33 }, (_, index) => allowanceOf(100, used(34 + index)))
    expect(pauses.every(({ bundled, notices }) => bundled && notices === 0)).toBe(true)
    expect(pauses[0]?.pauseMs).toBeLessThan(20_000)
    expect(pauses.every(({ pauseMs }, index) => pauseMs > (pauses[index - 1]?.pauseMs ?? 0))).toBe(true)
    expect(allowanceOf(100, used(34, 0, 20_000))).toMatchObject({ notices: 1, bundled: true, pauseMs: 0 })
    expect(allowanceOf(100, used(67, 0, HOUR_MS)).notices).toBe(0)
  })

  it.each([9, 30, 100, 1000])('last for the day, however many enquiries come: %i', (budget) => {
    let [sent, hours] = [0, 0]
    while (hours < 24) {
      const { notices, pauseMs } = allowanceOf(budget, used(sent, 0, 0))
      if (pauseMs >= 24 * HOUR_MS) break
      if (notices > 0) sent += notices
      else {
        hours += pauseMs / HOUR_MS
        sent++
      }
    }
    expect(hours).toBeGreaterThan(20)
    expect(sent).toBeLessThanOrEqual(budget - Math.floor(budget / 3))
  })
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
      answers.push(await submit(app.url, anOrder({ name: `Visitor ${index}` })))
    return answers.map(({ reference = '' }) => reference)
  }
  const makeDue = () => app.db.mail.updateMany({ where: { status: 'Pending' }, data: { nextAttemptAt: new Date() } })
  const notices = () => app.resend.mails.filter(({ to }) => to[0] === STAFF)

  it('hold all their data, and each enquiry is in one sent mail after a crash between sending and recording', async () => {
    const references = await orders(5)
    const [bundle] = await claimBundle(app.db, 60)
    expect(bundle?.enquiries.map(({ reference }) => reference)).toEqual(references)
    const mailer = createMailer({ apiKey: 're_test', baseUrl: app.resend.url, from: 'a@quvera.test' })
    if (bundle) await mailer.send(writeMessage(bundle, [STAFF]), AbortSignal.timeout(5000))
    // Here the process dies. Meanwhile more enquiries come.
    const [late = ''] = await orders(1)
    await makeDue()
    const outbox = app.startOutbox({ from: 'a@quvera.test' })
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(0))
    await outbox.stop(1000)
    expect(notices()).toHaveLength(2)
    for (const [index, reference] of references.entries()) {
      const mails = notices().filter(({ text }) => text.includes(reference) && text.includes(`Visitor ${index}`))
      expect(mails).toHaveLength(1)
    }
    expect(notices().filter(({ text }) => text.includes(late))).toHaveLength(1)
    const ids = await app.db.mail.findMany({ where: { kind: 'Staff' }, distinct: ['resendId'] })
    expect(ids).toHaveLength(2)
  })

  it('are sent one by one when the mail for all was refused', async () => {
    await orders(3)
    await claimBundle(app.db, 60)
    await makeDue()
    app.resend.behaviour = { status: 422, name: 'validation_error' }
    const outbox = app.startOutbox()
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Failed' } })).toBe(6))
    await outbox.stop(1000)
    expect(await app.db.mail.count({ where: { bundledInto: { not: null } } })).toBe(0)
  })

  it('stay owed when the first of them is erased', async () => {
    const [first = '', ...rest] = await orders(3)
    await claimBundle(app.db, 60)
    await app.db.enquiry.delete({ where: { reference: first } })
    await app.db.mail.updateMany({ data: { attempts: 0, nextAttemptAt: new Date() } })
    const outbox = app.startOutbox()
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(4))
    await outbox.stop(1000)
    for (const reference of rest) expect(notices().filter(({ text }) => text.includes(reference))).toHaveLength(1)
  })
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
    await new Promise((done) => setTimeout(done, 2500))
    expect(app.resend.calls.all).toBe(calls)
  })
})
