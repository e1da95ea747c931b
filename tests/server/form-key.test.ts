import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createContentKeys } from '../../server/enquiries/content-keys.ts'
import { insertEnquiries, toRow } from '../../server/enquiries/insert-enquiries.ts'
import { exampleOrder } from '../../shared/order.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const MINUTE_MS = 60_000
/** The begin of a window of ten minutes. */
const START = Date.UTC(2026, 10, 22, 12)

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ mails: false })
})
afterAll(() => app?.close())
beforeEach(() => app.db.enquiry.deleteMany())
afterEach(() => {
  vi.useRealTimers()
})

const typed = anOrder({ submissionKey: '' })

function setTime(minutes: number) {
  vi.useFakeTimers({ toFake: ['Date'], now: START + minutes * MINUTE_MS })
}

/** As a form without a key. */
function submitAt(minutes: number, fields = typed) {
  setTime(minutes)
  return app.orders.submitForm(fields, { onKey: () => {} })
}

describe('a form sent without scripts', () => {
  it('sent twice is one enquiry, also over the edge of a window', async () => {
    const first = await submitAt(9.9)
    expect(await submitAt(9.95)).toEqual(first)
    expect(await submitAt(10.1)).toEqual(first)
    expect(await app.db.enquiry.count()).toBe(1)
  })

  it('sent twice at the edge of a window, while neither is stored yet, is one enquiry', async () => {
    for (let quantity = 1; quantity <= 20; quantity++) {
      const fields = { ...typed, quantity }
      const both = await Promise.all([submitAt(10 - 1e-4, fields), submitAt(10 + 1e-4, fields)])
      expect(both[1]).toEqual(both[0])
    }
    expect(await app.db.enquiry.count()).toBe(20)
  })

  it('gets the same key from servers of two versions, side by side in an update', () => {
    expect(createContentKeys(exampleOrder, START + MINUTE_MS).current).toBe('46160059-6567-8534-841b-d6d8002da878')
  })

  /** As a browser without scripts, of a site without built pages. */
  async function post(fields: object, minutes = 1) {
    setTime(minutes)
    const body = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))
    const answer = await fetch(`${app.url}/buy-now`, { method: 'POST', redirect: 'manual', body })
    const outcome = answer.status === 303 ? undefined : await answer.json()
    return { status: answer.status, reference: answer.headers.get('location')?.split('=')[1], outcome }
  }

  it('whose storing is uncertain comes back with its key: unchanged it is the same order for a day, changed another', async () => {
    const { submissionKey: _, ...fields } = typed
    await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" RENAME TO "Away"`
    const failed = await post(fields).finally(() => app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Mail"`)
    expect(failed.status).toBe(503)
    const { submissionKey } = failed.outcome.order
    const { reference } = await app.orders.submit({ ...typed, submissionKey }) // what the database did after we gave up
    expect(await post({ ...fields, submissionKey })).toMatchObject({ status: 303, reference })
    expect((await post({ ...fields, quantity: typed.quantity + 1, submissionKey })).status).toBe(303)
    expect(await app.db.enquiry.count()).toBe(2)
  })

  it('that was not stored is not confirmed by a changed one that had its key', async () => {
    const { submissionKey: _, ...fields } = typed
    await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" RENAME TO "Away"`
    const failed = await post(fields).finally(() => app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Mail"`)
    const { submissionKey } = failed.outcome.order
    const changed = await post({ ...fields, quantity: typed.quantity + 1, submissionKey }, 2)
    const first = await post(fields, 3)
    expect(first).toMatchObject({ status: 303 })
    expect(first.reference).not.toBe(changed.reference)
    for (const minutes of [4, 11]) expect(await post(fields, minutes)).toMatchObject({ reference: first.reference })
    expect(await submitByScriptAt(5)).toMatchObject({ reference: first.reference })
    const rows = await app.db.enquiry.findMany({
      select: { reference: true, quantity: true },
      orderBy: { quantity: 'asc' },
    })
    expect(rows).toEqual([
      { reference: first.reference, quantity: BigInt(typed.quantity) },
      { reference: changed.reference, quantity: BigInt(typed.quantity + 1) },
    ])
  })

  it('that failed twice and was changed each time is stored in its first version too, once', async () => {
    const { submissionKey: _, ...fields } = typed
    for (const more of [1, 2]) {
      await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" RENAME TO "Away"`
      const failed = await post(fields).finally(() => app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Mail"`)
      const { submissionKey } = failed.outcome.order
      expect(await post({ ...fields, quantity: typed.quantity + more, submissionKey })).toMatchObject({ status: 303 })
    }
    const { reference, status } = await post(fields)
    expect(status).toBe(303)
    expect(await post(fields)).toMatchObject({ reference })
    expect(await submitByScriptAt(5)).toMatchObject({ reference })
    expect(await app.db.enquiry.count()).toBe(3)
  })

  it('gets a new key when its page has kept one for more than a day', async () => {
    const { submissionKey: _, ...fields } = typed
    const submissionKey = crypto.randomUUID()
    const first = await app.orders.submit({ ...typed, submissionKey })
    expect(await post({ ...fields, submissionKey }, 22 * 60)).toMatchObject({ status: 303, reference: first.reference })
    await app.db.enquiry.updateMany({ data: { receivedAt: new Date(START - 25 * 60 * MINUTE_MS) } })
    const later = await post({ ...fields, submissionKey })
    expect(later.status).toBe(303)
    expect(later.reference).not.toBe(first.reference)
    expect(await app.db.enquiry.count()).toBe(2)
  })

  it('at the edge of a window waits for it and is answered, though nothing moves on its connection meanwhile', async () => {
    const { submissionKey: _, ...fields } = typed
    expect(await post(fields, 10 + 17.8 / 60)).toMatchObject({ status: 303 })
    expect(await app.db.enquiry.count()).toBe(1)
  })

  it('keeps the key of an order that may be stored, also when it is refused', async () => {
    const { submissionKey: _, ...fields } = typed
    const submissionKey = crypto.randomUUID()
    const { reference } = await app.orders.submit({ ...typed, submissionKey }) // of which the page does not know
    const refused = await post({ ...fields, email: 'no address', submissionKey }, 1)
    expect(refused).toMatchObject({ status: 400, outcome: { order: { submissionKey } } })
    expect(refused.outcome.order.isUncertain).toBeFalsy()
    expect(await post({ ...fields, submissionKey: refused.outcome.order.submissionKey }, 25)).toMatchObject({
      reference,
    })
    const foreign = await post({ ...fields, email: 'no address', submissionKey: 'not one of ours' }, 26)
    expect(foreign.outcome.order).not.toHaveProperty('submissionKey')
  })

  it('that waits in vain for the database comes back with the key under which it may be stored', async () => {
    const { submissionKey: _, ...fields } = typed
    const isAnswered = Promise.withResolvers<void>()
    // As a double click whose first order hangs in its commit: the second waits for it.
    const first = app.db.$transaction(
      async (transaction) => {
        setTime(1)
        const row = toRow({ ...typed, submissionKey: createContentKeys(typed).current })
        await insertEnquiries(transaction, [{ row, contentKeys: [] }], { withPosts: false })
        await isAnswered.promise
      },
      { timeout: 20_000 },
    )
    const second = await post(fields)
    isAnswered.resolve()
    await first
    expect(second.status).toBe(503)
    expect(await post({ ...fields, ...second.outcome.order }, 25)).toMatchObject({ status: 303 })
    expect(await app.db.enquiry.count()).toBe(1)
  }, 30_000)

  it('sent again does not make the ten minutes begin anew', async () => {
    const first = await submitAt(9)
    for (const minutes of [11, 19]) expect(await submitAt(minutes)).toEqual(first)
    const later = await submitAt(21)
    expect(later).not.toEqual(first)
    expect(await submitAt(31)).toEqual(later)
    expect(await app.db.enquiry.count()).toBe(2)
  })

  it('sent again after twenty minutes is another enquiry', async () => {
    await submitAt(5)
    await submitAt(20.4)
    expect(await app.db.enquiry.count()).toBe(2)
  })

  it('sent again after staff have corrected it is the same enquiry', async () => {
    const first = await submitAt(5)
    await app.db.enquiry.updateMany({ data: { name: 'Corrected' } })
    expect(await submitAt(12)).toEqual(first)
    expect(await app.db.enquiry.count()).toBe(1)
  })

  it('with another quantity is another enquiry at once', async () => {
    await submitAt(5)
    await submitAt(5, { ...typed, quantity: typed.quantity + 1 })
    expect(await app.db.enquiry.count()).toBe(2)
  })

  it('in the first seconds of a window is answered at once', async () => {
    expect((await post({ ...typed, submissionKey: '' }, 10.001)).status).toBe(303)
  }, 30_000)

  /** As by scripts that arrived after the form was sent, or after it was opened again. */
  function submitByScriptAt(minutes: number, fields = typed) {
    setTime(minutes)
    return app.orders.submit({ ...fields, submissionKey: crypto.randomUUID() })
  }

  it('and then by scripts that arrived later is one enquiry for ten minutes', async () => {
    const first = await submitAt(5)
    for (const minutes of [5, 14.9]) expect(await submitByScriptAt(minutes)).toMatchObject(first)
    expect((await submitByScriptAt(25)).reference).not.toBe(first.reference)
    expect(await app.db.enquiry.count()).toBe(2)
  })

  it('and repeated by scripts does not keep other orders of the same statement from being stored', async () => {
    const first = await submitAt(5)
    const orders = Array.from({ length: 20 }, (_, index) => ({
      ...typed,
      quantity: index % 4 ? index + 100 : typed.quantity,
    }))
    const answers = await Promise.all(orders.map((order) => submitByScriptAt(6, order)))
    const others = answers.filter((_, index) => index % 4)
    expect(answers.filter((_, index) => index % 4 === 0)).toMatchObject(Array(5).fill(first))
    expect(new Set(others.map(({ reference }) => reference)).size).toBe(15)
    expect(await app.db.enquiry.count()).toBe(16)
  })

  it('and repeated by scripts many times does not cost the other orders of those statements an answer', async () => {
    await submitAt(5)
    const isOver = { is: false }
    const repeating = Array.from({ length: 4 }, async () => {
      while (!isOver.is) await submitByScriptAt(6)
    })
    const others = Array.from({ length: 200 }, (_, index) => submitByScriptAt(6, { ...typed, quantity: 1000 + index }))
    expect(new Set((await Promise.all(others)).map(({ reference }) => reference)).size).toBe(200)
    isOver.is = true
    await Promise.all(repeating)
    expect(await app.db.enquiry.count()).toBe(201)
  })

  it('is not confused with orders by scripts alone, which are as many as their keys', async () => {
    const both = [await submitByScriptAt(5), await submitByScriptAt(5)]
    expect(both[0]).not.toEqual(both[1])
  })

  it('and then from the page of its failure is one enquiry', async () => {
    const { submissionKey: _, ...fields } = typed
    await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" RENAME TO "Away"`
    const failed = await post(fields, 9).finally(() => app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Mail"`)
    const { submissionKey } = failed.outcome.order
    const { reference } = await post(fields, 11)
    expect(await post({ ...fields, submissionKey }, 12)).toMatchObject({ status: 303, reference })
    expect(await app.db.enquiry.count()).toBe(1)
  })
})

it('a form whose row the database drops is refused, and not tried for ever', async () => {
  await app.db.$executeRaw`
    CREATE FUNCTION drop_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`
  await app.db
    .$executeRaw`CREATE TRIGGER drop_row BEFORE INSERT ON "Quvera_Form" FOR EACH ROW EXECUTE FUNCTION drop_row()`
  const stored = submitAt(5).finally(() => app.db.$executeRaw`DROP FUNCTION drop_row CASCADE`)
  await expect(stored).rejects.toMatchObject({ reason: 'refused' })
})

it('an order that no key of its row explains is refused, and not tried for ever', async () => {
  await app.db.$executeRaw`CREATE UNIQUE INDEX one_each ON "Quvera_Form" ("Mobile")`
  await app.orders.submit({ ...typed, submissionKey: crypto.randomUUID() })
  const { status } = await submit(app.url, anOrder()).finally(() => app.db.$executeRaw`DROP INDEX one_each`)
  expect(status).toBe(422)
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
})

it('a reference that nobody has is not confirmed', async () => {
  const { reference } = await submitAt(5)
  const statusOf = async (of: string) => (await fetch(`${app.url}/received?reference=${of}`)).status
  expect(await statusOf(reference)).toBe(200)
  expect(await statusOf('QV-222222')).toBe(404)
})
