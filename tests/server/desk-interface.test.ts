// What the desk shows, to whom, and in which order it refuses. The actions: desk-actions.test.ts.

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { products } from '../../shared/catalogue.ts'
import { deskStates } from '../../shared/desk.ts'
import { formatIndianDay } from '../../shared/indian-time.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { callDesk, enterDesk, getStaff, postStaff } from '../support/desk.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anApp, theApp } from '../support/fixtures.ts'
import { readCsv } from '../support/read-csv.ts'
import { staff } from '../support/staff-command.ts'
import { columnsOf } from '../support/stored-enquiry.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const RAVI = 'ravi@quvera.test'
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
const storeMany = (count: number, name = 'x') => app.db.$executeRaw`
  INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
  SELECT gen_random_uuid(), 'QV-' || n, now() - (n / 30) * interval '1 hour', ${name}, 'a@shop.example', lpad(n::text, 10, '9'), 1, 'Self Use', ${products[1]}::"Quvera_Product", '1', gen_random_uuid()
  FROM generate_series(1, ${count}::int) n`

const call = (name: string, input: object, headers = {}) => callDesk(app.url, cookie, name, input, headers)
const download = (fields: Record<string, string>, headers: Record<string, string> = { cookie }) =>
  postStaff(app.url, 'enquiries.csv', fields, headers)

describe('refuses in this order', () => {
  const foreign = { origin: 'https://evil.example' }
  const text = { 'content-type': 'text/plain' }

  it('405, 403, 401, 415, 400, 404, 409', async () => {
    const get = await fetch(`${app.url}/trpc/desk.list?input={}`, { headers: { cookie, ...foreign } })
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    const change = { status: 'Closed', was: 'Contacted' }
    const statuses = [
      await callDesk(app.url, '', 'list', { wrong: 1 }, { ...foreign, ...text }),
      await callDesk(app.url, '', 'list', { wrong: 1 }, text),
      await callDesk(app.url, '', 'nothing', {}),
      await call('show', { wrong: 1 }, text),
      await call('show', { wrong: 1 }),
      await call('setStatus', { reference: 'QV-222222', ...change }),
      await call('nothing', {}),
      await call('setStatus', { reference: await store(), ...change }),
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
    ['addNote', { reference: 'QV-7K3M9P', text: ' \n ' }],
    ['addNote', { reference: 'QV-7K3M9P', text: 'x'.repeat(501) }],
    ['sendAgain', { mail: '1 OR 1=1' }],
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
      ['setStatus', { reference, status: 'Contacted', was: 'New' }],
      ['addNote', { reference, text: 'x' }],
    ] as const)
      expect(await call(name, input), name).toMatchObject({ status: 503, data: undefined })
    const csv = await download({ state: 'all' })
    expect([csv.status, (await csv.text()).includes(reference)]).toEqual([503, false])
    await app.db.$executeRaw`ALTER TABLE gone RENAME TO "Quvera_Access"`
    expect(await app.db.enquiry.findFirst()).toMatchObject({ status: 'New', note: null })
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
    await app.db.enquiry.updateMany({ where: { name: '100% Health_Shop' }, data: { note: 'rings back on Monday' } })
    return () => app.close()
  })
  const list = async (input: Record<string, unknown>) => (await callDesk(app.url, cookie, 'list', input)).data
  const namesOf = async (input: Record<string, unknown>) =>
    (await list(input)).enquiries.map(({ name }: { name: string }) => name)

  it('shows rows, counts of everything and thirty Indian days', async () => {
    const { enquiries, counts, days, problems, next } = await list({ state: 'new', text: 'nair-is-not-here' })
    expect([enquiries, next]).toEqual([[], undefined])
    expect(counts).toEqual({ new: 5, contacted: 0, closed: 0, spam: 1, all: 6 })
    expect(days).toHaveLength(30)
    expect(days.at(-1)).toEqual({ day: formatIndianDay(new Date()), count: 5 })
    expect(days.slice(0, 28).every(({ count }: { count: number }) => count === 0)).toBe(true)
    expect(problems).toEqual(expect.any(Array))
    expect((await list({ state: 'new', text: 'asha' })).enquiries[0]).toEqual({
      reference: references['Asha  Verma'],
      name: 'Asha  Verma',
      email: expect.stringMatching(/@mail\.example$/),
      mobile: '9876543210',
      quantity: 120,
      products: products[0],
      retailerSelfUse: 'Retailer',
      receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      status: 'New',
      suspectedSpam: false,
      calls: 0,
      flags: [],
    })
  })

  it('has suspected spam in its own tab and in All only', async () => {
    for (const state of deskStates)
      expect((await namesOf({ state })).includes('A bot'), state).toBe(state === 'spam' || state === 'all')
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

  it('finds by a reference as people say it', async () => {
    const [name, reference = ''] = Object.entries(references)[0] ?? []
    for (const text of [reference, reference.slice(3).toLowerCase(), reference.replace('-', ' ')])
      expect(await namesOf({ state: 'all', text })).toEqual([name])
  })

  it('says in words what is worth a look', async () => {
    const flagsOf = async (name: string) => (await list({ state: 'all', text: name })).enquiries[0].flags
    expect(await flagsOf('प्रिया')).toEqual(['second enquiry from this number'])
    const acknowledgement = { kind: 'Acknowledgement', enquiry: { name: 'प्रिया नायर' } } as const
    await app.db.mail.updateMany({ where: acknowledgement, data: columnsOf('Bounced') })
    expect(await namesOf({ state: 'all', text: 'Bounced' })).toEqual(['प्रिया नायर'])
    expect(await namesOf({ state: 'closed', text: 'Bounced' })).toEqual([])
    await app.db.enquiry.updateMany({ where: { name: 'प्रिया नायर' }, data: { calls: 2 } })
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

it('desk.show has the enquiry with mails, history and earlier enquiries', async () => {
  const first = await store({ name: 'First', email: 'ASHA.verma@shop.example', mobile: '9811111111' })
  const reference = await store()
  const bounces = { ...columnsOf('Bounced'), lastError: '550 no such mailbox' }
  await app.db.mail.updateMany({ where: { to: RAVI, enquiry: { reference } }, data: bounces })
  await call('setStatus', { reference, status: 'Contacted', was: 'New' })
  await call('addNote', { reference, text: 'wants a\n price' })
  const { data } = await call('show', { reference })
  const bounced = {
    kind: 'Notice',
    to: RAVI,
    status: 'Bounced',
    means: 'the notice to ravi@quvera.test was rejected by the mail server of its receiver: 550 no such mailbox',
    maySendAgain: false,
  }
  expect(data).toMatchObject({
    ...{ reference, status: 'Contacted', statusBy: STAFF, statusAt: expect.any(String) },
    mails: [{ kind: 'Notice', to: STAFF, status: 'Pending' }, bounced, { kind: 'Acknowledgement' }],
    history: [
      { who: STAFF, what: expect.stringMatching(/^note: \d\d \w{3} \d{4}: wants a price$/) },
      { who: STAFF, what: 'set to Contacted (was New)' },
    ],
    earlier: [{ reference: first, products: products[0], quantity: 24, status: 'New' }],
  })
  expect((await call('show', { reference: first })).data.earlier).toEqual([])
})

describe('the download', () => {
  it('is the file that the staff command writes, of all that match', async () => {
    for (let n = 10; n < 40; n++) await store({ name: `=cmd|${n}`, mobile: `98765432${n}` })
    await store({ name: 'A bot', website: 'x' })
    const answer = await download({ state: 'all', order: 'oldest', text: '' })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="enquiries-${formatIndianDay(new Date())}.csv"`,
    })
    const bytes = Buffer.from(await answer.arrayBuffer()).toString()
    expect(bytes).toBe((await staff(['export'], app.env)).stdout)
    expect(readCsv(bytes)).toHaveLength(31)
    const found = await download({ state: 'new', order: 'newest', text: '=cmd|17' })
    expect(readCsv(await found.text())).toHaveLength(1)
  })

  it('needs a session, and one of the tabs', async () => {
    const stranger = await download({ state: 'all' }, {})
    expect([stranger.status, await stranger.text()]).toEqual([303, ''])
    expect((await download({ state: 'none' })).status).toBe(400)
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
  await call('list', { state: 'new', text: 'asha' }) // the same list
  await callDesk(app.url, inTerminal, 'list', { state: 'new' })
  await call('show', { reference })
  await call('show', { reference })
  await (await download({ state: 'all', text: 'verma' })).text()
  const another = await store({ mobile: '9811111111', email: 'b@shop.example' })
  await call('list', { state: 'new' })
  const lines = await app.db.access.findMany({ where: { command: { not: 'desk enter' } }, orderBy: { at: 'asc' } })
  expect(lines.map(({ who, command, what }) => [who, command, what])).toEqual([
    [STAFF, 'desk list', reference],
    [`${STAFF} (terminal)`, 'desk list', reference],
    [STAFF, 'desk show', reference],
    [STAFF, 'desk show', reference],
    [STAFF, 'desk export', reference],
    [STAFF, 'desk list', `${another} ${reference}`],
  ])
})

it('no stranger holds the room for bodies: theirs are small, and refused before they are read', async () => {
  for (const path of ['sign-in', 'enter', 'sign-out'])
    expect((await postStaff(app.url, path, { email: 'x'.repeat(4000) })).status, path).toBe(413)
  expect((await download({ state: 'all', text: 'x'.repeat(4000) }, {})).status).toBe(303)
  expect((await call('list', { state: 'all' })).status).toBe(200)
})
