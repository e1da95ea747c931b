// An order is stored once and answered with one reference, whichever way the browser sends it, and however often.
// The table of cases also says what counts as a new order.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { insertEnquiries, toInsertRow } from '../../server/enquiries/insert-enquiries.ts'
import { messages, type Order } from '../../shared/order.ts'
import { anOrder, postForm, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ mails: false })
})
afterAll(() => app?.close())
beforeEach(() => app.db.enquiry.deleteMany())

/** What a browser sends, and what its visitor sees then. */
interface Step {
  /** `script`: tRPC, always with a key. `form`: the browser posts the form. */
  by: 'script' | 'form'
  /** A and B: of two fillings of the form, made by scripts. `page`: of the page that reported the failure before. */
  key?: 'A' | 'B' | 'page'
  changed?: true
  /** Sent in the same moment as the next step. */
  together?: true
  /** Minutes since the step before, by the database's clock. */
  after?: number
  /** The database cannot store orders at this step. */
  down?: true
  /** The first or second reference, a page or toast with a message, or nothing: the answer is lost. */
  sees: 'reference 1' | 'reference 1, received earlier' | 'reference 2' | 'conflict' | 'failure' | 'nothing'
}

interface Case {
  what: string
  steps: Step[]
  stored: number
}

const script = { by: 'script', key: 'A' } as const
const plain = { by: 'form' } as const
/** The browser posts the form, and our script adds the key. */
const formWithKey = { by: 'form', key: 'A' } as const
const fromPage = { by: 'form', key: 'page' } as const
const seesFirst = { sees: 'reference 1' } as const
const seesSecond = { sees: 'reference 2' } as const
const lost = { sees: 'nothing' } as const
const failure = { down: true, sees: 'failure' } as const

/*
 * The table of cases: how an order is sent, how many enquiries are stored, and what the visitor sees. Browser tests of the
 * same cases are in tests/e2e/one-order.test.ts and tests/e2e/plain-forms.test.ts.
 */
const cases: Case[] = [
  { what: 'with scripts', steps: [{ ...script, ...seesFirst }], stored: 1 },
  {
    what: 'with scripts, by a double click',
    steps: [
      { ...script, together: true, ...seesFirst },
      { ...script, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'with scripts, again after a lost answer',
    steps: [
      { ...script, ...lost },
      { ...script, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'with scripts, again a day after a lost answer',
    steps: [
      { ...script, ...lost },
      { ...script, after: 1440, sees: 'reference 1, received earlier' },
    ],
    stored: 1,
  },
  {
    what: 'with scripts, changed after a lost answer: the script sends it at once with another key',
    steps: [
      { ...script, ...lost },
      { ...script, changed: true, sees: 'conflict' },
      { ...script, key: 'B', changed: true, ...seesSecond },
    ],
    stored: 2,
  },
  {
    what: 'with scripts, again after a failure',
    steps: [
      { ...script, ...failure },
      { ...script, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'with scripts, filled in anew after the back button: its key is new',
    steps: [
      { ...script, ...seesFirst },
      { ...script, key: 'B', ...seesSecond },
    ],
    stored: 2,
  },
  {
    what: 'with scripts, in two tabs',
    steps: [
      { ...script, together: true, ...seesFirst },
      { ...script, key: 'B', ...seesSecond },
    ],
    stored: 2,
  },
  { what: 'without scripts', steps: [{ ...plain, ...seesFirst }], stored: 1 },
  {
    what: 'without scripts, by a double click',
    steps: [
      { ...plain, together: true, ...seesFirst },
      { ...plain, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'without scripts, again after a lost answer or the back button',
    steps: [
      { ...plain, ...lost },
      { ...plain, after: 9.9, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'without scripts, again after ten minutes',
    steps: [
      { ...plain, ...seesFirst },
      { ...plain, after: 10.1, ...seesSecond },
    ],
    stored: 2,
  },
  {
    what: 'without scripts, changed after a lost answer',
    steps: [
      { ...plain, ...lost },
      { ...plain, changed: true, ...seesSecond },
    ],
    stored: 2,
  },
  {
    what: 'without scripts, in two tabs',
    steps: [
      { ...plain, together: true, ...seesFirst },
      { ...plain, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'without scripts, from the page of a failure, which brings a key',
    steps: [
      { ...plain, ...failure },
      { ...fromPage, ...lost },
      { ...fromPage, after: 1440, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'without scripts, from the page of a failure and then once more in another tab',
    steps: [
      { ...plain, ...failure },
      { ...fromPage, ...seesFirst },
      { ...plain, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'without scripts, changed on the page of a failure, and then as it was first',
    steps: [
      { ...plain, ...failure },
      { ...fromPage, changed: true, ...seesFirst },
      { ...fromPage, ...seesSecond },
    ],
    stored: 2,
  },
  {
    what: 'posted by the browser with a key, by a double click',
    steps: [
      { ...formWithKey, together: true, ...seesFirst },
      { ...formWithKey, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'posted by the browser with a key, and after a lost answer by scripts',
    steps: [
      { ...formWithKey, ...lost },
      { ...script, after: 1440, sees: 'reference 1, received earlier' },
    ],
    stored: 1,
  },
  {
    what: 'with scripts, and after a lost answer posted by the browser',
    steps: [
      { ...script, ...lost },
      { ...formWithKey, after: 1440, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'by scripts and by the browser in the same moment',
    steps: [
      { ...script, together: true, ...seesFirst },
      { ...formWithKey, ...seesFirst },
    ],
    stored: 1,
  },
  {
    what: 'posted by the browser with a key, changed after a lost answer',
    steps: [
      { ...formWithKey, ...lost },
      { ...formWithKey, changed: true, ...seesSecond },
    ],
    stored: 2,
  },
  {
    what: 'posted by the browser with a key, and after the reference once more: its key is new',
    steps: [
      { ...formWithKey, ...seesFirst },
      { ...formWithKey, key: 'B', after: 5, ...seesFirst },
      { ...formWithKey, key: 'B', changed: true, ...seesSecond },
    ],
    stored: 2,
  },
  {
    what: 'without scripts, and after a lost answer with scripts: nothing connects the two',
    steps: [
      { ...plain, ...lost },
      { ...script, ...seesSecond },
    ],
    stored: 2,
  },
]

const toFields = ({ submissionKey: _, ...fields }: Order) => fields

async function sendForm(fields: object) {
  const answer = await postForm(app.url, fields)
  const reference = answer.headers.get('location')?.split('=')[1]
  return { status: answer.status, reference, outcome: answer.status === 303 ? undefined : await answer.json() }
}

/** Runs `work` while the database refuses orders. */
async function whileDown<T>(work: () => Promise<T>): Promise<T> {
  await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" RENAME TO "Away"`
  return work().finally(() => app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Mail"`)
}

/** The steps of one case, from the first one on. */
function startCase() {
  const order = anOrder()
  const keys = { A: order.submissionKey, B: crypto.randomUUID(), page: '' }

  async function send({ by, key, changed }: Step) {
    const fields = { ...toFields(order), quantity: order.quantity + (changed ? 1 : 0) }
    if (by === 'script') {
      const { status, reference, message, text } = await submit(app.url, { ...fields, submissionKey: keys[key ?? 'A'] })
      return { status, reference, message, isEarlier: text.includes('receivedAt') }
    }
    const { status, reference, outcome } = await sendForm(key ? { ...fields, submissionKey: keys[key] } : fields)
    keys.page = outcome?.order.submissionKey ?? keys.page
    return { status, reference, message: outcome?.order.problem.message, isEarlier: false }
  }

  return async function run(step: Step) {
    if (step.after)
      await app.db
        .$executeRaw`UPDATE "Quvera_Form" SET "ReceivedAt" = "ReceivedAt" - make_interval(secs => ${step.after * 60})`
    return step.down ? whileDown(() => send(step)) : send(step)
  }
}

describe('an order sent', () => {
  it.each(cases)('$what: $stored stored', async ({ steps, stored }) => {
    const run = startCase()
    const references: string[] = []
    const readReferences = async () => {
      const rows = await app.db.enquiry.findMany({ select: { reference: true } })
      references.push(...rows.map(({ reference }) => reference).filter((reference) => !references.includes(reference)))
    }
    for (let index = 0; index < steps.length; index++) {
      const group = steps.slice(index, (steps[index]?.together ? ++index : index) + 1)
      const answers = await Promise.all(group.map(run))
      await readReferences()
      for (const [place, { sees, by }] of group.entries()) {
        const { status, reference, message, isEarlier } = answers[place] as (typeof answers)[number]
        if (sees === 'nothing') continue
        if (sees === 'conflict') expect([status, message]).toEqual([409, messages.conflict])
        else if (sees === 'failure') expect([status, message]).toEqual([503, messages.failed])
        else {
          expect(status).toBe(by === 'script' ? 200 : 303)
          expect(isEarlier).toBe(sees.endsWith('earlier'))
          if (group.length === 1 || stored === 1) expect(reference).toBe(references[sees.includes('1') ? 0 : 1])
        }
      }
      if (group.length > 1) expect(new Set(answers.map(({ reference }) => reference)).size).toBe(references.length)
    }
    expect(references).toHaveLength(stored)
    expect(await app.db.enquiry.count()).toBe(stored)
    expect(await app.db.mail.count()).toBe(2 * stored)
  })
})

describe('a form posted by the browser', () => {
  it('twenty times in the same moment is one enquiry', async () => {
    const fields = toFields(anOrder())
    const answers = await Promise.all(Array.from({ length: 20 }, () => sendForm(fields)))
    expect(new Set(answers.map(({ reference }) => reference)).size).toBe(1)
    expect(await app.db.enquiry.count()).toBe(1)
  })

  it('is not taken for an enquiry that a clock which was ahead has dated in the future', async () => {
    const fields = toFields(anOrder())
    const first = await sendForm(fields)
    const receivedAt = new Date(Date.now() + 3_600_000)
    await app.db.enquiry.updateMany({ where: { reference: first.reference ?? '' }, data: { receivedAt } })
    expect((await sendForm(fields)).reference).not.toBe(first.reference)
    expect(await app.db.enquiry.count()).toBe(2)
  })

  it('keeps its key when it is refused, and gets none for a foreign one', async () => {
    const { submissionKey, ...fields } = anOrder()
    const refused = await sendForm({ ...fields, email: 'no address', submissionKey })
    expect(refused).toMatchObject({ status: 400, outcome: { order: { submissionKey } } })
    expect(refused.outcome.order).not.toHaveProperty('note')
    const foreign = await sendForm({ ...fields, email: 'no address', submissionKey: 'not one of ours' })
    expect(foreign.outcome.order).not.toHaveProperty('submissionKey')
  })

  it('that waits in vain behind an equal one is the same order when its page of failure is sent', async () => {
    const { submissionKey, ...fields } = anOrder()
    const isAnswered = Promise.withResolvers<void>()
    const hasLock = Promise.withResolvers<void>()
    // A double click whose first order hangs in its commit.
    const first = app.db.$transaction(async (transaction) => {
      await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${JSON.stringify({ ...fields, website: '' })}, 0))`
      await insertEnquiries(transaction, [toInsertRow({ ...fields, submissionKey })], {
        staff: ['staff@quvera.test'],
        withPosts: false,
      })
      hasLock.resolve()
      await isAnswered.promise
    })
    await hasLock.promise
    const waiting = sendForm(fields)
    // As the site's time limit for a statement does.
    await eventually(async () => {
      const cancelled = await app.db.$queryRaw<unknown[]>`
        SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`
      expect(cancelled).toHaveLength(1)
    })
    const second = await waiting
    isAnswered.resolve()
    await first
    expect(second.status).toBe(503)
    expect(await sendForm({ ...fields, submissionKey: second.outcome.order.submissionKey })).toMatchObject({
      status: 303,
    })
    expect(await app.db.enquiry.count()).toBe(1)
  })

  it('whose row the database drops is refused, and not tried for ever', async () => {
    await app.db.$executeRaw`
      CREATE FUNCTION drop_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`
    await app.db
      .$executeRaw`CREATE TRIGGER drop_row BEFORE INSERT ON "Quvera_Form" FOR EACH ROW EXECUTE FUNCTION drop_row()`
    const { status } = await sendForm(toFields(anOrder())).finally(
      () => app.db.$executeRaw`DROP FUNCTION drop_row CASCADE`,
    )
    expect(status).toBe(422)
  })
})

it('an order that no key of its row explains is refused, and not tried for ever', async () => {
  await app.db.$executeRaw`CREATE UNIQUE INDEX one_each ON "Quvera_Form" ("Mobile")`
  const order = anOrder()
  await submit(app.url, order)
  const { status } = await submit(app.url, { ...anOrder(), mobile: order.mobile }).finally(
    () => app.db.$executeRaw`DROP INDEX one_each`,
  )
  expect(status).toBe(422)
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
})
