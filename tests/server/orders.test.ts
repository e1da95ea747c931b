// A valid order is stored once, answered with its reference and mailed, and any other is refused with a fixed text.
// No log holds personal data.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createReference } from '../../server/enquiries/insert-enquiries.ts'
import { createOrders } from '../../server/enquiries/orders.ts'
import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { anOrder, call, postForm, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { PUBLIC_URL, startTestApp, type TestApp } from '../support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())
beforeEach(async () => {
  await app.db.enquiry.deleteMany()
  app.logLines.length = 0
})

function mailsAbout(reference: string | undefined) {
  return app.resend.mails.filter((mail) => mail.subject.includes(reference ?? '?'))
}

describe('a valid order', () => {
  it('is stored with the six fields and answered with its reference, and both mails go out', async () => {
    const order = anOrder({
      name: `Robert'); DROP TABLE "Quvera_Form"; -- \\ $1`,
      quantity: 2 ** 53 - 1,
      retailerSelfUse: 'Self Use',
      products: products[1],
      productName: brand.name,
    })
    const answer = await submit(app.url, order)
    expect(answer.status).toBe(200)
    expect(answer.reference).toMatch(new RegExp(`^${brand.referencePrefix}-[2-9A-HJ-NP-Z]{6}$`))
    const rows = await app.db.$queryRaw<Record<string, unknown>[]>`
      SELECT "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse"::text, "Products"::text, "Reference", "Status"::text, "SuspectedSpam"
      FROM "Quvera_Form"`
    expect(rows).toEqual([
      {
        Name: order.name,
        Email: order.email,
        Mobile: order.mobile,
        Quantity: BigInt(order.quantity),
        RetailerSelfUse: 'Self Use',
        Products: products[1],
        Reference: answer.reference,
        Status: 'New',
        SuspectedSpam: false,
      },
    ])
    await eventually(() => expect(mailsAbout(answer.reference)).toHaveLength(2))
    await eventually(async () =>
      expect(await app.db.mail.count({ where: { status: 'Sent', resendId: { not: null } } })).toBe(2),
    )
  })

  it.each(['by order.submit', 'as a form'])(
    'sent %s, is stored when PostgreSQL ends the connection during the statement',
    async (way) => {
      const isForm = way === 'as a form'
      await app.db.$executeRaw`CREATE SEQUENCE "Stored"`
      await app.db.$executeRaw`
      CREATE FUNCTION end_first_connection() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('"Stored"') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
        RETURN NULL;
      END $$`
      await app.db.$executeRaw`
      CREATE TRIGGER ending AFTER INSERT ON "Quvera_Form" FOR EACH ROW EXECUTE FUNCTION end_first_connection()`
      try {
        const { submissionKey, ...fields } = anOrder()
        const { status } = isForm
          ? await postForm(app.url, fields)
          : await submit(app.url, { ...fields, submissionKey })
        expect(status).toBe(isForm ? 303 : 200)
        expect(await app.db.enquiry.count()).toBe(1)
        expect(await app.db.$queryRaw`SELECT last_value::int AS "tries" FROM "Stored"`).toEqual([{ tries: 2 }])
      } finally {
        await app.db.$executeRaw`DROP TRIGGER ending ON "Quvera_Form"`
        await app.db.$executeRaw`DROP FUNCTION end_first_connection`
        await app.db.$executeRaw`DROP SEQUENCE "Stored"`
      }
    },
  )

  it('sent as a form, is logged as stored when the connection is lost after the commit', async () => {
    const lost = vi.fn()
    async function transact(...args: Parameters<typeof app.db.$transaction>) {
      const stored = await app.db.$transaction(...args)
      if (lost.mock.calls.length > 0) return stored
      lost()
      throw new Error('Connection terminated unexpectedly')
    }
    const db = new Proxy(app.db, { get: (all, name) => (name === '$transaction' ? transact : Reflect.get(all, name)) })
    const logged: object[] = []
    const availability = { isUp: () => true, failed() {}, worked() {} }
    const log = { info: (fields: object) => logged.push(fields) }
    const recipients = { staff: ['staff@quvera.test'], withPosts: false }
    const orders = createOrders(db, { availability, log, onStored() {}, recipients })
    const { submissionKey: _, ...content } = anOrder()
    const { reference } = await orders.submitForm(content, undefined)
    expect(lost).toHaveBeenCalledOnce()
    expect(await app.db.enquiry.count()).toBe(1)
    expect(logged).toEqual([{ reference }])
    expect(await orders.submitForm(content, undefined)).toEqual({ reference })
    expect(logged).toHaveLength(1)
  })

  it('has the time of receipt in UTC', async () => {
    await submit(app.url, anOrder())
    const [row] = await app.db.enquiry.findMany()
    expect(Math.abs(Date.now() - (row?.receivedAt.getTime() ?? 0))).toBeLessThan(60_000)
  })
})

describe('the same order again', () => {
  it('gets the same reference, is one row and two mails, fifty times in parallel', async () => {
    const order = anOrder()
    const answers = await Promise.all(Array.from({ length: 50 }, () => submit(app.url, order)))
    expect(new Set(answers.map((answer) => answer.reference)).size).toBe(1)
    expect(answers.every((answer) => answer.status === 200)).toBe(true)
    expect(await app.db.enquiry.count()).toBe(1)
    await eventually(() => expect(mailsAbout(answers[0]?.reference)).toHaveLength(2))
    expect(await app.db.mail.count()).toBe(2)
  })

  it('is answered with the time of the first one, unless that was within a minute', async () => {
    const order = anOrder()
    for (let time = 0; time < 2; time++)
      expect(Object.keys(JSON.parse((await submit(app.url, order)).text).result.data)).toEqual(['reference'])
    const receivedAt = new Date(Date.now() - 61_000)
    await app.db.enquiry.updateMany({ data: { receivedAt } })
    const { reference, text } = await submit(app.url, order)
    expect(JSON.parse(text).result.data).toEqual({ reference, receivedAt: receivedAt.toISOString() })
  })

  it('is recognised however the key is written', async () => {
    const order = anOrder()
    const first = await submit(app.url, order)
    const again = await submit(app.url, { ...order, submissionKey: order.submissionKey.toUpperCase() })
    expect(again.reference).toBe(first.reference)
  })

  it.each([
    { quantity: 2 },
    { name: 'Other' },
    { email: 'o@b.co' },
    { mobile: '1234567890' },
    { products: products[1] },
    { retailerSelfUse: 'Self Use' },
  ])('with other content (%j) answers 409 and leaves the first row as it was', async (change) => {
    const order = anOrder()
    await submit(app.url, order)
    const before = await app.db.enquiry.findMany()
    const answer = await submit(app.url, { ...order, ...change })
    expect([answer.status, answer.message]).toEqual([409, messages.conflict])
    expect(await app.db.enquiry.findMany()).toEqual(before)
  })
})

describe('a refused order', () => {
  it.each([
    [{ name: ' ' }, 'Please fill the data'],
    [{ email: 'asha' }, 'Please enter a valid email address'],
    [{ mobile: '98765abcde' }, 'Please enter only number.'],
    [{ mobile: '98765' }, 'Please enter 10 digit Mobile number.'],
    [{ quantity: 1.5 }, messages.wholeQuantity],
    [{ id: 'x' }, messages.malformed],
  ])('%j answers 400 with “%s” and stores nothing', async (changes, message) => {
    const answer = await submit(app.url, anOrder(changes))
    expect([answer.status, answer.message]).toEqual([400, message])
    expect(await app.db.enquiry.count()).toBe(0)
    expect(await app.db.mail.count()).toBe(0)
  })

  it('rejected by the database only, does not affect the others of its batch', async () => {
    await app.db.$executeRawUnsafe(`ALTER TABLE "Quvera_Form" ADD CONSTRAINT poison CHECK ("Name" <> 'Poison')`)
    try {
      const orders = Array.from({ length: 50 }, (_, index) => anOrder(index === 17 ? { name: 'Poison' } : {}))
      const answers = await Promise.all(orders.map((order) => submit(app.url, order)))
      expect(answers.map((answer) => answer.status).filter((status) => status === 200)).toHaveLength(49)
      expect([answers[17]?.status, answers[17]?.message]).toEqual([422, 'Error adding document'])
      expect(await app.db.enquiry.count()).toBe(49)
      expect(await app.db.mail.count()).toBe(98)
    } finally {
      await app.db.$executeRawUnsafe('ALTER TABLE "Quvera_Form" DROP CONSTRAINT poison')
    }
  })
})

describe('an order that looks automated', () => {
  it.each([{ website: 'https://spam.example' }, { filledInMs: 100 }])(
    'is marked, gets no mails, and waits for a summary: %j',
    async (changes) => {
      await submit(app.url, anOrder(changes))
      const [row] = await app.db.enquiry.findMany({ include: { mails: true } })
      expect(row).toMatchObject({ suspectedSpam: true, mails: [], untoldSince: expect.any(Date) })
    },
  )
})

describe('an order of a person', () => {
  it.each([{}, { website: ' ' }, { filledInMs: 60_000 }, { filledInMs: -1 }])('is not marked: %j', async (changes) => {
    await submit(app.url, anOrder(changes))
    const [row] = await app.db.enquiry.findMany({ include: { mails: { orderBy: { kind: 'asc' } } } })
    expect(row?.suspectedSpam).toBe(false)
    expect(row?.mails.map((mail) => mail.kind)).toEqual(['Notice', 'Acknowledgement'])
  })
})

describe('requests that are not orders', () => {
  it('are refused with a fixed text each', async () => {
    const json = { 'content-type': 'application/json' }
    const url = `${app.url}/trpc/order.submit`
    const statusOf = async (path: string, init: RequestInit) => (await fetch(path, init)).status
    expect(await statusOf(url, {})).toBe(405)
    expect(await statusOf(url, { method: 'POST', body: '{broken', headers: json })).toBe(400)
    expect(
      await statusOf(url, { method: 'POST', body: `[${'['.repeat(4999)}${']'.repeat(5000)}`, headers: json }),
    ).toBe(400)
    expect(await statusOf(url, { method: 'POST', body: 'x'.repeat(1_000_000), headers: json })).toBe(413)
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/octet-stream',
    ]) {
      expect(
        await statusOf(url, { method: 'POST', body: JSON.stringify(anOrder()), headers: { 'content-type': type } }),
      ).toBe(415)
    }
    expect(await statusOf(`${app.url}/trpc/unknown`, { method: 'POST', body: '{}', headers: json })).toBe(404)
    expect(
      await statusOf(`${url},order.submit?batch=1`, {
        method: 'POST',
        body: JSON.stringify({ 0: anOrder(), 1: anOrder() }),
        headers: json,
      }),
    ).toBe(400)
    expect(await app.db.enquiry.count()).toBe(0)
  })

  it('from other sites answer 403', async () => {
    expect((await submit(app.url, anOrder(), { origin: 'https://evil.example' })).status).toBe(403)
    expect((await submit(app.url, anOrder(), { origin: 'null' })).status).toBe(403)
    expect((await submit(app.url, anOrder(), { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await submit(app.url, anOrder(), { origin: app.url, 'sec-fetch-site': 'same-origin' })).status).toBe(403)
    expect((await submit(app.url, anOrder(), { origin: PUBLIC_URL, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
    expect((await submit(app.url, anOrder(), { origin: PUBLIC_URL })).status).toBe(200)
    expect(await app.db.enquiry.count()).toBe(2)
  })

  it('never show a stack, a path or a library', async () => {
    for (const body of ['{broken', 'null', '[]', '{"__proto__":1}', JSON.stringify(anOrder({ name: 7 }))]) {
      const { status, message, text } = await submit(app.url, body)
      expect([status, Object.values<string | undefined>(messages).includes(message)], text).toEqual([400, true])
      expect(text).not.toMatch(/node_modules|\.ts|zod|prisma|stack| at \S+:\d/i)
    }
  })
})

describe('logs', () => {
  it('are one JSON object a line and hold nothing personal, at debug level too', async () => {
    const order = anOrder({ name: 'Secretname Person', email: 'secret@person.example', mobile: '9000000001' })
    const { reference } = await submit(app.url, order)
    await submit(app.url, { ...order, quantity: 0 })
    await submit(app.url, `{"name":"Secretname","email":"secret@person.example`)
    await fetch(`${app.url}/trpc/order.submit?input=${encodeURIComponent(JSON.stringify(order))}`)
    await fetch(`${app.url}/secret@person.example/9000000001`)
    await eventually(() => expect(mailsAbout(reference)).toHaveLength(2))
    expect(app.logLines.length).toBeGreaterThan(4)
    for (const line of app.logLines) {
      expect(JSON.parse(line)).toBeTypeOf('object')
      expect(line).not.toMatch(/secret|9000000001|re_test/i)
    }
  })
})

it('no reference has a code of digits only, which staff commands take for the number of a mail', () => {
  const references = Array.from({ length: 50_000 }, createReference)
  expect(references.filter((reference) => /-\d{6}$/.test(reference))).toEqual([])
})

describe('subscription', () => {
  it('stores an address once, whatever its case, and answers the same each time', async () => {
    for (const email of ['news@shop.example', 'News@Shop.example', 'news@shop.example']) {
      expect((await call(app.url, 'subscription.subscribe', { email })).text).toBe(
        '{"result":{"data":{"subscribed":true}}}',
      )
    }
    const rows = await app.db.subscriber.findMany()
    expect(rows.map((row) => row.email)).toEqual(['news@shop.example'])
  })

  it('refuses an invalid address with the message of the form', async () => {
    const answer = await call(app.url, 'subscription.subscribe', { email: 'news' })
    expect([answer.status, answer.message]).toEqual([400, 'Please enter a valid email address'])
  })
})
