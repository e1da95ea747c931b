// An order is stored once and answered with one reference, whichever way the browser sends it, and however often.
// The table of cases also says what counts as a new order.
import { describe, expect, it } from 'vitest'
import { insertEnquiries, toInsertRow } from '../../../server/orders/storing.ts'
import { messages, type Order } from '../../../shared/order.ts'
import { anOrder, postForm, submit } from '../../support/an-order.ts'
import { eventually } from '../../support/eventually.ts'
import { theApp } from '../../support/fixtures.ts'

const app = await theApp({ mails: false })

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

type Case = [what: string, stored: number, steps: Step[]]

const step =
  (by: Step['by'], key?: Step['key']) =>
  (sees: Step['sees'], ...more: Partial<Step>[]): Step =>
    Object.assign({ by, sees }, key && { key }, ...more)
const script = step('script', 'A')
const plain = step('form')
/** The browser posts the form, and our script adds the key. */
const formWithKey = step('form', 'A')
const fromPage = step('form', 'page')
const after = (minutes: number) => ({ after: minutes })
const [together, changed, down, newKey] = [{ together: true }, { changed: true }, { down: true }, { key: 'B' }] as const
const [first, second, lost] = ['reference 1', 'reference 2', 'nothing'] as const
const firstAgain = 'reference 1, received earlier'

/*
 * The table of cases: how an order is sent, how many enquiries are stored, and what the visitor sees. Browser tests of the
 * same cases are in tests/e2e/one-order.test.ts and tests/e2e/plain-forms.test.ts.
 */
const cases: Case[] = [
  ['with scripts, by a double click', 1, [script(first, together), script(first)]],
  ['with scripts, again after a lost answer', 1, [script(lost), script(first)]],
  ['with scripts, again a day after a lost answer', 1, [script(lost), script(firstAgain, after(1440))]],
  ['with scripts, changed after it: sent with another key', 2, [script(lost), script(second, changed, newKey)]],
  ['with scripts, changed, under the same key', 1, [script(lost), script('conflict', changed)]],
  ['with scripts, again after a failure', 1, [script('failure', down), script(first)]],
  ['with scripts, in two tabs', 2, [script(first, together), script(second, newKey)]],
  ['without scripts, by a double click or in two tabs', 1, [plain(first, together), plain(first)]],
  ['without scripts, again after a lost answer or back', 1, [plain(lost), plain(first, after(9.9))]],
  ['without scripts, again after ten minutes', 2, [plain(first), plain(second, after(10.1))]],
  ['without scripts, changed after a lost answer', 2, [plain(lost), plain(second, changed)]],
  [
    'without scripts, from the page of a failure, which brings a key',
    1,
    [plain('failure', down), fromPage(lost), fromPage(first, after(1440))],
  ],
  ['without scripts, from it and in another tab', 1, [plain('failure', down), fromPage(first), plain(first)]],
  ['without scripts, from it and changed', 2, [plain('failure', down), fromPage(first, changed), fromPage(second)]],
  ['posted by the browser with a key, by a double click', 1, [formWithKey(first, together), formWithKey(first)]],
  ['posted so, and then by scripts', 1, [formWithKey(lost), script(firstAgain, after(1440))]],
  ['with scripts, and then posted by the browser', 1, [script(lost), formWithKey(first, after(1440))]],
  ['by scripts and by the browser in the same moment', 1, [script(first, together), formWithKey(first)]],
  ['posted with a key, changed after a lost answer', 2, [formWithKey(lost), formWithKey(second, changed)]],
  [
    'posted with a key, and after the reference once more: its key is new',
    2,
    [formWithKey(first), formWithKey(first, newKey, after(5)), formWithKey(second, newKey, changed)],
  ],
  ['without scripts, and then with them: nothing connects the two', 2, [plain(lost), script(second)]],
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
  it.each(cases)('%s: %i stored', async (_what, stored, steps) => {
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

it('a form is not taken for an enquiry that a clock which was ahead has dated in the future', async () => {
  const fields = toFields(anOrder())
  await sendForm(fields)
  await app.db.enquiry.updateMany({ data: { receivedAt: new Date(Date.now() + 3_600_000) } })
  await sendForm(fields)
  expect(await app.db.enquiry.count()).toBe(2)
})

it('a form keeps its key when it is refused, and gets none for a foreign one', async () => {
  const { submissionKey, ...fields } = anOrder({ email: 'no address' })
  const refused = await sendForm({ ...fields, submissionKey })
  expect(refused).toMatchObject({ status: 400, outcome: { order: { submissionKey } } })
  expect(refused.outcome.order).not.toHaveProperty('note')
  const foreign = await sendForm({ ...fields, submissionKey: 'not one of ours' })
  expect(foreign.outcome.order).not.toHaveProperty('submissionKey')
})

it('a form that waits in vain behind an equal one is the same order when its page of failure is sent', async () => {
  const { submissionKey, ...fields } = anOrder()
  const content = JSON.stringify({ ...fields, website: '' })
  const [isAnswered, hasLock] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  // A double click whose first order hangs in its commit.
  const first = app.db.$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${content}, 0))`
    const row = toInsertRow({ ...fields, submissionKey })
    await insertEnquiries(transaction, [row], { STAFF_EMAILS: ['staff@quvera.test'] })
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
  const again = await sendForm({ ...fields, submissionKey: second.outcome.order.submissionKey })
  expect(again.status).toBe(303)
  expect(await app.db.enquiry.count()).toBe(1)
})
