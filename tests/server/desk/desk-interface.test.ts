// What the desk shows, to whom, and in which order it refuses. The actions: desk-actions.test.ts.

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { belongsTo } from '../../../client/desk/tabs.ts'
import { createTurns } from '../../../server/http/turns.ts'
import { products } from '../../../shared/catalogue.ts'
import { AUTHOR_HEADER, deskStates, deskStatuses } from '../../../shared/desk.ts'
import { formatIndianDay } from '../../../shared/indian-time.ts'
import { exampleOrder } from '../../../shared/order.ts'
import { anOrder, submit } from '../../support/an-order.ts'
import { callDesk, enterDesk, getStaff, postStaff } from '../../support/desk.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, theApp } from '../../support/fixtures.ts'
import { readCsv } from '../../support/read-csv.ts'
import { columnsOf, hoursAgo, storeEnquiry } from '../../support/stored-enquiry.ts'
import { startTestApp, type TestApp } from '../../support/test-app.ts'

const RAVI = 'ravi@quvera.test'
const key = '00000000-0000-4000-8000-000000000001'
const app = await theApp({ mails: false, staff: [STAFF, RAVI] })
let cookie = ''
beforeEach(async () => {
  cookie = await enterDesk(app)
})

/** Stores an order as a visitor does. @returns its reference */
async function store(changes: Record<string, unknown> = {}, url = app.url): Promise<string> {
  return (await submit(url, anOrder(changes))).reference ?? ''
}

/** So many enquiries, thirty of them at the same moment: only the id tells them apart. */
async function storeMany(count: number, name = 'x') {
  await app.db.$executeRaw`
  INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
  SELECT gen_random_uuid(), 'QV-' || n, now() - (n / 30) * interval '1 hour', ${name}, 'a@shop.example', lpad(n::text, 10, '9'), 1, 'Self Use', ${products[1]}::"Quvera_Product", '1', gen_random_uuid()
  FROM generate_series(1, ${count}::int) n`
  await app.db.$executeRaw`ANALYZE "Quvera_Form"` // as PostgreSQL does within a minute
}

const call = (name: string, input: object, headers = {}) => callDesk(app.url, cookie, name, input, headers)
const download = (fields: Record<string, string>, headers: Record<string, string> = { cookie }) =>
  postStaff(app.url, 'enquiries.csv', fields, headers)

describe('refuses in this order', () => {
  const foreign = { origin: 'https://evil.example' }
  const text = { 'content-type': 'text/plain' }

  it('405, 403, 401, 415, 400, 404, 409', async () => {
    const get = await fetch(`${app.url}/trpc/desk.list?input={}`, { headers: { cookie, ...foreign } })
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    const change = { key: crypto.randomUUID(), status: 'Closed', was: 'Contacted' }
    const statuses = [
      await callDesk(app.url, '', 'list', { wrong: 1 }, { ...foreign, ...text }),
      await callDesk(app.url, '', 'list', { wrong: 1 }, text),
      await callDesk(app.url, '', 'nothing', {}),
      await call('show', { wrong: 1 }, text),
      await call('show', { wrong: 1 }),
      await call('setStatus', { references: ['QV-222222'], ...change }),
      await call('nothing', {}),
      await call('setStatus', { references: [await store()], ...change }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([403, 401, 401, 415, 400, 404, 404, 409])
  })

  it('429 after 403 and before 401', async () => {
    const { url } = await anApp({ mails: false, rateLimitMax: 10 })
    const statuses = Array.from({ length: 620 }, async () => (await callDesk(url, '', 'list', {})).status)
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([401, 429]))
    expect((await callDesk(url, '', 'list', {}, foreign)).status).toBe(403)
  })

  it.each<[name: string, input: object]>([
    ['list', { state: 'none' }],
    ['list', { state: 'new', before: 'x' }],
    ['list', { state: 'all', before: '2026-02-30T00:00:00.000Z 00000000-0000-0000-0000-000000000000' }],
    ['list', { state: 'new', text: 'a\0b' }],
    ['list', { state: 'new', text: 'x'.repeat(201) }],
    ['show', { reference: 'QV-7K3M9P', more: 1 }],
    ['list', { state: 'new', from: '2026-02-30' }],
    ['list', { state: 'new', product: 'No product' }],
    ['pulse', { showing: Array(101).fill('QV-7K3M9P') }],
    ['pulse', { showing: [], newest: 'yesterday' }],
    ['pulse', { showing: [], newest: '0000-01-01T00:00:00.000Z' }],
    ['pulse', { showing: [], newest: '+275760-01-01T00:00:00.000Z' }],
    ['addNote', { key, reference: 'QV-7K3M9P', text: ' \n ' }],
    ['addNote', { key, reference: 'QV-7K3M9P', text: 'x'.repeat(501) }],
    ['addCall', { key: 'x', reference: 'QV-7K3M9P' }],
    ['setStatus', { key, references: [], status: 'Closed', was: 'New' }],
    ['setStatus', { key, references: ['QV-7K3M9P'], status: 'Closed', was: 'New', closedAs: 'Tired' }],
    ['remind', { key, reference: 'QV-7K3M9P', on: '2026-13-01' }],
    ['takeBack', { key }],
    ['sendAgain', { key, reference: 'QV-7K3M9P', mail: '1 OR 1=1' }],
  ])('400 with a fixed text of its own: %s %j', async (name, input) => {
    const { status, message } = await call(name, input)
    expect([status, message]).toEqual([400, expect.stringMatching(/^[A-Z].*\.$/)])
    expect(message).not.toMatch(/zod|invalid|prisma|form/i)
    expect(app.loggedErrors()).toEqual([])
  })

  it('503, and shows nothing, where the access log cannot be written', async () => {
    const reference = await store()
    await app.db.$executeRaw`ALTER TABLE "Quvera_Access" RENAME TO gone`
    for (const [name, input] of [
      ['list', { state: 'new' }],
      ['show', { reference }],
      ['pulse', { showing: [reference] }],
      ['person', { reference }],
      ['setStatus', { key, references: [reference], status: 'Contacted', was: 'New' }],
      ['addNote', { key, reference, text: 'x' }],
      ['erase', { key, references: [reference] }],
      ['correct', { key, reference, was: exampleOrder, now: { ...exampleOrder, quantity: 1 } }],
      ['add', { ...exampleOrder, key }],
    ] as const)
      expect(await call(name, input), name).toMatchObject({ status: 503, data: undefined })
    const csv = await download({ state: 'all' })
    expect([csv.status, (await csv.text()).includes(reference)]).toEqual([503, false])
    await app.db.$executeRaw`ALTER TABLE gone RENAME TO "Quvera_Access"`
    expect(await app.db.enquiry.findMany()).toMatchObject([{ status: 'New', quantity: 24n, eraseAt: null }])
    expect(await app.db.historyEntry.count()).toBe(0)
  })
})

it.each([
  ['', 200, null],
  ['/QV-7K3M9P', 200, null],
  ['/', 308, '/staff'],
  ['/qv-7k3m9p', 308, '/staff/QV-7K3M9P'],
  ['/QV-7K3M9P/', 308, '/staff/QV-7K3M9P'],
  ['/anything', 404, null],
  ['/QV-7K3M9P/more', 404, null],
  ['/enquiries.csv', 404, null],
])('with a session /staff%s answers %i', async (path, status, location) => {
  const answer = await getStaff(app.url, path, { cookie })
  expect([answer.status, answer.headers.get('location')]).toEqual([status, location])
})

it('the page has no address of its own for its files', async () => {
  for (const path of ['/desk/desk', '/desk/desk.html']) expect((await fetch(app.url + path)).status).toBe(404)
})

describe('desk.list', () => {
  let app: TestApp
  let cookie = ''
  const references: Record<string, string> = {}
  beforeAll(async () => {
    app = await startTestApp()
    cookie = await enterDesk(app)
    for (const [name, changes] of Object.entries({
      'José Fernandes': { mobile: '9971112345', email: 'jose@shop.example' },
      'Asha  Verma': { mobile: '9876543210', quantity: 120 },
      'प्रिया नायर': { mobile: '9876543210', products: products[1], retailerSelfUse: 'Self Use' },
      '100% Health_Shop': { mobile: '9811111111' },
      'Ravi O’Connor': { mobile: '9822222222' },
      'A bot': { website: 'x' },
    }))
      references[name] = await store({ name, email: `${crypto.randomUUID()}@mail.example`, ...changes }, app.url)
    const noted = { key, reference: references['100% Health_Shop'], text: 'Rings back on Monday, says Menón' }
    await callDesk(app.url, cookie, 'addNote', noted)
    return () => app.close()
  })
  const list = async (input: Record<string, unknown>) => (await callDesk(app.url, cookie, 'list', input)).data
  const namesOf = async (input: Record<string, unknown>) =>
    (await list(input)).enquiries.map(({ name }: { name: string }) => name)

  it('shows rows, and the day in India', async () => {
    const { enquiries, next, today } = await list({ state: 'new', text: 'nair-is-not-here' })
    expect([enquiries, next, today]).toEqual([[], undefined, formatIndianDay(new Date())])
    expect((await list({ state: 'new', text: 'asha' })).enquiries[0]).toEqual({
      ...exampleOrder,
      reference: references['Asha  Verma'],
      name: 'Asha  Verma',
      email: expect.stringMatching(/@mail\.example$/),
      quantity: 120,
      receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      status: 'New',
      suspectedSpam: false,
      calls: 0,
      flags: [],
    })
  })

  it('by product, type and days of India', async () => {
    const today = formatIndianDay(new Date())
    const tomorrow = formatIndianDay(new Date(Date.now() + 86_400_000))
    expect(await namesOf({ state: 'new', product: products[1] })).toEqual(['प्रिया नायर'])
    expect(await namesOf({ state: 'new', type: 'Self Use' })).toEqual(['प्रिया नायर'])
    expect(await namesOf({ state: 'new', from: today, to: today })).toHaveLength(5)
    expect(await namesOf({ state: 'new', from: tomorrow })).toEqual([])
    const receivedAt = new Date(`${today}T00:00:00+05:30`) // India's midnight
    await app.db.enquiry.updateMany({ where: { name: 'José Fernandes' }, data: { receivedAt } })
    expect(await namesOf({ state: 'new', from: today, text: 'jose' })).toEqual(['José Fernandes'])
    await app.db.enquiry.updateMany({
      where: { name: 'José Fernandes' },
      data: { receivedAt: new Date(receivedAt.getTime() - 1) },
    })
    expect(await namesOf({ state: 'new', from: today, text: 'jose' })).toEqual([])
  })

  it.each([
    ['fernan', 'José Fernandes'],
    ['JOSE', 'José Fernandes'],
    ['Jose\u0301', 'José Fernandes'],
    ['jose@shop', 'José Fernandes'],
    ['Verma Asha', 'Asha  Verma'],
    ['प्रिया', 'प्रिया नायर'],
    ['100%', '100% Health_Shop'],
    ['health_shop', '100% Health_Shop'],
    ['back on mon', '100% Health_Shop'],
    ['menon', '100% Health_Shop'],
    ['menon 9811', '100% Health_Shop'],
    ['shop 98111 menon', '100% Health_Shop'],
    ['“Asha Verma”,', 'Asha  Verma'],
    ['\u200e+91\u00a099711\u201112345\u200e', 'José Fernandes'],
    ['tel:+919971112345', 'José Fernandes'],
    ['https://wa.me/919971112345', 'José Fernandes'],
    ['mailto:jose@shop.example', 'José Fernandes'],
    ['<jose@shop.example>;', 'José Fernandes'],
    ['९९७११', 'José Fernandes'],
    ['099711', 'José Fernandes'],
    ['+91 99711', 'José Fernandes'],
    ["o'connor", 'Ravi O’Connor'],
    ['+91 99711 12345', 'José Fernandes'],
    ['099711-12345', 'José Fernandes'],
    ['+91 (0) 99711 12345', 'José Fernandes'],
    ['0091 99711 12345', 'José Fernandes'],
    ['971112', 'José Fernandes'],
    ['h_alth', undefined],
    ['a%a', undefined],
  ])('finds by %s: %s', async (text, name) => {
    expect(await namesOf({ state: 'all', text })).toEqual(name ? [name] : [])
  })

  it('finds nothing by the code of the country alone', async () => {
    expect(await namesOf({ state: 'all', text: '+91' })).toEqual([])
  })

  it('finds by a reference as people say it', async () => {
    const [name, reference = ''] = Object.entries(references)[0] ?? []
    for (const text of [reference, `${reference}.`, reference.slice(3).toLowerCase(), reference.replace('-', ' ')])
      expect(await namesOf({ state: 'all', text })).toEqual([name])
  })

  it('says in words what is worth a look', async () => {
    const flagsOf = async (name: string) => (await list({ state: 'all', text: name })).enquiries[0].flags
    expect(await flagsOf('प्रिया')).toEqual(['second enquiry from this number'])
    const acknowledgement = { kind: 'Acknowledgement', enquiry: { name: 'प्रिया नायर' } } as const
    await app.db.mail.updateMany({ where: acknowledgement, data: columnsOf('Bounced') })
    expect(await namesOf({ state: 'all', text: 'Bounced' })).toEqual(['प्रिया नायर'])
    expect(await namesOf({ state: 'closed', text: 'Bounced' })).toEqual([])
    for (const each of [crypto.randomUUID(), crypto.randomUUID()])
      await callDesk(app.url, cookie, 'addCall', { key: each, reference: references['प्रिया नायर'] })
    expect(await flagsOf('प्रिया')).toEqual(['acknowledgement bounced', 'second enquiry from this number', 'rang twice'])
  })
})

it('goes through all pages in both orders without losing or repeating one', async () => {
  await storeMany(80)
  for (const order of ['newest', 'oldest'] as const) {
    const seen: { reference: string; receivedAt: string }[] = []
    let before: string | undefined
    do {
      const { data } = await call('list', { state: 'new', order, ...(before && { before }) })
      seen.push(...data.enquiries)
      before = data.next
    } while (before)
    expect(new Set(seen.map(({ reference }) => reference)).size).toBe(80)
    const times = seen.map(({ receivedAt }) => receivedAt)
    expect(times).toEqual(times.toSorted((a, b) => (order === 'newest' ? (a < b ? 1 : -1) : a < b ? -1 : 1)))
  }
})

it('pages go on when the last row of one was erased, and To ring goes by days', async () => {
  await storeMany(60)
  await app.db.$executeRaw`UPDATE "Quvera_Form" SET "RemindOn" = now()::date + (right("Reference", 1)::int % 3)`
  const days: string[] = []
  let before: string | undefined
  do {
    const { data } = await call('list', { state: 'toRing', ...(before && { before }) })
    days.push(...data.enquiries.map(({ remindOn }: { remindOn: string }) => remindOn))
    before = data.next
    await app.db.enquiry.delete({ where: { reference: data.enquiries.at(-1).reference } })
  } while (before)
  expect(days).toHaveLength(60)
  expect(days).toEqual(days.toSorted())
})

it('each tab has the rows that the page takes for its own', async () => {
  for (const status of deskStatuses)
    for (const suspectedSpam of [false, true])
      for (const remindOn of [null, hoursAgo(48), hoursAgo(0), hoursAgo(-48)])
        for (const eraseAt of [null, hoursAgo(-20)])
          await storeEnquiry(app.db, { status, suspectedSpam, remindOn, eraseAt })
  const rows = async (state: string) => {
    const first = await call('list', { state })
    const { enquiries, next, today } = first.data
    const further = next ? (await call('list', { state, before: next })).data.enquiries : []
    return { today, rows: [...enquiries, ...further] }
  }
  const all = await rows('all')
  expect(all.rows).toHaveLength(48)
  const names = (of: { reference: string }[]) => of.map(({ reference }) => reference).toSorted()
  for (const state of deskStates)
    expect(names((await rows(state)).rows), state).toEqual(
      names(all.rows.filter((row) => belongsTo(state, row, all.today))),
    )
})

it('desk.list, and a download, tell what one of staff did in some days, and what was closed for a reason then', async () => {
  const [ordered, rung, old] = [
    await store(),
    await store({ mobile: '9811111111' }),
    await store({ mobile: '9822222222' }),
  ]
  const close = { status: 'Closed', was: 'New', closedAs: 'Ordered' }
  const ravi = await enterDesk(app, { email: RAVI })
  await callDesk(app.url, ravi, 'setStatus', { key, references: [ordered], ...close })
  await callDesk(app.url, ravi, 'addCall', { key: crypto.randomUUID(), reference: rung })
  await call('setStatus', { key: crypto.randomUUID(), references: [old], ...close })
  const long = new Date(Date.now() - 60 * 86_400_000)
  await app.db.historyEntry.updateMany({ where: { enquiry: { reference: old } }, data: { at: long } })
  const found = async (choice: object) => {
    const { data } = await call('list', { state: 'all', ...choice })
    const references = data.enquiries.map(({ reference }: { reference: string }) => reference)
    expect(data.total).toBe(references.length)
    return references
  }
  const from = formatIndianDay(new Date(Date.now() - 7 * 86_400_000))
  expect(await found({ by: RAVI })).toEqual([rung, ordered])
  expect(await found({ by: STAFF, from })).toEqual([])
  expect(await found({ closedAs: 'Ordered' })).toEqual([old, ordered])
  expect(await found({ closedAs: 'Ordered', from })).toEqual([ordered])
  expect(await found({ closedAs: 'Ordered', by: STAFF })).toEqual([old])
  const csv = await (await download({ state: 'all', by: RAVI, from })).text()
  expect([csv.includes(ordered), csv.includes(rung), csv.includes(old)]).toEqual([true, true, false])
  await callDesk(app.url, ravi, 'erase', { key: crypto.randomUUID(), references: [rung] })
  expect((await call('pulse', { showing: [] })).data.toErase).toBe(1)
  const { data } = await call('list', { state: 'all', text: 'To be erased' })
  expect(data.enquiries.map(({ reference }: { reference: string }) => reference)).toEqual([rung])
})

it('desk.pulse tells counts, what is new, the week, and how what is shown stands now', async () => {
  const [first, second] = [await store(), await store({ products: products[1] })]
  await store({ website: 'x' })
  const { data: listed } = await call('list', { state: 'new', order: 'newest' })
  const newest = listed.enquiries[0].receivedAt
  const { data: before } = await call('pulse', { showing: [first, second], newest })
  expect(before).toMatchObject({
    ...{ fresh: 0, rows: [{ reference: first }, { reference: second }] },
    counts: { new: 2, toRing: 0, contacted: 0, closed: 0, spam: 1, all: 3 },
    ...{ due: 0, toErase: 0, week: { [products[0]]: 1, [products[1]]: 1 }, you: STAFF, browsers: 1, problems: [] },
    oldestNewAt: listed.enquiries[1].receivedAt,
  })
  await store({ mobile: '9811111111' })
  await app.db.enquiry.delete({ where: { reference: first } })
  await call('setStatus', { key, references: [second], status: 'Contacted', was: 'New' })
  const { data: after } = await call('pulse', { showing: [first, second], newest })
  expect(after).toMatchObject({
    fresh: 1,
    counts: { new: 1, contacted: 1 },
    rows: [{ reference: second, status: 'Contacted' }],
  })
  expect(after.rows).toHaveLength(1)
  const today = formatIndianDay(new Date())
  await app.db.enquiry.updateMany({ data: { remindOn: new Date(formatIndianDay(new Date(Date.now() + 86_400_000))) } })
  await call('remind', { key: crypto.randomUUID(), reference: second, on: today })
  expect((await call('pulse', { showing: [] })).data).toMatchObject({ due: 1, counts: { toRing: 2 } })
})

it('searches and downloads of a session go one at a time', async () => {
  await storeMany(4000, 'x'.repeat(200))
  const begun = () => app.db.$queryRaw<unknown[]>`
    SELECT 1 FROM pg_stat_activity WHERE "datname" = current_database() AND "backend_type" = 'client backend'
      AND "state" = 'active' AND "query" LIKE '%SearchText%' AND "pid" <> pg_backend_pid()`
  const text = 'no such words here'
  const all = Promise.all([
    download({ state: 'all', text }),
    call('list', { state: 'all', text }),
    download({ state: 'all', text }),
  ])
  let isOver = false
  all.finally(() => {
    isOver = true
  })
  let most = 0
  while (!isOver) most = Math.max(most, (await begun()).length)
  const answers = await all
  expect([answers.map(({ status }) => status), most]).toEqual([[200, 200, 200], 1])
})

it('a search that the browser has given up, as its text was typed on, is not begun', async () => {
  const inTurn = createTurns()
  const begun: string[] = []
  const search = (text: string, isGone = false) =>
    inTurn(
      'x',
      async () => {
        begun.push(text)
        if (text === 'a') throw new Error('failed')
        return text
      },
      () => isGone,
    ).catch(({ message, statusCode }) => statusCode ?? message)
  expect(await Promise.all([search('a'), search('as', true), search('ash')])).toEqual(['failed', 408, 'ash'])
  expect(begun).toEqual(['a', 'ash'])
})

it('desk.show has the enquiry with mails, history and the other enquiries of the person, the newest first', async () => {
  const first = await store({ name: 'First', email: 'ASHA.verma@shop.example', mobile: '9811111111' })
  const reference = await store()
  const bounces = { ...columnsOf('Bounced'), lastError: '550 no such mailbox' }
  await app.db.mail.updateMany({ where: { to: RAVI, enquiry: { reference } }, data: bounces })
  await call('setStatus', { key, references: [reference], status: 'Contacted', was: 'New' })
  await call('addNote', { key: crypto.randomUUID(), reference, text: 'wants a\n price' })
  const { data } = await call('show', { reference })
  const bounced = {
    kind: 'Notice',
    to: RAVI,
    status: 'Bounced',
    means: 'the notice to ravi@quvera.test was rejected by the mail server of its receiver: 550 no such mailbox',
    maySendAgain: false,
    whyNot: 'Sent again to the same address it would not arrive either. Tell the operator.',
  }
  expect(data).toMatchObject({
    ...{ reference, status: 'Contacted', statusBy: STAFF, statusAt: expect.any(String) },
    mails: [{ kind: 'Notice', to: STAFF, status: 'Pending' }, bounced, { kind: 'Acknowledgement' }],
    history: [
      { who: STAFF, what: 'note: wants a price' },
      { who: STAFF, what: 'set to Contacted (was New)' },
    ],
    notes: [{ who: STAFF, text: 'wants a price' }],
    earlier: [{ reference: first, products: products[0], quantity: 24, status: 'New' }],
    last: { who: STAFF, what: 'note: wants a price' },
    replies: [{ text: expect.stringMatching(`^Hello Asha Verma, .*${reference}.* 24 × ${products[0]}`) }, {}],
  })
  const third = await store({ email: 'another@shop.example' })
  const othersOf = async (one: string) =>
    (await call('show', { reference: one })).data.earlier.map((each: { reference: string }) => each.reference)
  expect([await othersOf(reference), await othersOf(first)]).toEqual([[third, first], [reference]])
})

describe('the download', () => {
  it('is for spreadsheets: of all that match, times and numbers as they sort, who answered and why it was closed', async () => {
    for (let n = 10; n < 40; n++) await store({ name: `=cmd|${n}`, mobile: `08765432${n}` })
    await store({ name: 'A bot', website: 'x' })
    const reference = await store()
    await call('setStatus', { key, references: [reference], status: 'Closed', was: 'New', closedAs: 'No interest' })
    await call('addCall', { key: crypto.randomUUID(), reference })
    await call('addNote', { key: crypto.randomUUID(), reference, text: 'one' })
    await call('addNote', { key: crypto.randomUUID(), reference, text: '=two' })
    const answer = await download({ state: 'all', order: 'oldest', text: '' })
    const today = formatIndianDay(new Date())
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="enquiries-all-${today}.csv"`,
    })
    const rows = readCsv(Buffer.from(await answer.arrayBuffer()).toString())
    expect(rows).toHaveLength(31) // suspected spam is in its own tab's file
    const time = new RegExp(`^${today} \\d\\d:\\d\\d$`)
    expect(rows.at(-1)).toMatchObject({
      ...{ Received: expect.stringMatching(time), Status: 'Closed', ClosedAs: 'No interest', Calls: '1' },
      ...{ AnsweredBy: STAFF, AnsweredAt: expect.stringMatching(time), Mobile: '98765 43210', Notes: "one\n'=two" },
    })
    expect(rows[0]).toMatchObject({ Name: "'=cmd|10", Mobile: '08765 43210', AnsweredBy: '' })
    const found = await download({ state: 'new', order: 'newest', text: '=cmd|17', from: today, type: 'Retailer' })
    expect(found.headers.get('content-disposition')).toContain(`enquiries-new-${today}-${today}.csv`)
    expect(readCsv(await found.text())).toHaveLength(1)
    expect(readCsv(await (await download({ state: 'spam' })).text())).toHaveLength(1)
  })

  it('needs a session, and one of the tabs', async () => {
    const stranger = await download({ state: 'all' }, {})
    expect([stranger.status, await stranger.text()]).toEqual([303, ''])
    expect((await download({ state: 'none' })).status).toBe(400)
  })

  it('is refused in words when it fails before its first row', async () => {
    await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" RENAME TO gone`
    const answer = await download({ state: 'all' })
    expect([answer.status, answer.headers.get('content-disposition')]).toEqual([500, null])
    expect(await answer.text()).toContain('Something went wrong.')
    await app.db.$executeRaw`ALTER TABLE gone RENAME TO "Quvera_Mail"`
  })

  it('breaks off when it fails on the way, so that no part looks like the whole', async () => {
    await storeMany(30_000, 'x'.repeat(200))
    const answer = await download({ state: 'all' })
    const reader = answer.body?.getReader()
    await reader?.read()
    await app.db.$executeRaw`ALTER TABLE "Quvera_Form" RENAME TO gone`
    const read = async () => {
      while (!(await reader?.read())?.done);
    }
    await expect(read()).rejects.toThrow()
    await app.db.$executeRaw`ALTER TABLE gone RENAME TO "Quvera_Form"`
  })
})

it('the access log has a line with the address for each list, enquiry and download, and never what was searched for', async () => {
  const inTerminal = await enterDesk(app, { byTerminal: true })
  const reference = await store()
  await call('list', { state: 'new', text: 'verma' })
  await call('list', { state: 'new', text: 'asha' }) // within a minute
  await call('list', { state: 'new' })
  await call('list', { state: 'new' }) // the same list
  await call('pulse', { showing: [reference] }) // which shows the same
  await callDesk(app.url, inTerminal, 'list', { state: 'new' })
  await call('show', { reference })
  await call('show', { reference })
  await (await download({ state: 'all', text: 'verma' })).text()
  const another = await store({ mobile: '9811111111', email: 'b@shop.example' })
  await call('pulse', { showing: [another] })
  await call('list', { state: 'new' })
  const lines = await app.db.access.findMany({ where: { command: { not: 'desk enter' } }, orderBy: { at: 'asc' } })
  expect(lines.map(({ who, command, what }) => [who, command, what])).toEqual([
    [STAFF, 'desk search', reference],
    [STAFF, 'desk list', reference],
    [`${STAFF} (terminal)`, 'desk list', reference],
    [STAFF, 'desk show', reference],
    [STAFF, 'desk show', reference],
    [STAFF, 'desk export', reference],
    [STAFF, 'desk pulse', another],
    [STAFF, 'desk list', `${another} ${reference}`],
  ])
})

it('a change that a page sends for somebody else than who is signed in is refused', async () => {
  const reference = await store()
  const change = { references: [reference], status: 'Contacted', was: 'New', key: crypto.randomUUID() }
  const answer = await call('setStatus', change, { [AUTHOR_HEADER]: encodeURIComponent('ravi@quvera.test') })
  expect([answer.status, answer.message]).toEqual([409, 'Somebody else is signed in now: nothing was changed.'])
  expect((await call('setStatus', change, { [AUTHOR_HEADER]: encodeURIComponent(STAFF) })).status).toBe(200)
})

it('a search that goes on to a further page has a line for it', async () => {
  for (let index = 0; index < 27; index++) await store({ mobile: `98111111${String(index).padStart(2, '0')}` })
  const { next, enquiries } = (await call('list', { state: 'all', text: 'verma' })).data
  const further = (await call('list', { state: 'all', text: 'verma', before: next })).data
  expect([enquiries.length, further.enquiries.length]).toEqual([25, 2])
  const lines = await app.db.access.findMany({ where: { command: { startsWith: 'desk list' } } })
  expect(lines.map(({ what }) => what)).toEqual([expect.stringContaining(further.enquiries[1].reference)])
})

it('the page comes with its first list, which no name breaks out of and the access log names', async () => {
  const name = '</script><!-- Verma'
  const reference = await store({ name })
  const page = await (await getStaff(app.url, '', { cookie })).text()
  const [, json = ''] = /<script id="start" type="application\/json">(.*?)<\/script>/.exec(page) ?? []
  expect(JSON.parse(json)).toMatchObject({ pulse: { you: STAFF }, list: { enquiries: [{ reference, name }] } })
  expect(await app.db.access.count({ where: { command: 'desk list', what: reference } })).toBe(1)
  const enquiry = await getStaff(app.url, `/${reference}`, { cookie })
  expect(await enquiry.text()).not.toContain('Verma')
})

it('no stranger holds the room for bodies: theirs are small, and refused before they are read', async () => {
  for (const path of ['sign-in', 'enter', 'sign-out'])
    expect((await postStaff(app.url, path, { email: 'x'.repeat(4000) })).status, path).toBe(413)
  expect((await download({ state: 'all', text: 'x'.repeat(4000) }, {})).status).toBe(303)
  expect((await call('list', { state: 'all' })).status).toBe(200)
})
