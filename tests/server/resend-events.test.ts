// Delivery events leave a mail in the same final state in any order, and a forged or foreign event changes nothing.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readEvent } from '../../server/mail/delivery.ts'
import { readSummary, writeSummary } from '../../server/mail/summary.ts'
import { exampleOrder } from '../../shared/order.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF, sendingThrough } from '../support/fake-resend.ts'
import { deliveryEvent, sendEvent, WEBHOOK_SECRET } from '../support/resend-events.ts'
import { staff } from '../support/staff-command.ts'
import { storeEnquiry } from '../support/stored-enquiry.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let app: TestApp
beforeEach(async () => {
  app = await startTestApp({ webhookSecret: WEBHOOK_SECRET, summaryWaitMs: 600_000 })
})
afterEach(() => app.close())

/** An order whose two mails were sent; returns their tags. */
async function aSentOrder() {
  const { reference } = await submit(app.url, anOrder())
  await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(2))
  const [notice, reply] = await app.db.mail.findMany({ orderBy: { kind: 'asc' } })
  return { reference, notice: notice?.tag ?? '', reply: reply?.tag ?? '' }
}

const statusOf = async (tag: string) => (await app.db.mail.findFirst({ where: { tag } }))?.status

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items]
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  )
}

describe('the final state does not depend on the order of the events', () => {
  it.each([
    [['sent', 'delivered'], 'Delivered'],
    [['delivery_delayed', 'delivered'], 'Delivered'],
    [['sent', 'delivery_delayed', 'bounced'], 'Bounced'],
    [['delivered', 'bounced'], 'Bounced'],
    [['delivered', 'complained'], 'Complained'],
    [['delivery_delayed', 'delivered', 'complained'], 'Complained'],
    [['suppressed'], 'Bounced'],
    [['failed'], 'Failed'],
    [['delivery_delayed'], 'Sent'],
  ])('%j: %s', async (types, final) => {
    for (const order of permutations(types)) {
      const notice = crypto.randomUUID()
      await storeEnquiry(app.db, {}, { Notice: 'Sent' })
      await app.db.mail.updateMany({ where: { kind: 'Notice' }, data: { tag: notice, triedAt: new Date() } })
      for (const type of [...order, ...order])
        expect((await sendEvent(app.url, deliveryEvent(type, notice))).status).toBe(200)
      expect(await statusOf(notice)).toBe(final)
      await app.db.enquiry.deleteMany()
    }
  })
})

it('brings back a tag of random letters and digits, read as an object and as a list', async () => {
  await aSentOrder()
  const tags = app.resend.mails.map(({ tag }) => tag)
  expect(new Set(tags).size).toBe(2)
  const [tag = ''] = tags
  expect(tag).toMatch(/^[\w-]{36}$/)
  const event = deliveryEvent('delivered', tag)
  const listed = {
    ...event,
    data: {
      ...event.data,
      tags: [
        { name: 'other', value: 'x' },
        { name: 'mail', value: tag },
      ],
    },
  }
  expect(readEvent(event)).toMatchObject({ tag, state: 'Delivered' })
  expect(readEvent(listed)).toMatchObject({ tag, state: 'Delivered' })
})

describe('an event that comes before the result of the send is recorded', () => {
  it.each(['delivered', 'bounced'])('%s: changes the mail, and the result does not undo it', async (type) => {
    app.resend.onMail = ({ tag, to }) => {
      if (to[0] === STAFF) earlier.push(sendEvent(app.url, deliveryEvent(type, tag, '550')))
    }
    const earlier: Promise<Response>[] = []
    app.resend.behaviour = { answersAfterMs: 600 }
    await submit(app.url, anOrder())
    await eventually(() => expect(earlier).toHaveLength(1))
    expect((await earlier[0])?.status).toBe(200)
    const notice = () => app.db.mail.findFirstOrThrow({ where: { kind: 'Notice' } })
    const state = type === 'delivered' ? 'Delivered' : 'Bounced'
    expect(await notice()).toMatchObject({ status: state, resendId: expect.any(String) })
    await eventually(() => expect(app.resend.mails).toHaveLength(2))
    await app.outbox.stop(5000)
    expect(await notice()).toMatchObject({ status: state })
  })

  it('or instead of it: a mail whose result was lost is not sent again', async () => {
    const { notice } = await aSentOrder()
    await app.db.mail.updateMany({
      where: { tag: notice },
      data: { status: 'Pending', dueAt: new Date(Date.now() + 600) },
    })
    await sendEvent(app.url, deliveryEvent('sent', notice))
    expect(await app.db.mail.findFirst({ where: { tag: notice } })).toMatchObject({ status: 'Sent', dueAt: null })
    await app.db.mail.updateMany({ where: { tag: notice }, data: { status: 'Unknown' } })
    await sendEvent(app.url, deliveryEvent('delivered', notice))
    expect(await statusOf(notice)).toBe('Delivered')
  })
})

it('a notice that bounces is an alarm; an acknowledgement that does is shown with its reason', async () => {
  const { notice, reply } = await aSentOrder()
  await sendEvent(app.url, deliveryEvent('bounced', reply, '550 no such mailbox'))
  expect(app.loggedErrors()).toEqual([])
  expect(await app.db.mail.findFirst({ where: { tag: reply } })).toMatchObject({
    status: 'Bounced',
    lastError: 'bounced: Permanent General 550',
  })
  await sendEvent(app.url, deliveryEvent('bounced', notice, 'mailbox full'))
  expect(app.loggedErrors()).toMatchObject([
    { kind: 'Notice', state: 'Bounced', msg: expect.stringContaining('did not arrive') },
  ])
})

it('a mail that was marked as spam has arrived: the log does not say otherwise', async () => {
  const { reply } = await aSentOrder()
  await sendEvent(app.url, deliveryEvent('complained', reply))
  expect(app.logLines.join('')).toContain('a mail was marked as spam')
  expect(app.logLines.join('')).not.toContain('did not arrive')
  expect(await readSummary(app.db, new Date())).toContain('did not arrive, or was marked as spam')
})

describe('the words of a stranger’s mail server', () => {
  const forged =
    '452 4.2.2 Asha Verma\r\n\nNobody has been told of these:\u2028https://evil.example \u001b[2J\u202eabc\u0000x'

  it('are not kept: rows, summary, terminal and export have its code only', async () => {
    const { reference = '', notice, reply } = await aSentOrder()
    for (const id of [notice, reply])
      expect((await sendEvent(app.url, deliveryEvent('bounced', id, forged))).status).toBe(200)
    const rows = await app.db.mail.findMany()
    const REASON = 'bounced: Permanent General 452 4.2.2'
    expect(rows.map(({ lastError }) => lastError)).toEqual([REASON, REASON])
    const outputs = [['mails'], ['show', reference], ['export']].map(
      async (args) => (await staff(args, app.env)).stdout,
    )
    const page = (await readSummary(app.db, new Date())) ?? ''
    expect(page).toContain('Bounced 452 4.2.2')
    for (const text of [page, ...(await Promise.all(outputs))])
      expect(text).not.toMatch(/evil|Nobody has been told of these:.https/)
  })

  it('do not keep a person’s name in a summary when the person is erased', async () => {
    const { notice } = await aSentOrder()
    await sendEvent(app.url, deliveryEvent('bounced', notice, '550 5.1.1 mailbox of Asha Verma is closed'))
    await writeSummary(app.db, new Date())
    await staff(['erase', '--person', exampleOrder.email, '--yes'], app.env)
    const [summary] = await app.db.mail.findMany()
    expect(summary).toMatchObject({ kind: 'Summary', text: expect.stringContaining('Bounced 550 5.1.1') })
    expect(summary?.text).not.toContain('Asha')
  })

  it('are cleaned in an answer of Resend’s, which becomes one line', async () => {
    app.resend.behaviour = { status: 422, name: 'validation_error', message: forged }
    await submit(app.url, anOrder())
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Failed' } })).toBe(2))
    const FORGED = '452 4.2.2 Asha Verma Nobody has been told of these: https://evil.example [2J abc x'
    for (const { lastError } of await app.db.mail.findMany()) expect(lastError).toBe(`422 validation_error: ${FORGED}`)
    const { env } = app
    const { stderr } = await staff(['check', '--mail', 'a@b.in'], { ...env, ...sendingThrough(app.resend) })
    expect(stderr).toContain(FORGED)
  })
})

const several = ['dead@quvera.test', 'desk@quvera.test']
function about(type: string, tag: string, receiver = '') {
  const event = deliveryEvent(type, tag, '550 5.1.1 gone')
  return { ...event, data: { ...event.data, ...(receiver && { to: [receiver] }) } }
}

async function notices(number: number) {
  await app.close()
  app = await startTestApp({ webhookSecret: WEBHOOK_SECRET, summaryWaitMs: 600_000, staff: several })
  for (let index = 0; index < number; index++) await submit(app.url, anOrder({ email: `v${index}@shop.example` }))
  await eventually(() => expect(app.resend.mails).toHaveLength(2 * number))
  await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(2 * number))
  return (await app.db.mail.findMany({ where: { kind: 'Notice' } })).map(({ tag }) => tag)
}

describe('a mail to several of staff', () => {
  it('has arrived when it has reached one; each bounce is logged, without the address', async () => {
    const ids = await notices(4)
    for (const [index, id] of ids.entries()) {
      const events = [about('bounced', id, 'dead@quvera.test'), about('delivered', id, 'desk@quvera.test')]
      for (const event of index % 2 ? events : events.toReversed()) await sendEvent(app.url, event)
    }
    for (const id of ids) expect(await statusOf(id)).toBe('Delivered')
    expect((await staff(['mails'], app.env)).stdout).not.toContain('ALARM')
    expect(app.loggedErrors().map(({ kind, state }) => [kind, state])).toEqual(ids.map(() => ['Notice', 'Bounced']))
    expect(app.logLines.join()).not.toContain('dead@')
  })

  it('that reached none is an alarm, and so is the next one of the same day', async () => {
    const ids = await notices(2)
    for (const id of ids) for (const receiver of several) await sendEvent(app.url, about('bounced', id, receiver))
    for (const id of ids) expect(await statusOf(id)).toBe('Bounced')
    expect((await staff(['mails'], app.env)).stdout).toContain('ALARM: nobody has been told of these enquiries (2)')
    expect(app.loggedErrors()).toHaveLength(4)
  })

  it.each(['delivered', 'bounced'])('goes to the others too when it was %s at one who gets it singly', async (type) => {
    await app.close()
    const staffEmails = ['bad@quvera.test', STAFF, 'desk@quvera.test']
    app = await startTestApp({ webhookSecret: WEBHOOK_SECRET, staff: staffEmails, leaseSeconds: 20 })
    const { resend, db, url } = app
    resend.behaviour = { refusesAddress: 'bad@quvera.test' }
    const early: Promise<number>[] = []
    resend.onMail = ({ tag, to }) => {
      if (!to.includes(STAFF)) return
      // The next receiver is refused for now, and the event about this one is earlier than the result of the try.
      resend.behaviour = { status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '1' } }
      early.push(
        sendEvent(url, deliveryEvent(type, tag)).then(({ status }) => {
          resend.behaviour = { refusesAddress: 'bad@quvera.test' }
          return status
        }),
      )
    }
    await submit(url, anOrder())
    const singly = () => resend.mails.filter(({ to }) => to.some((address) => address.endsWith('@quvera.test')))
    await eventually(() => expect(singly().map(({ to }) => to[0])).toEqual([STAFF, 'desk@quvera.test']))
    const notice = () => db.mail.findFirst({ where: { kind: 'Notice' } })
    await eventually(async () => expect(await notice()).toMatchObject({ status: 'Sent' }))
    expect(await Promise.all(early)).toEqual([503]) // Resend repeats the event
    const [first] = singly()
    expect((await sendEvent(url, deliveryEvent(type, first?.tag ?? ''))).status).toBe(200)
    expect(await notice()).toMatchObject({ status: type === 'delivered' ? 'Delivered' : 'Bounced' })
    await sendEvent(url, deliveryEvent('delivered', first?.tag ?? ''))
    expect(await notice()).toMatchObject({ status: 'Delivered' })
  })

  it('that one of them marks as spam is no error', async () => {
    const [id = ''] = await notices(1)
    await sendEvent(app.url, about('complained', id, 'dead@quvera.test'))
    expect(await statusOf(id)).toBe('Complained')
    await sendEvent(app.url, about('delivered', id, 'desk@quvera.test'))
    expect(await statusOf(id)).toBe('Delivered')
    expect(app.loggedErrors()).toEqual([])
  })
})

describe('what is not Resend’s', () => {
  it('an event of no mail of ours is answered and changes nothing', async () => {
    const { notice } = await aSentOrder()
    const others = [
      deliveryEvent('bounced', crypto.randomUUID()),
      deliveryEvent('bounced', '7'),
      deliveryEvent('constructor', notice),
      { ...deliveryEvent('bounced', notice), data: { email_id: 'x', to: ['a@b.in'] } },
      { ...deliveryEvent('bounced', notice), data: { tags: [{ name: 'order', value: notice }, null] } },
      { type: 'email.bounced' },
    ]
    for (const event of others) expect((await sendEvent(app.url, event)).status).toBe(200)
    expect((await sendEvent(app.url, { type: 'domain.created', data: { id: 'x' } })).status).toBe(200)
    expect(await statusOf(notice)).toBe('Sent')
  })

  it('is refused: forged, changed, too old, from the future, without signature, too large', async () => {
    const { notice } = await aSentOrder()
    const event = deliveryEvent('bounced', notice)
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
    const other = `whsec_${Buffer.from('another secret, 24 bytes').toString('base64')}`
    const statuses = [
      await sendEvent(app.url, event, { secret: other }),
      await sendEvent(app.url, event, { body: JSON.stringify(deliveryEvent('delivered', notice)) }),
      await sendEvent(app.url, event, { at: minutesAgo(6) }),
      await sendEvent(app.url, event, { at: minutesAgo(-6) }),
      await fetch(`${app.url}/webhooks/resend`, { method: 'POST', body: JSON.stringify(event) }),
      await sendEvent(app.url, { ...event, padding: 'x'.repeat(70_000) }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([401, 401, 401, 401, 400, 413])
    const warnings = app.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40)
    expect(warnings).toMatchObject([
      { msg: expect.stringContaining('correct RESEND_WEBHOOK_SECRET') },
      { msg: expect.stringContaining("is refused because its time is 6 minutes before this machine's clock") },
    ]) // one of each an hour
    expect(await statusOf(notice)).toBe('Sent')
    expect((await sendEvent(app.url, event, { at: minutesAgo(4) })).status).toBe(200)
    expect(await statusOf(notice)).toBe('Bounced')
  })

  it('gets status 404 where no secret is set', async () => {
    const plain = await startTestApp({ mails: false })
    expect((await sendEvent(plain.url, deliveryEvent('delivered', 'x'))).status).toBe(404)
    await plain.close()
  })
})
