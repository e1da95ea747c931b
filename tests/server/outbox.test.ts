// The mails of an order wait while Resend fails, go out once each when it works again, or are shown to staff.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readBacklog } from '../../server/mail/backlog.ts'
import { withholdOld } from '../../server/mail/queue.ts'
import { mailKinds } from '../../server/mail/states.ts'
import { readSummary } from '../../server/mail/summary.ts'
import { withheldByRestore } from '../../server/staff/mail-sections.ts'
import { brand } from '../../shared/brand.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { type Behaviour, STAFF } from '../support/fake-resend.ts'
import { freePort } from '../support/server-process.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo, storeEnquiry } from '../support/stored-enquiry.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let app: TestApp
beforeEach(async () => {
  app = await startTestApp({ summaryWaitMs: 600_000 })
})
afterEach(() => app.close())

function mailRows() {
  return app.db.mail.findMany({ orderBy: { kind: 'asc' } })
}

describe('the mails of an order', () => {
  it('go to staff and visitor, each with its key and the right reply address', async () => {
    const order = anOrder()
    await submit(app.url, order)
    await eventually(() => expect(app.resend.mails).toHaveLength(2))
    const [enquiry] = await app.db.enquiry.findMany()
    const notice = app.resend.mails.find((mail) => mail.to[0] === STAFF)
    const reply = app.resend.mails.find((mail) => mail.to[0] === order.email)
    expect(notice).toMatchObject({
      key: `staff/${enquiry?.id}`,
      replyTo: order.email,
      from: 'Quvera <a@quvera.example>',
    })
    expect(reply).toMatchObject({ key: `ack/${enquiry?.id}`, replyTo: brand.email })
  })

  it.each<[string, Behaviour]>([
    ['is down', { status: 500, name: 'internal_server_error' }],
    ['resets the connection', 'reset'],
    ['answers HTML', 'html'],
    ['answers garbage', 'garbage'],
    ['throttles', { status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '1' } }],
    ['refuses the key', { status: 401, name: 'invalid_api_key' }],
    ['refuses a revoked key', { status: 400, name: 'validation_error', message: 'API key is invalid' }],
    ['is not at this address', { status: 404, name: 'NOT_FOUND', message: 'Cannot POST /wrong/emails' }],
    ['names no error', { status: 422, name: '' }],
    ['refuses the sender', { status: 422, name: 'invalid_from_address' }],
    ['has sent the day’s mails', { status: 429, name: 'daily_quota_exceeded' }],
    ['has sent the month’s mails', { status: 429, name: 'monthly_quota_exceeded' }],
  ])('stay pending while Resend %s; the order is stored', async (_, behaviour) => {
    app.resend.behaviour = behaviour
    expect((await submit(app.url, anOrder())).status).toBe(200)
    await eventually(async () => {
      const rows = await mailRows()
      expect(rows.every((row) => row.status === 'Pending')).toBe(true)
      expect(rows.some((row) => row.lastError)).toBe(true)
    })
    await app.outbox.stop(1000)
    app.resend.behaviour = 'accept'
    await app.db.mail.updateMany({ data: { dueAt: new Date() } })
    const again = app.startOutbox()
    await eventually(async () => expect((await mailRows()).map((row) => row.status)).toEqual(['Sent', 'Sent']), 20_000)
    await again.stop(1000)
    expect(app.resend.mails).toHaveLength(2)
  })

  it('fail and are listed when Resend refuses them for good, and the next ones are sent', async () => {
    app.resend.behaviour = { status: 422, name: 'validation_error' }
    await submit(app.url, anOrder())
    await eventually(async () => expect((await mailRows()).map((row) => row.status)).toEqual(['Failed', 'Failed']))
    for (const { lastError } of await mailRows()) expect(lastError).toContain('422 validation_error')
    app.resend.behaviour = 'accept'
    await submit(app.url, anOrder())
    await eventually(() => expect(app.resend.mails).toHaveLength(2))
    await eventually(async () => expect(await readBacklog(app.db)).toMatchObject({ failed: 2, pending: 0 }))
  })

  it('go out once each after Resend could not be reached for two days', async () => {
    await app.outbox.stop(1000)
    const nowhere = { RESEND_BASE_URL: `http://127.0.0.1:${await freePort()}` }
    await submit(app.url, anOrder())
    const offline = app.startOutbox(nowhere)
    await eventually(async () => expect((await mailRows()).some((row) => row.lastError)).toBe(true))
    await offline.stop(1000)
    expect(await mailRows()).toMatchObject([{ triedAt: null }, { triedAt: null }])
    await app.db.mail.updateMany({ where: { kind: 'Notice' }, data: { dueAt: hoursAgo(48) } })
    const again = app.startOutbox()
    await eventually(async () => expect((await mailRows()).map((row) => row.status)).toEqual(['Sent', 'Sent']))
    await again.stop(1000)
    expect(app.resend.mails).toHaveLength(2)
  })

  it('go to each of staff singly when Resend refuses one of the addresses', async () => {
    await app.outbox.stop(1000)
    app.resend.behaviour = { refusesAddress: 'bad@quvera.test' }
    await submit(app.url, anOrder())
    const outbox = app.startOutbox({ STAFF_EMAILS: [STAFF, 'bad@quvera.test', 'desk@quvera.test'] })
    await eventually(async () => expect((await mailRows()).map((row) => row.status)).toEqual(['Sent', 'Sent']))
    await outbox.stop(1000)
    const notices = app.resend.mails.filter(({ key }) => key.startsWith('staff/'))
    expect(notices.map(({ to }) => to)).toEqual([[STAFF], ['desk@quvera.test']])
    expect(app.loggedErrors()).toMatchObject([{ msg: expect.stringContaining('correct STAFF_EMAILS') }])
    expect(app.logLines.join()).not.toContain('bad@')
    expect((await mailRows())[0]?.lastError).toContain('422 validation_error: Invalid `to` field')
  })

  it('become Unknown when an earlier try may have sent them more than 23 hours ago', async () => {
    app.resend.behaviour = 'reset'
    await submit(app.url, anOrder())
    await eventually(async () => expect((await mailRows()).every((row) => row.lastError)).toBe(true))
    await app.outbox.stop(5000) // with the end of the try under way, which the fake would accept else
    const longAgo = new Date(Date.now() - 23.1 * 3_600_000)
    await app.db.mail.updateMany({ data: { triedAt: longAgo, dueAt: new Date() } })
    app.resend.behaviour = 'accept'
    const again = app.startOutbox()
    await eventually(async () => expect((await mailRows()).map((row) => row.status)).toEqual(['Unknown', 'Unknown']))
    await again.stop(1000)
    expect(app.resend.mails).toHaveLength(0)
  })

  it('do not count as tried after a clear refusal', async () => {
    app.resend.behaviour = { status: 403, name: 'invalid_api_key' }
    await submit(app.url, anOrder())
    await eventually(async () => expect((await mailRows()).find((row) => row.lastError)?.triedAt).toBeNull())
  })

  it('keep the time from which their age counts when Resend does not take them now', async () => {
    await app.outbox.stop(1000)
    await submit(app.url, anOrder())
    const before = (await mailRows()).map(({ dueAt }) => dueAt)
    app.resend.behaviour = { status: 401, name: 'invalid_api_key' }
    const outbox = app.startOutbox({ MAIL_RETRY_SECONDS: 600 })
    await eventually(async () => expect((await mailRows()).some(({ lastError }) => lastError)).toBe(true))
    await outbox.stop(1000)
    expect((await mailRows()).map(({ dueAt }) => dueAt)).toEqual(before)
  })

  it('fail one by one, without a pause, while Resend sends to the owner of the account only', async () => {
    app.resend.behaviour = { onlyTo: STAFF }
    for (let index = 0; index < 3; index++) await submit(app.url, anOrder({ email: `v${index}@shop.example` }))
    await eventually(async () =>
      expect((await mailRows()).map(({ status }) => status)).toEqual([
        'Sent',
        'Sent',
        'Sent',
        'Failed',
        'Failed',
        'Failed',
      ]),
    )
    expect(app.countLogged('the sender pauses')).toBe(0)
  })

  it('go out while a firewall in front of Resend answers one of them with a 403 of its own', async () => {
    await app.outbox.stop(1000)
    app.resend.behaviour = { blocks: 'DROP TABLE' }
    for (const name of ['Robert; DROP TABLE', 'Asha', 'Ravi']) await submit(app.url, anOrder({ name }))
    const outbox = app.startOutbox({ MAIL_RETRY_SECONDS: 5 })
    await eventually(() => expect(app.resend.mails).toHaveLength(5))
    await outbox.stop(1000)
    const pending = await app.db.mail.findMany({ where: { status: 'Pending' } })
    expect(pending).toMatchObject([{ kind: 'Notice', lastError: expect.stringMatching(/^403 /) }])
  })

  it('go out while Resend refuses one of them again and again under a name that it does not document', async () => {
    await app.outbox.stop(1000)
    app.resend.behaviour = { refusesAddress: 'bad@shop.example', name: 'a_new_error', limitASecond: 4 }
    for (const to of ['good', 'bad']) await submit(app.url, anOrder({ email: `${to}@shop.example` }))
    const outbox = app.startOutbox()
    await eventually(() => expect(app.countLogged('the sender pauses')).toBe(3))
    expect(app.resend.mails).toHaveLength(3)
    await outbox.stop(1000)
    const pending = await app.db.mail.findMany({ where: { status: 'Pending' } })
    expect(pending).toMatchObject([{ kind: 'Acknowledgement', lastError: expect.stringMatching(/^422 a_new_error/) }])
  })

  it('are sent in the order notices, confirmations, acknowledgements', async () => {
    await app.outbox.stop(1000)
    app.resend.behaviour = { limitASecond: 1 }
    for (let index = 0; index < 2; index++) await submit(app.url, anOrder({ email: `v${index}@shop.example` }))
    const mails = { create: { kind: 'Confirmation', key: 'confirm/x' } } as const
    await app.db.subscriber.create({ data: { email: 'asha@shop.example', consentVersion: '1', mails } })
    const outbox = app.startOutbox()
    await eventually(() => expect(app.resend.mails).toHaveLength(4))
    await outbox.stop(1000)
    expect(app.resend.mails.map(({ key }) => key.split('/')[0])).toEqual(['staff', 'staff', 'confirm', 'ack'])
  })

  it('get their result from the newest try only', async () => {
    app.resend.behaviour = { slowMs: 600 }
    await submit(app.url, anOrder())
    await eventually(() => expect(app.resend.calls.all).toBeGreaterThan(0))
    const taken = (await mailRows()).find((row) => row.attempts === 1)
    await app.db.mail.updateMany({
      where: { id: taken?.id ?? 0n },
      data: { attempts: 5, dueAt: new Date(Date.now() + 60_000) },
    })
    await app.outbox.stop(5000) // once it has dealt with what Resend answers
    expect(app.resend.mails.length).toBeGreaterThan(0)
    expect(await app.db.mail.findUnique({ where: { id: taken?.id ?? 0n } })).toMatchObject({
      status: 'Pending',
      attempts: 5,
    })
  })
})

describe('a notice that may never be read', () => {
  it('is an alarm when Resend will never take it', async () => {
    app.resend.behaviour = { status: 422, name: 'validation_error' }
    await submit(app.url, anOrder())
    await eventually(async () => expect((await mailRows()).map((row) => row.status)).toEqual(['Failed', 'Failed']))
    expect(app.loggedErrors()).toMatchObject([{ kind: 'Notice', state: 'Failed', reason: '422 validation_error' }])
  })

  it('is an alarm when the month’s mails are used up', async () => {
    app.resend.behaviour = { status: 429, name: 'monthly_quota_exceeded' }
    await submit(app.url, anOrder())
    await eventually(() => expect(app.loggedErrors()).toMatchObject([{ reason: '429 monthly_quota_exceeded' }]))
  })

  it('is sent without the visitor’s address for replies when Resend refuses that address, and says so', async () => {
    app.resend.behaviour = { refusesReplyTo: true }
    await submit(app.url, anOrder())
    await eventually(async () => expect((await mailRows()).map((row) => row.status)).toEqual(['Sent', 'Sent']))
    const notice = app.resend.mails.find((mail) => mail.to[0] === STAFF)
    expect(notice).toMatchObject({ replyTo: '', text: expect.stringContaining('write to it yourself') })
    expect(notice?.html).toContain('write to it yourself')
    for (const body of [notice?.text, notice?.html])
      expect(body).not.toContain('A reply to this mail goes to the visitor')
    expect(notice?.text.indexOf('write to it yourself')).toBeLessThan(notice?.text.indexOf('Reference') ?? 0)
    expect(app.resend.mails.find((mail) => mail.to[0] !== STAFF)?.text).not.toContain('write to it yourself')
  })
})

async function anEnquiryFrom(daysAgo: number) {
  const { reference = '' } = await submit(app.url, anOrder())
  const receivedAt = new Date(Date.now() - daysAgo * 86_400_000)
  await app.db.enquiry.update({ where: { reference }, data: { receivedAt } })
  await app.db.mail.updateMany({ where: { enquiry: { reference } }, data: { dueAt: receivedAt } })
  return reference
}

describe('mails about an enquiry of long ago', () => {
  it('are withheld when a key is set, and staff are warned of an enquiry that is still New', async () => {
    await app.outbox.stop(1000)
    const dealtWith = await anEnquiryFrom(9)
    await app.db.enquiry.update({ where: { reference: dealtWith }, data: { status: 'Contacted' } })
    const untold = await anEnquiryFrom(8)
    await anEnquiryFrom(6)
    const confirmation = {
      kind: 'Confirmation',
      key: 'confirm/x',
      dueAt: new Date(Date.now() - 9 * 86_400_000),
    } as const
    await app.db.subscriber.create({
      data: { email: 'asha@shop.example', consentVersion: '1', mails: { create: confirmation } },
    })
    const outbox = app.startOutbox()
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(0))
    await outbox.stop(1000)
    expect(await app.db.mail.count({ where: { status: 'Withheld', lastError: { contains: 'after 7 days' } } })).toBe(3)
    expect((await app.db.mail.findFirst({ where: { kind: 'Confirmation' } }))?.lastError).toBe(
      'Not sent: after 7 days it is too late.',
    )
    expect(await app.db.mail.count({ where: { status: 'Withheld', lastError: { contains: 'after 24 hours' } } })).toBe(
      3,
    )
    expect(app.resend.mails).toHaveLength(1)

    const { stdout } = await staff(['mails'], app.env)
    expect(stdout).toContain('ALARM: nobody has been told of these enquiries (1)')
    expect(stdout).toContain(untold)
    expect(stdout).not.toContain(dealtWith)
    expect(stdout).not.toContain('No mail waits.')
    const page = await readSummary(app.db, new Date())
    expect(page).toMatch(new RegExp(`Nobody has been told of these.*\\n${untold} · `))
    expect(page).not.toContain('Ring these visitors')
  })

  it('are not withheld when a person has asked to send them', async () => {
    await app.outbox.stop(1000)
    const refused = await anEnquiryFrom(8)
    const held = await anEnquiryFrom(8)
    const set = (reference: string, data: object) => app.db.mail.updateMany({ where: { enquiry: { reference } }, data })
    await set(refused, { status: 'Failed', lastError: '422' })
    await set(held, withheldByRestore)
    expect((await staff(['mails', 'retry', '--yes', '--restored'], app.env)).stdout).toContain('4 mails are due now')
    await withholdOld(app.db, mailKinds, 7)
    expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(4)
  })
})

describe('an acknowledgement', () => {
  const acknowledgement = () => app.db.mail.findFirst({ where: { kind: 'Acknowledgement' } })
  /** Its first try is a minute before it is too late; then Resend works again, later than that. */
  async function aLateTry(behaviour: Behaviour) {
    await app.outbox.stop(1000)
    await storeEnquiry(
      app.db,
      { receivedAt: new Date(hoursAgo(24).getTime() + 60_000) },
      { Acknowledgement: 'Pending' },
    )
    app.resend.behaviour = behaviour
    const outbox = app.startOutbox()
    await eventually(async () => expect((await acknowledgement())?.lastError).toBeTruthy())
    await outbox.stop(1000)
    await app.db.$executeRaw`
      UPDATE "Quvera_Mail" SET "DueAt" = "DueAt" - interval '2 minutes', "TriedAt" = "TriedAt" - interval '2 minutes'`
    app.resend.behaviour = 'accept'
    const next = app.startOutbox()
    await eventually(async () => expect((await acknowledgement())?.status).not.toBe('Pending'))
    await next.stop(1000)
    return (await acknowledgement())?.status
  }

  it('that Resend did not take within 24 hours is withheld as too late', async () => {
    expect(await aLateTry({ status: 429, name: 'daily_quota_exceeded' })).toBe('Withheld')
    expect(app.resend.mails).toHaveLength(0)
  })

  it('that may have been sent within 24 hours is repeated under its key, as long as that counts', async () => {
    expect(await aLateTry({ status: 500, name: 'internal_server_error' })).toBe('Sent')
    expect(new Set(app.resend.calls.keys).size).toBe(1)
  })
})

describe('the age of what waits', () => {
  it('is the age of the oldest one, also beside a summary that was tried', async () => {
    await app.outbox.stop(1000)
    await app.db.mail.create({ data: { kind: 'Summary', key: 'x', attempts: 1, triedAt: new Date() } })
    await storeEnquiry(app.db, { receivedAt: hoursAgo(2) }, { Notice: 'Pending' })
    const tried = { dueAt: new Date(Date.now() + 60_000), attempts: 1, triedAt: hoursAgo(2) }
    await app.db.mail.updateMany({ where: { kind: 'Notice' }, data: tried })
    expect(await readBacklog(app.db)).toMatchObject({ isOverdue: true })
    expect((await readBacklog(app.db)).oldestPendingSeconds).toBeGreaterThanOrEqual(7200)
  })

  it('is no reason for a warning when only acknowledgements wait, which may take a day', async () => {
    await app.outbox.stop(1000)
    await storeEnquiry(app.db, { receivedAt: hoursAgo(2) }, { Acknowledgement: 'Pending' })
    expect(await readBacklog(app.db)).toMatchObject({ isOverdue: false, pending: 1, oldestPendingSeconds: 0 })
  })
})

it('without a key the site warns once, at its start', async () => {
  await app.outbox.stop(1000)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  atEnd(() => vi.useRealTimers())
  await submit(app.url, anOrder())
  await app.db.mail.updateMany({ data: { dueAt: new Date(Date.now() - 16 * 60_000) } })
  const warnings = () => app.logLines.filter((line) => JSON.parse(line).level === 40)
  const waiting = app.startOutbox({ apiKey: '' })
  await eventually(() => expect(warnings()).toHaveLength(1))
  expect(warnings()[0]).toContain('mails wait longer than they should')
  vi.advanceTimersByTime(5 * 60_000)
  await readBacklog(app.db) // after whatever the timers have asked
  expect(warnings()).toHaveLength(1)
  await waiting.stop(0)
})

it('stopping waits for mails that are just being claimed, so that none stays claimed', async () => {
  await app.outbox.stop(0)
  for (let round = 0; round < 10; round++) {
    await submit(app.url, anOrder())
    const outbox = app.startOutbox()
    await outbox.stop(5000)
    const rows = await mailRows()
    expect(rows.filter((row) => row.status === 'Pending' && row.attempts > 0)).toEqual([])
  }
})
