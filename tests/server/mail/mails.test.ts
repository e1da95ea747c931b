// The mails of an order go out once each, wait while Resend takes none, and are shown to staff when they cannot be sent.

import { describe, expect, it } from 'vitest'
import type { MailKind } from '../../../server/database/generated/enums.ts'
import { withholdMails } from '../../../server/mail/of-enquiry.ts'
import { countUntold } from '../../../server/operations/problems.ts'
import { insertEnquiries, toInsertRow } from '../../../server/orders/storing.ts'
import { brand } from '../../../shared/brand.ts'
import { anOrder, submit } from '../../support/an-order.ts'
import { eventually } from '../../support/eventually.ts'
import { type Behaviour, STAFF } from '../../support/fake-resend.ts'
import { theApp } from '../../support/fixtures.ts'
import { freePort } from '../../support/server-process.ts'
import { hoursAgo, storeEnquiry } from '../../support/stored-enquiry.ts'
import type { TestApp } from '../../support/test-app.ts'

/** Its mails wait until a test starts to send them. */
const app = await theApp({ mails: false })

const mailRows = () => app.db.mail.findMany({ orderBy: { id: 'asc' } })
const states = async () => (await mailRows()).map(({ status }) => status)

/** What waits until its next try is tried now. */
const dueNow = () => app.db.mail.updateMany({ where: { status: 'Pending' }, data: { dueAt: new Date() } })

/** Runs senders until the condition holds. */
async function sendUntil(condition: () => unknown, changes: Parameters<TestApp['startSenders']>[0] = {}) {
  const senders = app.startSenders(changes)
  await eventually(condition)
  await senders.stop(5000)
}

it('go to staff and visitor, each with its tag as key, the right reply address, and marked as automatic', async () => {
  const order = anOrder()
  await submit(app.url, order)
  await sendUntil(() => expect(app.resend.mails).toHaveLength(2))
  const [notice, acknowledgement] = await mailRows()
  const automatic = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' }
  const sent = { from: 'Quvera <a@quvera.example>', headers: automatic }
  expect(app.resend.mails).toMatchObject([
    { ...sent, to: [STAFF], replyTo: order.email, key: notice?.tag, tag: notice?.tag },
    { ...sent, to: [order.email], replyTo: brand.email, key: acknowledgement?.tag, tag: acknowledgement?.tag },
  ])
})

it('go to each of staff singly: one whose address Resend refuses keeps the mail from nobody else', async () => {
  const staff = [STAFF, 'bad@quvera.test', 'desk@quvera.test']
  await insertEnquiries(app.db, [toInsertRow(anOrder())], { STAFF_EMAILS: staff })
  app.resend.behaviour = { refusesAddress: 'bad@quvera.test' }
  const areDone = async () => expect(await states()).toEqual(['Sent', 'Failed', 'Sent', 'Sent'])
  await sendUntil(areDone, { STAFF_EMAILS: staff })
  expect(app.logLines.join()).not.toContain('bad@')
  expect(app.loggedErrors()).toMatchObject([{ kind: 'Notice', answer: 'refused', reason: '422 validation_error' }])
})

it('whose text cannot be written is refused, which the log tells, and the others go out', async () => {
  await app.db.mail.create({ data: { kind: 'Summary', to: STAFF, text: '' } })
  await submit(app.url, anOrder())
  await sendUntil(async () => expect(await states()).toEqual(['Failed', 'Sent', 'Sent']))
  expect((await mailRows())[0]?.lastError).toMatch(/^its text cannot be written/)
  expect(app.loggedErrors()).toMatchObject([
    { mail: expect.anything(), err: { type: 'Error' } },
    { kind: 'Summary', answer: 'refused' },
  ])
})

it('that Resend took are Sent, also if staff marked the enquiry as spam while it was asked', async () => {
  await submit(app.url, anOrder())
  const { id } = await app.db.enquiry.findFirstOrThrow()
  app.resend.behaviour = { answersAfterMs: 500 }
  app.resend.onMail = () => void withholdMails(app.db, id)
  await sendUntil(async () => expect(await states()).toEqual(['Sent', 'Withheld']))
})

it('of subscribers wait without PUBLIC_URL, also those that were tried with it', async () => {
  const tried = { kind: 'Confirmation', attempts: 1, firstTriedAt: hoursAgo(1) } as const
  await app.db.subscriber.create({
    data: { email: 'asha@shop.example', consentVersion: '1', mails: { create: tried } },
  })
  await submit(app.url, anOrder())
  await sendUntil(async () => expect((await states()).filter((state) => state === 'Sent')).toHaveLength(2), {
    PUBLIC_URL: undefined,
  })
  expect(await states()).toEqual(['Pending', 'Sent', 'Sent'])
})

describe('while Resend', () => {
  it.each<[string, Behaviour, isTried: boolean]>([
    ['is down', { status: 500, name: 'internal_server_error' }, true],
    ['refuses the key', { status: 401, name: 'invalid_api_key' }, false],
  ])('%s, the order is stored and its mails wait, and go out later', async (_, behaviour, isTried) => {
    app.resend.behaviour = behaviour
    expect((await submit(app.url, anOrder())).status).toBe(200)
    await sendUntil(async () => expect((await mailRows()).some((row) => row.lastError)).toBe(true))
    expect(await states()).toEqual(['Pending', 'Pending'])
    expect((await mailRows()).some(({ firstTriedAt }) => firstTriedAt)).toBe(isTried)
    app.resend.behaviour = 'accept'
    await dueNow()
    await sendUntil(async () => expect(await states()).toEqual(['Sent', 'Sent']))
    expect(app.resend.mails).toHaveLength(2)
  })

  it('loses each answer, no mail is sent twice', async () => {
    await submit(app.url, anOrder())
    app.resend.behaviour = { answersAfterMs: 60_000 }
    await sendUntil(() => expect(app.resend.mails.length).toBe(2), { MAIL_LEASE_SECONDS: 1 })
    app.resend.behaviour = 'accept'
    await dueNow()
    await sendUntil(async () => expect(await states()).toEqual(['Sent', 'Sent']))
    expect(app.resend.mails).toHaveLength(2)
  })

  it('could not be reached, the result of a try of more than 23 hours ago is Unknown, and nothing is sent', async () => {
    await submit(app.url, anOrder())
    const nowhere = { RESEND_BASE_URL: `http://127.0.0.1:${await freePort()}` }
    await sendUntil(async () => expect((await mailRows()).every((row) => row.lastError)).toBe(true), nowhere)
    await app.db.mail.updateMany({ data: { firstTriedAt: hoursAgo(23.1), dueAt: new Date() } })
    await sendUntil(async () => expect(await states()).toEqual(['Unknown', 'Unknown']))
    expect(app.resend.mails).toHaveLength(0)
  })

  it('answers one of them with a page of a firewall, the others go out', async () => {
    app.resend.behaviour = { blocks: 'DROP TABLE' }
    for (const name of ['Robert; DROP TABLE', 'Asha', 'Ravi']) await submit(app.url, anOrder({ name }))
    await sendUntil(() => expect(app.resend.mails).toHaveLength(5))
    const pending = await app.db.mail.findMany({ where: { status: 'Pending' } })
    expect(pending).toMatchObject([{ kind: 'Notice', lastError: expect.stringMatching(/^403 /) }])
  })
})

it('are sent by kind: summaries, notices, confirmations, acknowledgements', async () => {
  await submit(app.url, anOrder())
  const mails = { create: { kind: 'Confirmation' } } as const
  await app.db.subscriber.create({ data: { email: 'asha@shop.example', consentVersion: '1', mails } })
  await app.db.mail.create({ data: { kind: 'Summary', to: STAFF, text: 'Quvera: 1 waiting' } })
  await sendUntil(() => expect(app.resend.mails).toHaveLength(4))
  const tags = new Map((await mailRows()).map(({ tag, kind }) => [tag, kind]))
  const kinds: MailKind[] = ['Summary', 'Notice', 'Confirmation', 'Acknowledgement']
  expect(app.resend.mails.map(({ tag }) => tags.get(tag))).toEqual(kinds)
})

describe('that have waited for too long', () => {
  it('are withheld before one is sent, and a summary tells of the enquiry', async () => {
    const old = hoursAgo(24 * 9)
    const pending = { Notice: 'Pending', Acknowledgement: 'Pending' }
    await storeEnquiry(app.db, { receivedAt: old, status: 'Contacted' }, pending)
    await storeEnquiry(app.db, { receivedAt: old }, pending)
    await storeEnquiry(app.db, { receivedAt: hoursAgo(24 * 6) }, pending)
    await sendUntil(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(0))
    await sendUntil(() => expect(app.resend.mails).toHaveLength(2)) // the notice of six days ago, and a summary
    expect(await app.db.mail.count({ where: { withheldBecause: 'TooOld' } })).toBe(5)
    expect(await countUntold(app.db)).toBe(0)
  })

  it('are repeated under their key, if a try may have sent them, as long as that counts', async () => {
    await submit(app.url, anOrder())
    await app.db.mail.updateMany({ data: { queuedAt: hoursAgo(200), firstTriedAt: hoursAgo(22) } })
    await sendUntil(() => expect(app.resend.mails).toHaveLength(2))
  })
})
