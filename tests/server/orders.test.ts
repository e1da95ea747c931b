// A valid order is stored once, answered with its reference and mailed, and any other is refused with a fixed text.
// No log holds personal data.
import { describe, expect, it, vi } from 'vitest'
import { createReference } from '../../server/enquiries/insert-enquiries.ts'
import { createOrders } from '../../server/enquiries/orders.ts'
import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { anOrder, postForm, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { theApp } from '../support/fixtures.ts'
import { PUBLIC_URL } from '../support/test-app.ts'

const app = await theApp()

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
      SELECT "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse"::text, "Products"::text, "Reference", "Status"::text, "SuspectedSpam",
        "ReceivedAt" BETWEEN now() - interval '1 minute' AND now() AS "isOfNow" FROM "Quvera_Form"`
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
        isOfNow: true,
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

  it('with other content answers 409 and leaves the first row as it was', async () => {
    const order = anOrder()
    await submit(app.url, order)
    const before = await app.db.enquiry.findMany()
    for (const change of [
      { quantity: 2 },
      { name: 'Other' },
      { email: 'o@b.co' },
      { mobile: '1234567890' },
      { products: products[1] },
      { retailerSelfUse: 'Self Use' },
    ])
      expect(await submit(app.url, { ...order, ...change })).toMatchObject({ status: 409, message: messages.conflict })
    expect(await app.db.enquiry.findMany()).toEqual(before)
  })
})

describe('a refused order', () => {
  it('answers 400 with the text of its rule, and stores nothing', async () => {
    for (const [changes, message] of [
      [{ mobile: '98765' }, 'Please enter 10 digit Mobile number.'],
      [{ id: 'x' }, messages.malformed],
    ] as const)
      expect(await submit(app.url, anOrder(changes))).toMatchObject({ status: 400, message })
    expect([await app.db.enquiry.count(), await app.db.mail.count()]).toEqual([0, 0])
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

describe('an order', () => {
  it.each([{ website: 'https://spam.example' }, { filledInMs: 100 }])(
    'that looks automated is marked, gets no mails, and waits for a summary: %j',
    async (changes) => {
      await submit(app.url, anOrder(changes))
      const [row] = await app.db.enquiry.findMany({ include: { mails: true } })
      expect(row).toMatchObject({ suspectedSpam: true, mails: [], untoldSince: expect.any(Date) })
    },
  )

  it.each([{ website: ' ' }, { filledInMs: 60_000 }, { filledInMs: -1 }])(
    'of a person is not marked: %j',
    async (changes) => {
      await submit(app.url, anOrder(changes))
      const [row] = await app.db.enquiry.findMany({ include: { mails: { orderBy: { kind: 'asc' } } } })
      expect(row).toMatchObject({ suspectedSpam: false, mails: [{ kind: 'Notice' }, { kind: 'Acknowledgement' }] })
    },
  )
})

describe('requests that are not orders', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
  ])('answer 415: %s', async (type) => {
    expect((await submit(app.url, anOrder(), { 'content-type': type })).status).toBe(415)
  })

  it.each<[number, Record<string, string>]>([
    [403, { origin: 'https://evil.example' }],
    [403, { origin: 'null' }],
    [403, { 'sec-fetch-site': 'cross-site' }],
    [403, { origin: app.url, 'sec-fetch-site': 'same-origin' }],
    [200, { origin: PUBLIC_URL, 'sec-fetch-site': 'same-origin' }],
    [200, { origin: PUBLIC_URL }],
  ])('of other sites answer 403, and our own 200: %i for %j', async (status, headers) => {
    expect((await submit(app.url, anOrder(), headers)).status).toBe(status)
    expect(await app.db.enquiry.count()).toBe(status === 200 ? 1 : 0)
  })

  it('never show a stack, a path or a library', async () => {
    const nested = `[${'['.repeat(4999)}${']'.repeat(5000)}`
    for (const body of ['{broken', nested, 'null', '{"__proto__":1}', JSON.stringify(anOrder({ name: 7 }))]) {
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
  const references = Array.from({ length: 20_000 }, createReference) // of which chance would make five so
  expect(references.filter((reference) => /-\d{6}$/.test(reference))).toEqual([])
})
