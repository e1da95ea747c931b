// A valid order is stored once, answered with its reference and mailed, and any other is refused with a fixed text.
// No log holds personal data.
import { describe, expect, it } from 'vitest'
import { createProbes, longestOrder } from '../../../server/orders/probes.ts'
import { brand } from '../../../shared/brand.ts'
import { products } from '../../../shared/catalogue.ts'
import { messages } from '../../../shared/order.ts'
import { anOrder, postForm, submit } from '../../support/an-order.ts'
import { eventually } from '../../support/eventually.ts'
import { theApp } from '../../support/fixtures.ts'
import { PUBLIC_URL } from '../../support/test-app.ts'

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
  })

  it.each(['by order.submit', 'as a form'])(
    'sent %s, is stored when PostgreSQL ends the connection during the statement',
    async (way) => {
      await app.db.$executeRaw`CREATE SEQUENCE "Stored"`
      await app.db.$executeRaw`
        CREATE FUNCTION end_first_connection() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF nextval('"Stored"') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
          RETURN NULL;
        END $$`
      await app.db.$executeRaw`
        CREATE TRIGGER ending AFTER INSERT ON "Quvera_Form" FOR EACH ROW EXECUTE FUNCTION end_first_connection()`
      const { submissionKey, ...fields } = anOrder()
      const sent = way === 'as a form' ? postForm(app.url, fields) : submit(app.url, { ...fields, submissionKey })
      const { status } = await sent.finally(() => app.db.$executeRaw`DROP FUNCTION end_first_connection CASCADE`)
      expect(status).toBe(way === 'as a form' ? 303 : 200)
      expect(await app.db.enquiry.count()).toBe(1)
      expect(await app.db.$queryRaw`SELECT last_value::int AS "tries" FROM "Stored"`).toEqual([{ tries: 2 }])
      await app.db.$executeRaw`DROP SEQUENCE "Stored"`
    },
  )

  it.each<[isSuspected: boolean, changes: object]>([
    [true, { website: 'https://spam.example' }],
    [true, { filledInMs: 100 }],
    [false, { website: ' ' }],
    [false, { filledInMs: 60_000 }],
    [false, { filledInMs: -1 }],
  ])('is marked as suspected spam, and then gets no mails: %s for %j', async (isSuspected, changes) => {
    await submit(app.url, anOrder({ ...changes }))
    const [row] = await app.db.enquiry.findMany({ include: { mails: true } })
    expect([row?.suspectedSpam, row?.mails.length]).toEqual([isSuspected, isSuspected ? 0 : 2])
  })

  it('is marked so as a form, too', async () => {
    const { submissionKey, ...fields } = anOrder({ website: 'https://spam.example' })
    expect((await postForm(app.url, fields)).status).toBe(303)
    expect(await app.db.enquiry.findMany()).toMatchObject([{ suspectedSpam: true }])
  })
})

describe('the same order again', () => {
  it('gets the same reference, is one row and two mails, fifty times in parallel, however its key is written', async () => {
    const order = anOrder()
    const written = (index: number) => (index % 2 ? order.submissionKey.toUpperCase() : order.submissionKey)
    const sent = Array.from({ length: 50 }, (_, index) => submit(app.url, { ...order, submissionKey: written(index) }))
    const answers = await Promise.all(sent)
    expect(new Set(answers.map(({ status, reference }) => `${status} ${reference}`)).size).toBe(1)
    expect(await app.db.enquiry.findMany()).toMatchObject([{ reference: answers[0]?.reference }])
    await eventually(() => expect(mailsAbout(answers[0]?.reference)).toHaveLength(2))
    expect(await app.db.mail.count()).toBe(2)
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
  it('answers 400 with the text of its rule, and never with a stack, a path or a library', async () => {
    const nested = `[${'['.repeat(4999)}${']'.repeat(5000)}`
    for (const [body, message] of [
      [anOrder({ mobile: '98765' }), 'Please enter 10 digit Mobile number.'],
      [anOrder({ id: 'x' }), messages.malformed],
      ...['{broken', nested, 'null', '{"__proto__":1}', anOrder({ name: 7 })].map((each) => [each, expect.any(String)]),
    ]) {
      const answer = await submit(app.url, body)
      expect([answer.status, answer.message]).toEqual([400, message])
      expect(Object.values(messages)).toContain(answer.message)
      expect(answer.text).not.toMatch(/node_modules|\.ts|zod|prisma|stack| at \S+:\d/i)
    }
    expect([await app.db.enquiry.count(), await app.db.mail.count()]).toEqual([0, 0])
  })

  it('rejected by the database only, does not affect the others of its batch', async () => {
    await app.db.$executeRaw`ALTER TABLE "Quvera_Form" ADD CONSTRAINT poison CHECK ("Name" <> 'Poison')`
    const orders = Array.from({ length: 50 }, (_, index) => anOrder(index === 17 ? { name: 'Poison' } : {}))
    const answers = await Promise.all(orders.map((order) => submit(app.url, order)))
    await app.db.$executeRaw`ALTER TABLE "Quvera_Form" DROP CONSTRAINT poison`
    expect([answers[17]?.status, answers[17]?.message]).toEqual([422, messages.failed])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49)
    expect([await app.db.enquiry.count(), await app.db.mail.count()]).toEqual([49, 98])
  })

  it.each<[number, Record<string, string>]>([
    [415, { 'content-type': 'text/plain' }],
    [415, { 'content-type': 'application/x-www-form-urlencoded' }],
    [403, { origin: 'https://evil.example' }],
    [403, { origin: 'null' }],
    [403, { 'sec-fetch-site': 'cross-site' }],
    [403, { origin: 'http://127.0.0.1', 'sec-fetch-site': 'same-origin' }],
    [200, { origin: PUBLIC_URL, 'sec-fetch-site': 'same-origin' }],
    [200, { origin: PUBLIC_URL }],
  ])('is no JSON, or of another site; our own are taken: %i for %j', async (status, headers) => {
    expect((await submit(app.url, anOrder(), headers)).status).toBe(status)
    expect(await app.db.enquiry.count()).toBe(status === 200 ? 1 : 0)
  })
})

it('log lines are one JSON object each and hold nothing personal, at debug level too', async () => {
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

it('the probe tries the longest order that the form takes, and leaves nothing behind', async () => {
  expect((await submit(app.url, anOrder(longestOrder))).status).toBe(200)
  const longer = { name: `${longestOrder.name}x`, email: `x${longestOrder.email}` }
  for (const [field, value] of Object.entries(longer))
    expect((await submit(app.url, anOrder({ ...longestOrder, [field]: value }))).status).toBe(400)
  const count = await app.db.enquiry.count()
  await createProbes(app.db, { STAFF_EMAILS: ['a@b.in'] }).store(() => true)
  expect(await app.db.enquiry.count()).toBe(count)
})
