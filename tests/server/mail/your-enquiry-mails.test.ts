// The mails that lead to the visitor's page, and those that tell of what was done there.
import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { nextSteps } from '../../../shared/next-steps.ts'
import { eventually } from '../../support/eventually.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, theApp } from '../../support/fixtures.ts'
import { hoursAgo } from '../../support/stored-enquiry.ts'
import { PUBLIC_URL, type TestApp } from '../../support/test-app.ts'
import { look, press, sendOrder } from '../../support/your-enquiry.ts'

/** Its mails wait until a test starts to send them. */
const app = await theApp({ mails: false })
const { db, url } = app

const noneWaits = (of: TestApp = app) =>
  eventually(async () => expect(await of.db.mail.count({ where: { status: 'Pending' } })).toBe(0))
async function sendAll(changes: Parameters<TestApp['startSenders']>[0] = {}) {
  const senders = app.startSenders(changes)
  await noneWaits()
  await senders.stop(1000)
}
const mailsTo = (address: string) => app.resend.mails.filter(({ to }) => to.includes(address))
const tokenIn = (text = '') => /your-enquiry\?token=([\w.-]+)/.exec(text)?.[1] ?? ''

it('the acknowledgement leads there by a link of its own, with the same steps, and a forwarded one can do less', async () => {
  const { token, reference } = await sendOrder(url)
  await sendAll()
  const [mail] = mailsTo('asha.verma@shop.example')
  const { id, secret } = await db.enquiry.findUniqueOrThrow({ where: { reference } })
  expect(tokenIn(mail?.text)).toBe(`${id}.${hash('sha256', `mail${secret}`, 'hex')}`)
  expect(mail?.html).toContain(`href="${PUBLIC_URL}/your-enquiry?token=${tokenIn(mail?.text)}"`)
  for (const { title } of nextSteps) expect(mail?.text).toContain(title)
  expect(mail?.text).toContain(nextSteps[0]?.done)
  for (const each of app.resend.mails) expect(each.text + each.html).not.toContain(secret)
  const forwarded = tokenIn(mail?.text)
  expect((await look(url, forwarded)).shown.may).toEqual(['mobile', 'quantity', 'withdraw', 'notMine', 'erase'])
  expect((await look(url, token)).shown.may).toEqual(['mobile', 'quantity', 'email', 'withdraw', 'erase'])
})

it('no link goes to an address that is probably mistyped, nor without PUBLIC_URL', async () => {
  await sendOrder(url, { email: 'asha@gmial.com' })
  const { token, reference } = await sendOrder(url, { email: 'meera@gmal.com', mobile: '9811111111' })
  await press(url, token, 'erase', { reference })
  await sendAll()
  await sendOrder(url, { email: 'asha@shop.example', mobile: '9822222222' })
  await sendAll({ PUBLIC_URL: undefined })
  const toVisitors = app.resend.mails.filter(({ to }) => !to.includes(STAFF))
  expect(toVisitors).toHaveLength(4)
  for (const { text, html } of toVisitors) expect(text + html).not.toMatch(/your-enquiry|Keep it/)
})

it('a corrected address gets its acknowledgement, and the mail that was on its way leads nowhere', async () => {
  const { token } = await sendOrder(url)
  await sendAll()
  expect((await press(url, token, 'email', { email: 'asha@right.example' })).status).toBe(303)
  await sendAll()
  const [before, after] = [mailsTo('asha.verma@shop.example'), mailsTo('asha@right.example')]
  expect([before.length, after.length]).toEqual([1, 1])
  expect([before[0]?.key === after[0]?.key, after[0]?.tag]).toEqual([false, after[0]?.key])
  expect((await look(url, tokenIn(before[0]?.text))).status).toBe(404)
  expect((await look(url, tokenIn(after[0]?.text))).status).toBe(200)
})

it('staff are told of a change, and the visitor and staff of an erasure, by texts that hold nothing typed', async () => {
  const { token, reference, order } = await sendOrder(url, { name: 'Buy at evil.example' })
  await sendAll()
  app.resend.mails.length = 0
  await press(url, token, 'mobile', { mobile: '9971112345' })
  await sendAll()
  const [change] = mailsTo(STAFF)
  expect(change?.subject).toMatch(new RegExp(`${reference}: 24 × .*: the visitor has changed it$`))
  expect(change?.text).toContain(`${PUBLIC_URL}/staff/${reference}`)
  await press(url, token, 'erase', { reference })
  await sendAll()
  expect(mailsTo(STAFF).at(-1)?.subject).toContain('somebody asks to erase it')
  const [asked] = mailsTo(order.email)
  expect(asked?.text).toMatch(
    /We were asked to erase[\s\S]*Not you\? Keep it: http[\s\S]*Not by you\? Press “Not you\? Keep it” or call us\./,
  )
  for (const { text, html } of app.resend.mails) expect(text + html).not.toMatch(/evil|9971112345|9876543210/)
  expect((await press(url, tokenIn(asked?.text), 'keep')).status).toBe(303)
  expect((await db.enquiry.findFirstOrThrow()).eraseAt).toBeNull()
})

it('that somebody asks to erase an enquiry is not told any more once it is kept, though a try may have told it', async () => {
  const { token, reference } = await sendOrder(url)
  await sendAll()
  await press(url, token, 'erase', { reference })
  app.resend.behaviour = { status: 500, name: 'internal_server_error' }
  const asked = () => db.mail.findFirstOrThrow({ where: { kind: 'ErasureAsked' } })
  const senders = app.startSenders()
  await eventually(async () => expect((await asked()).lastError).toBeTruthy())
  await senders.stop(1000)
  await press(url, token, 'keep')
  app.resend.behaviour = 'accept'
  await db.mail.updateMany({ where: { status: 'Pending' }, data: { dueAt: new Date() } })
  await sendAll()
  expect(await asked()).toMatchObject({ status: 'Withheld', withheldBecause: 'Kept' })
  expect(app.resend.mails.filter(({ subject }) => subject.includes('will be erased'))).toEqual([])
})

it('what does not hold any more is not told, whoever has changed it', async () => {
  const { token, reference } = await sendOrder(url)
  await sendAll()
  await press(url, token, 'erase', { reference })
  await db.enquiry.update({ where: { reference }, data: { eraseAt: null } }) // not by the desk, nor by the page
  await sendAll()
  expect(await db.mail.findFirst({ where: { kind: 'ErasureAsked' } })).toMatchObject({ withheldBecause: 'Kept' })
  expect(app.resend.mails.filter(({ subject }) => subject.includes('will be erased'))).toEqual([])
})

it('a summary tells what visitors changed of which no mail told, and not of what one did', async () => {
  const told = await sendOrder(url)
  const untold = await sendOrder(url, { mobile: '9811111111' })
  await press(url, told.token, 'mobile', { mobile: '9971112345' })
  await sendAll()
  await press(url, untold.token, 'quantity', { quantity: '30' })
  await db.mail.updateMany({
    where: { kind: 'Change', status: 'Pending' },
    data: { status: 'Withheld', dueAt: null, withheldBecause: 'TooOld' },
  })
  const waiting = await sendOrder(url, { mobile: '9833333333' })
  await press(url, waiting.token, 'quantity', { quantity: '31' })
  await db.mail.updateMany({
    where: { kind: 'Change', status: 'Pending' },
    data: { dueAt: new Date(Date.now() + 3_600_000) },
  })
  const third = await sendOrder(url, { mobile: '9822222222' })
  await db.$executeRaw`UPDATE "Quvera_Form" SET "ReceivedAt" = now() - interval '5 minutes' WHERE "Reference" = ${third.reference}`
  await db.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Failed', "DueAt" = NULL WHERE "Kind" = 'Notice' AND "Status" = 'Pending'`
  const senders = app.startSenders()
  const summary = () => app.resend.mails.find(({ subject }) => subject.includes('waiting'))
  await eventually(() => expect(summary()).toBeDefined())
  await senders.stop(1000)
  const list = /Visitors changed these on their pages[\s\S]*?(?=\n\n|$)/.exec(summary()?.text ?? '')?.[0] ?? ''
  for (const { reference } of [untold, waiting]) expect(list).toContain(reference)
  expect(list).not.toContain(told.reference)
  expect(summary()?.subject).toContain('2 changed by visitors')
})

it('where the budget is used, a summary tells staff of an erasure within minutes, and the visitor has a mail', async () => {
  const { token, reference } = await sendOrder(url)
  await press(url, token, 'erase', { reference })
  await db.mail.updateMany({ where: { kind: { in: ['Change', 'Notice'] } }, data: { dueAt: hoursAgo(-2) } }) // as if closed
  await db.$executeRaw`UPDATE "Quvera_Form" SET "EraseAt" = "EraseAt" - interval '2 minutes'`
  const senders = app.startSenders()
  const countOf = (words: string) => app.resend.mails.filter(({ subject }) => subject.includes(words)).length
  await eventually(() => expect([countOf('1 changed by visitors'), countOf('will be erased')]).toEqual([1, 1]))
  await senders.stop(1000)
})

it('what is erased while its mail is sent, and while Resend does not answer, ends without a trace', async () => {
  const sending = await anApp()
  sending.resend.behaviour = { answersAfterMs: 1500 }
  const { token, reference } = await sendOrder(sending.url)
  await eventually(() => expect(sending.resend.calls.underWay).toBe(1))
  expect((await press(sending.url, token, 'erase', { reference })).status).toBe(303)
  await sending.db.enquiry.updateMany({ data: { eraseAt: new Date(Date.now() - 1000) } })
  await sending.db.$queryRaw`SELECT "Quvera_erase_asked"()`
  await eventually(() => expect(sending.resend.calls.underWay).toBe(0))
  expect([await sending.db.enquiry.count(), await sending.db.mail.count()]).toEqual([0, 0])
  sending.resend.behaviour = 'accept'
  await sendOrder(sending.url, { mobile: '9811111111' }) // the sender goes on
  await noneWaits(sending)
  expect(sending.loggedErrors()).toEqual([])
})

it('mails about changes stop at 40 % of the budget, and wait for notices', async () => {
  const { token } = await sendOrder(url)
  await press(url, token, 'withdraw')
  const senders = app.startSenders({ MAIL_DAILY_BUDGET: 5 })
  await eventually(async () => expect(await db.mail.count({ where: { status: 'Sent' } })).toBe(3))
  await sendOrder(url, { mobile: '9811111111' }).then(({ token }) => press(url, token, 'withdraw'))
  await eventually(async () => expect(await db.mail.count({ where: { status: 'Sent' } })).toBeGreaterThan(3))
  await senders.stop(1000)
  expect(await db.mail.findMany({ where: { kind: 'Change' }, orderBy: { id: 'asc' } })).toMatchObject([
    { status: 'Sent' },
    { status: 'Pending' },
  ])
})
