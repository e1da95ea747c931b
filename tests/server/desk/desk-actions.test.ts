// Each change has five exits: the answer, the row, the mails, history and access log, and nothing else changed.

import { describe, expect, it, vi } from 'vitest'
import { columnOf } from '../../../server/database/enquiry.ts'
import { formatIndianDay } from '../../../shared/indian-time.ts'
import { exampleOrder, messages } from '../../../shared/order.ts'
import { anOrder, postForm, submit } from '../../support/an-order.ts'
import { atEnd } from '../../support/at-end.ts'
import { callDesk, enterDesk } from '../../support/desk.ts'
import { eventually } from '../../support/eventually.ts'
import { startFakeReceiver } from '../../support/fake-receiver.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, theApp } from '../../support/fixtures.ts'
import { columnsOf, hoursAgo, storeEnquiry } from '../../support/stored-enquiry.ts'

const RAVI = 'ravi@quvera.test'
/** Its mails wait. */
const app = await theApp({ mails: false, staff: [STAFF, RAVI] })

const text = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
const dayIn = (days: number) => formatIndianDay(new Date(Date.now() + days * 86_400_000))
const aKey = () => crypto.randomUUID()
/** Changes of several enquiries. */
const ofMany = ['setStatus', 'setSpam', 'erase', 'keep']

/** Two enquiries: one to change, and one that no action may touch. */
async function aDesk(changes: Record<string, unknown> = {}) {
  const { reference = '' } = await submit(app.url, anOrder(changes))
  const { reference: other = '' } = await submit(app.url, anOrder({ mobile: '9811111111' }))
  const [cookie, ravi] = [await enterDesk(app), await enterDesk(app, { email: RAVI })]
  const read = (reference: string) =>
    app.db.enquiry.findUnique({ where: { reference }, include: { mails: { orderBy: { id: 'asc' } } } })
  const [before, otherBefore] = [await read(reference), await read(other)]
  const isSame = (one: unknown, another: unknown) => JSON.stringify(one, text) === JSON.stringify(another, text)
  const act = (name: string, input: Record<string, unknown> = {}, as = cookie) => {
    const which = name === 'takeBack' ? {} : ofMany.includes(name) ? { references: [reference] } : { reference }
    return callDesk(app.url, as, name, { ...(name !== 'show' && { key: aKey() }), ...which, ...input })
  }
  return {
    reference,
    other,
    cookie,
    ravi,
    act,
    history: async () => (await act('show')).data.history.map(({ what }: { what: string }) => what),
    /** What the changes have done, and that they have changed nothing else. */
    async changed() {
      expect(await read(other)).toEqual(otherBefore)
      const { mails, searchText: _, ...row } = { ...(await read(reference)) }
      const differences = Object.entries(row).filter(([name, value]) => !isSame(value, Object(before)[name]))
      const history = await app.db.historyEntry.findMany({ orderBy: { id: 'asc' } })
      const access = await app.db.access.findMany({ where: { command: { not: 'desk enter' } }, orderBy: { at: 'asc' } })
      return {
        row: Object.fromEntries(differences),
        mails: isSame(mails, before?.mails) ? 'unchanged' : mails,
        history: history.map(({ who, what, before, after, text }) => ({ who, what, before, after, text })),
        access: access.map(({ who, command, what }) => ({ who, command, what })),
      }
    },
  }
}

describe('setStatus', () => {
  it('sets the status, and adds to history and access log under the address of the session', async () => {
    const { act, changed, reference } = await aDesk()
    const { status, data } = await act('setStatus', { status: 'Closed', was: 'New', closedAs: 'Ordered' })
    expect([status, data]).toMatchObject([200, [{ reference, status: 'Closed', closedAs: 'Ordered', statusBy: STAFF }]])
    const [before, after] = [
      { Status: 'New', ClosedAs: null },
      { Status: 'Closed', ClosedAs: 'Ordered' },
    ]
    expect(await changed()).toEqual({
      row: { status: 'Closed', closedAs: 'Ordered' },
      mails: 'unchanged',
      history: [{ who: STAFF, what: 'Status', before, after, text: null }],
      access: [{ who: STAFF, command: 'desk status', what: reference }],
    })
  })

  it('overwrites nothing when somebody was faster, and names the person asked about and who it was', async () => {
    const { act, ravi, changed, reference } = await aDesk()
    await act('setStatus', { status: 'Closed', was: 'New' }, ravi)
    const theirs = await act('setStatus', { status: 'Contacted', was: 'New' })
    const own = await act('setStatus', { status: 'Contacted', was: 'New' }, ravi)
    expect([theirs.status, own.status]).toEqual([409, 409])
    expect(theirs.message).toMatch(
      new RegExp(
        `^Asha Verma, ${reference}: ravi@quvera\\.test at [^:]+:\\d\\d IST: set to Closed \\(was New\\)\\. Nothing was changed\\.$`,
      ),
    )
    expect(own.message).toContain('You, in another tab,')
    // What a refusal says of an enquiry is shown, too.
    expect(await app.db.access.count({ where: { command: 'desk refused', what: reference } })).toBe(2)
    expect((await changed()).row).toEqual({ status: 'Closed' })
  })

  it('is done by one of two at the same moment', async () => {
    const { act, ravi, changed } = await aDesk()
    const set = async (status: string, as?: string) => (await act('setStatus', { status, was: 'New' }, as)).status
    expect((await Promise.all([set('Contacted'), set('Closed', ravi)])).sort()).toEqual([200, 409])
    expect((await changed()).history).toHaveLength(1)
  })

  it('gives a closed one another reason, unless somebody was faster', async () => {
    const { act, ravi, history } = await aDesk()
    await act('setStatus', { status: 'Closed', was: 'New' })
    const close = (closedAs: string, wasClosedAs: string | null, as?: string) =>
      act('setStatus', { status: 'Closed', was: 'Closed', closedAs, wasClosedAs }, as)
    expect((await close('Ordered', null)).data).toMatchObject([{ status: 'Closed', closedAs: 'Ordered' }])
    const { status, message } = await close('No interest', null, ravi)
    expect([status, message]).toEqual([409, expect.stringContaining('set to Closed, Ordered (was Closed)')])
    await close('Not reached', 'Ordered', ravi)
    expect((await history())[0]).toBe('set to Closed, Not reached (was Closed, Ordered)')
  })

  it('of several is done for all or for none, in any order at the same moment', async () => {
    const { act, reference, other, ravi } = await aDesk()
    const set = (references: string[], as?: string) =>
      act('setStatus', { references, status: 'Closed', was: 'New' }, as)
    const both = await Promise.all([set([reference, other]), set([other, reference], ravi)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await app.db.historyEntry.count()).toBe(2)
    expect((await set([reference, 'QV-222222'])).status).toBe(404)
    const mixed = await act('setStatus', { references: [reference, other], status: 'New', was: 'Closed' })
    expect(mixed.data.map(({ status }: { status: string }) => status)).toEqual(['New', 'New'])
  })

  it('ends a reminder that is due, and Closed any', async () => {
    const { act, changed } = await aDesk()
    const outcomes: unknown[] = []
    for (const [on, status, was] of [
      [dayIn(0), 'Contacted', 'New'],
      [dayIn(3), 'New', 'Contacted'],
      [dayIn(3), 'Contacted', 'New'],
      [dayIn(3), 'Closed', 'Contacted'],
    ]) {
      await act('remind', { on })
      await act('setStatus', { status, was })
      outcomes.push((await changed()).row.remindOn)
    }
    expect(outcomes).toEqual([undefined, expect.any(Date), expect.any(Date), undefined])
    expect((await act('remind', { on: dayIn(1) })).status).toBe(400) // closed
  })
})

describe('the same key', () => {
  it.each<[name: string, input: Record<string, unknown>]>([
    ['setStatus', { status: 'Contacted', was: 'New' }],
    ['setSpam', { spam: true, was: false }],
    ['addNote', { text: 'rings back' }],
    ['addCall', {}],
    ['remind', { on: dayIn(2) }],
    ['correct', { was: exampleOrder, now: { ...exampleOrder, quantity: 12 } }],
    ['erase', {}],
  ])(
    'of %s is one change with one answer, also at the same moment, and of another person refused',
    async (name, input) => {
      const { act, ravi, changed } = await aDesk()
      const key = aKey()
      const [first, second] = await Promise.all([act(name, { ...input, key }), act(name, { ...input, key })])
      const third = await act(name, { ...input, key })
      expect([first.status, second.status, third.status]).toEqual([200, 200, 200])
      expect(third.data).toEqual(first.data)
      expect((await changed()).history).toHaveLength(1)
      const others = await act(name, { ...input, key }, ravi)
      expect([others.status, others.message]).toEqual([409, expect.stringMatching(/^Another change has this key/)])
      expect(await app.db.access.count({ where: { command: 'desk refused', what: '' } })).toBe(0)
      expect((await changed()).history).toHaveLength(1)
    },
  )

  it('of an enquiry by phone stores one with its note, also once it was corrected, and is its author’s', async () => {
    const { cookie, ravi } = await aDesk()
    const input = { ...exampleOrder, key: aKey(), email: '', note: ' wants\n a price ' }
    const [first] = (await callDesk(app.url, cookie, 'add', input)).data
    expect(first).toMatchObject({ status: 'Contacted', note: 'wants a price' })
    const { note: _, key: __, ...was } = input
    const correction = { key: aKey(), reference: first.reference, was, now: { ...was, name: 'Asha V.' } }
    expect((await callDesk(app.url, cookie, 'correct', correction)).status).toBe(200)
    const [again] = (await callDesk(app.url, cookie, 'add', input)).data
    expect(again).toMatchObject({ reference: first.reference, name: 'Asha V.' })
    expect((await callDesk(app.url, ravi, 'add', input)).status).toBe(409)
    expect(await app.db.enquiry.count()).toBe(3)
    expect(await app.db.historyEntry.count({ where: { what: 'Note' } })).toBe(1)
  })
})

describe('takeBack', () => {
  it.each<[name: string, input: Record<string, unknown>]>([
    ['setStatus', { status: 'Closed', was: 'New', closedAs: 'Wrong number' }],
    ['setSpam', { spam: true, was: false }],
    ['addNote', { text: 'rings back' }],
    ['addCall', {}],
    ['remind', { on: dayIn(2) }],
    ['correct', { was: exampleOrder, now: { ...exampleOrder, name: 'Asha V.', mobile: '9876543211', quantity: 12 } }],
    ['erase', {}],
  ])('takes %s back, whoever asks, and that can be taken back, too', async (name, input) => {
    const { act, ravi } = await aDesk()
    const rowOf = async () => {
      const { data } = await act('show')
      const { history: _, last: __, statusBy: ___, statusAt: ____, mails: _____, eraseAt, ...row } = data
      return { ...row, isErased: Boolean(eraseAt) }
    }
    const before = await rowOf()
    const [of, back] = [aKey(), aKey()]
    expect((await act(name, { ...input, key: of })).status).toBe(200)
    const after = await rowOf()
    expect(after).not.toEqual(before)
    expect((await act('takeBack', { of, key: back }, ravi)).status).toBe(200)
    expect((await act('takeBack', { of, key: back }, ravi)).status).toBe(200) // the same press
    expect(await rowOf()).toEqual(before)
    expect((await act('takeBack', { of })).status).toBe(409) // pressed by two
    const again = aKey()
    expect((await act('takeBack', { of: back, key: again })).status).toBe(200)
    expect(await rowOf()).toEqual(after)
    expect((await act('takeBack', { of: again })).status).toBe(200)
    expect(await rowOf()).toEqual(before)
  })

  it('leaves what was changed since, and says who changed it', async () => {
    const { act, ravi, changed } = await aDesk()
    const [status, called] = [aKey(), aKey()]
    await act('setStatus', { key: status, status: 'Contacted', was: 'New' })
    await act('setStatus', { status: 'Closed', was: 'Contacted' }, ravi)
    const { status: refused, message } = await act('takeBack', { of: status })
    expect([refused, message]).toEqual([409, expect.stringMatching(/ravi@quvera\.test at .*set to Closed/)])
    await act('setStatus', { status: 'New', was: 'Closed' })
    await act('addCall', { key: called })
    await act('remind', { on: dayIn(9) })
    expect((await act('takeBack', { of: called })).data).toMatchObject([{ calls: 0, remindOn: dayIn(9) }])
    expect((await changed()).row.status).toBeUndefined()
  })

  it('takes back all that one change of several did', async () => {
    const { act, reference, other } = await aDesk()
    const of = aKey()
    await act('setStatus', { key: of, references: [reference, other], status: 'Closed', was: 'New' })
    expect((await act('takeBack', { of })).data).toMatchObject([{ status: 'New' }, { status: 'New' }])
  })

  it('refuses what cannot be taken back, or is not there', async () => {
    const { act, cookie } = await aDesk()
    const [rung, added] = [aKey(), aKey()]
    await act('ring', { key: rung })
    await callDesk(app.url, cookie, 'add', { ...exampleOrder, key: added })
    const statuses = [rung, added, aKey()].map(async (of) => (await act('takeBack', { of })).status)
    expect(await Promise.all(statuses)).toEqual([400, 404, 404])
  })
})

describe('notes', () => {
  it('are rows of the history with who and when; the row shows the last', async () => {
    const { act, ravi, changed } = await aDesk()
    await Promise.all([
      act('addNote', { text: ' rings back\u202e on\n Monday ' }),
      act('addNote', { text: '<b>x</b>' }, ravi), // at the same moment
    ])
    const { row, mails, history, access } = await changed()
    expect([row, mails]).toEqual([{}, 'unchanged'])
    expect(history.map(({ what, text }) => [what, text]).sort()).toEqual([
      ['Note', '<b>x</b>'],
      ['Note', 'rings back on Monday'],
    ])
    expect(access.map(({ command }) => command)).toEqual(['desk note', 'desk note'])
    const { data } = await act('show')
    expect(data.notes).toHaveLength(2)
    expect(data.note).toBe(data.notes[1].text)
    expect((await act('takeBack', { of: data.notes[1].key })).data[0].note).toBe(data.notes[0].text)
    expect((await act('show')).data.notes).toEqual(data.notes.slice(0, 1))
  })
})

describe('addCall', () => {
  it('is refused where a colleague has reached them meanwhile', async () => {
    const { act, ravi, changed } = await aDesk()
    await act('setStatus', { status: 'Contacted', was: 'New' }, ravi)
    expect((await act('addCall', { was: 'New' })).message).toContain('set to Contacted (was New)')
    expect((await changed()).history).toHaveLength(1)
    expect((await act('addCall', { was: 'Contacted' })).status).toBe(200)
  })

  it('counts, leaves the status, and reminds of the next working day', async () => {
    const { act, changed, history, reference } = await aDesk()
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-27T20:00:00Z') }) // Saturday in India
    atEnd(() => vi.useRealTimers())
    await act('addCall')
    expect((await act('addCall')).data).toMatchObject([{ calls: 2, remindOn: '2026-11-30', flags: ['rang twice'] }])
    vi.useRealTimers()
    const { row, mails, access } = await changed()
    expect([row, mails]).toEqual([{ remindOn: new Date('2026-11-30') }, 'unchanged'])
    expect(access).toEqual(Array(2).fill({ who: STAFF, command: 'desk call', what: reference }))
    expect(await history()).toEqual(['rang, no answer', 'rang, no answer'])
  })

  it('while somebody is ringing others read who, for ten minutes, and the history does not', async () => {
    const { act, ravi, history } = await aDesk()
    await act('ring', {}, ravi)
    expect((await act('show')).data.ringing).toEqual({ who: RAVI, at: expect.any(String) })
    expect(await history()).toEqual([])
    await app.db.historyEntry.updateMany({ data: { at: new Date(Date.now() - 601_000) } })
    expect((await act('show')).data.ringing).toBeUndefined()
    await act('ring', {}, ravi)
    await act('addNote', { text: 'asks for a price' }, ravi)
    await act('ring')
    await act('addCall')
    expect((await act('show')).data.ringing.who).toBe(RAVI)
    await act('addCall', {}, ravi)
    expect((await act('show')).data.ringing).toBeUndefined() // it has an outcome
  })
})

describe('a reminder', () => {
  it('takes an enquiry out of New until its day, and stands in To ring, the first day first', async () => {
    const { act, cookie, reference, other } = await aDesk()
    await act('remind', { on: dayIn(1) })
    await act('remind', { reference: other, on: dayIn(0) })
    const listed = async (state: string) =>
      (await callDesk(app.url, cookie, 'list', { state })).data.enquiries.map(
        (row: { reference: string }) => row.reference,
      )
    expect([await listed('new'), await listed('toRing')]).toEqual([[other], [other, reference]])
    const { data } = await callDesk(app.url, cookie, 'pulse', { showing: [] })
    expect(data.counts).toMatchObject({ new: 1, toRing: 2 })
    await act('remind', { on: null })
    expect([await listed('new'), await listed('toRing')]).toEqual([[other, reference], [other]])
    expect((await act('remind', { on: dayIn(-1) })).status).toBe(400)
  })
})

describe('correct', () => {
  const now = { ...exampleOrder, email: 'asha@right.example', mobile: '9876543211', quantity: 12 }

  it('may change each column that a visitor fills in, and retention empties what was before', async () => {
    const [row] = await app.db.$queryRaw<[{ names: string[] }]>`SELECT "Quvera_fields"() AS "names"` // both go by it
    expect(row.names.toSorted()).toEqual(Object.values(columnOf).toSorted())
  })

  it('changes fields with their history, and the same form sent again is still the same order', async () => {
    const order = anOrder()
    const { act, changed, history } = await aDesk({ submissionKey: order.submissionKey })
    expect((await act('correct', { was: exampleOrder, now })).data).toMatchObject([now])
    expect((await changed()).row).toEqual({
      ...{ email: now.email, mobile: now.mobile, quantity: 12n },
      secret: expect.any(String),
    })
    expect(await history()).toEqual([
      'corrected Mobile: 9876543211 (was 9876543210), Email: asha@right.example (was asha.verma@shop.example), Quantity: 12 (was 24)',
    ])
    expect((await submit(app.url, order)).status).toBe(200)
  })

  it('goes by the rules and words of the form, and by what its user saw', async () => {
    const { act, changed } = await aDesk()
    const tried = async (change: object) =>
      (await act('correct', { was: exampleOrder, now: { ...now, ...change } })).message
    expect(await tried({ mobile: '98765' })).toBe(messages.tenDigits)
    expect(await tried({ email: 'asha@' })).toBe(messages.email)
    expect(await tried({ email: '' })).toBe(messages.empty)
    expect(await tried({ quantity: 1.5 })).toBe(messages.wholeQuantity)
    expect((await act('correct', { was: { ...exampleOrder, quantity: 1 }, now })).status).toBe(409)
    expect((await changed()).row).toEqual({})
  })

  it('lets the acknowledgement go to the right address, once', async () => {
    const { act } = await aDesk()
    await app.db.mail.updateMany({ where: { kind: 'Acknowledgement' }, data: columnsOf('Bounced') })
    const ofIt = async () =>
      (await act('show')).data.mails.filter(({ kind }: { kind: string }) => kind === 'Acknowledgement')
    const whyNot = 'Sent again to the same address it would not arrive either. Correct the address, or ring.'
    expect(await ofIt()).toMatchObject([{ status: 'Bounced', maySendAgain: false, whyNot }])
    await act('correct', { was: exampleOrder, now })
    const [{ id }] = await ofIt()
    expect((await act('sendAgain', { mail: id })).status).toBe(200)
    const means = 'the acknowledgement to asha@right.example is still to be sent'
    expect(await ofIt()).toMatchObject([
      { status: 'Bounced', maySendAgain: false },
      { status: 'Pending', means },
    ])
    expect((await act('sendAgain', { mail: id })).status).toBe(409)
    const [, second] = await app.db.mail.findMany({
      where: { kind: 'Acknowledgement', enquiry: { email: now.email } },
      orderBy: { id: 'asc' },
    })
    expect(second).toMatchObject({ mailbox: 'asha@right.example' })
    await app.db.mail.updateMany({ where: { id: second?.id ?? 0n }, data: columnsOf('Delivered') })
    const [seen] = await app.db.$queryRaw<object[]>`SELECT "AcknowledgementMail" FROM "Quvera_Enquiries"
      WHERE "Email" = ${now.email}`
    expect(seen).toEqual({ AcknowledgementMail: 'Delivered' })
  })

  it('that retention has emptied cannot be taken back', async () => {
    const { act, reference } = await aDesk()
    const [first, second] = [aKey(), aKey()]
    await act('correct', { key: first, was: exampleOrder, now: { ...exampleOrder, mobile: '9811122233' } })
    const was = { ...exampleOrder, mobile: '9811122233' }
    await act('correct', { key: second, was, now: { ...exampleOrder, mobile: '9811122244' } })
    for (const key of [first, second])
      await app.db.historyEntry.updateMany({
        where: { key },
        data: { before: {}, after: key === first ? {} : { Mobile: '9811122244' } },
      })
    for (const of of [first, second]) expect((await act('takeBack', { of })).status).toBe(400)
    const { data } = await act('show', { reference })
    expect(data.last).toBeUndefined()
  })
})

describe('correct, of the address,', () => {
  const right = { ...exampleOrder, email: 'asha@right.example' }
  const acknowledgements = () =>
    app.db.mail.findMany({
      where: { kind: 'Acknowledgement', enquiry: { email: right.email } },
      orderBy: { id: 'asc' },
    })
  const waiting = () => app.db.mail.count({ where: { kind: 'Acknowledgement', status: 'Pending' } })

  it('while the acknowledgement waits, lets it go to the right one, and offers no second one', async () => {
    const { act } = await aDesk()
    await act('correct', { was: exampleOrder, now: right })
    const senders = app.startSenders()
    await eventually(async () => expect(await waiting()).toBe(0))
    await senders.stop(1000)
    const mails = await acknowledgements()
    expect(mails).toMatchObject([{ withheldBecause: 'NotTheirs' }, { status: 'Sent', mailbox: right.email }])
    for (const { id } of mails) expect((await act('sendAgain', { mail: String(id) })).status).toBe(409)
  })

  it('while it is marked as spam, lets the acknowledgement go to the right one once the mark is taken off', async () => {
    const { act } = await aDesk()
    await act('setSpam', { spam: true, was: false })
    await act('correct', { was: exampleOrder, now: right })
    await act('setSpam', { spam: false, was: true })
    const mails = await acknowledgements()
    expect(mails).toMatchObject([{ withheldBecause: 'NotTheirs' }, { status: 'Pending', mailbox: right.email }])
    expect(mails[1]?.dueAt?.getTime()).toBeGreaterThan(Date.now() + 20_000) // time to take it back
  })

  it('taken back, lets the acknowledgement go to the former one', async () => {
    const { act, reference } = await aDesk()
    const of = aKey()
    await act('correct', { key: of, was: exampleOrder, now: right })
    await act('takeBack', { of })
    const where = { kind: 'Acknowledgement', status: 'Pending', enquiry: { reference } } as const
    const [{ mailbox }] = await app.db.$queryRaw<[{ mailbox: string }]>`
      SELECT "Quvera_mailbox"(${exampleOrder.email}) AS "mailbox"`
    expect(await app.db.mail.findMany({ where })).toMatchObject([{ mailbox }])
  })

  it('after a try that may have sent the acknowledgement, sends it to the right one under a new key', async () => {
    const { act } = await aDesk()
    app.resend.behaviour = { answersAfterMs: 60_000 }
    const senders = app.startSenders({ MAIL_LEASE_SECONDS: 1 })
    const to = (email: string) => app.resend.mails.filter(({ to }) => to.includes(email)).length
    await eventually(() => expect(to(exampleOrder.email)).toBe(2))
    await senders.stop(0)
    await act('correct', { was: exampleOrder, now: right })
    app.resend.behaviour = 'accept'
    await app.db.mail.updateMany({ where: { status: 'Pending' }, data: { dueAt: new Date() } })
    const others = app.startSenders()
    await eventually(async () => expect(await waiting()).toBe(0))
    await others.stop(1000)
    expect([to(exampleOrder.email), to(right.email)]).toEqual([2, 1])
    expect(await acknowledgements()).toMatchObject([{ withheldBecause: 'NotTheirs' }, { status: 'Sent' }])
  })
})

describe('erase', () => {
  it('asks for it a day later, takes the enquiry out of New, ends the subscription, and can be taken back', async () => {
    const { act, changed, cookie, other } = await aDesk()
    await app.db.subscriber.create({
      data: { email: exampleOrder.email, consentVersion: '1', confirmedAt: new Date() },
    })
    const [row] = (await act('erase', { subscription: true })).data
    expect(Date.parse(row.eraseAt) - Date.now()).toBeGreaterThan(86_300_000)
    const listed = async () => (await callDesk(app.url, cookie, 'list', { state: 'new' })).data.enquiries
    expect(await listed()).toMatchObject([{ reference: other }])
    expect(await app.db.subscriber.findFirst()).toMatchObject({ confirmedAt: null, endsAt: expect.any(Date) })
    expect((await act('erase')).data[0].eraseAt).toBe(row.eraseAt) // asked twice: the first time counts
    const asked = () => app.db.mail.count({ where: { kind: 'ErasureAsked', status: 'Pending' } })
    expect(await asked()).toBe(1)
    const kept = aKey()
    expect((await act('keep', { key: kept })).data[0].eraseAt).toBeUndefined()
    expect(await asked()).toBe(0) // it would be untrue
    expect((await act('takeBack', { of: kept })).data[0].eraseAt).toBeDefined()
    expect(await asked()).toBe(1) // nobody is erased without having been told
    expect((await act('keep')).data[0].eraseAt).toBeUndefined()
    expect(await listed()).toHaveLength(2)
    expect((await changed()).row).toEqual({})
  })

  it('shows what we hold of a person, of whom the number or the address is the same', async () => {
    const { act, cookie, reference } = await aDesk()
    const { reference: same } = await submit(
      app.url,
      anOrder({ email: 'ASHA.verma@shop.example', mobile: '9822222222' }),
    )
    await act('addNote', { text: 'rings back' })
    const { data } = await callDesk(app.url, cookie, 'person', { reference })
    expect(data.enquiries.map((row: { Reference: string }) => row.Reference)).toEqual(
      expect.arrayContaining([reference, same]),
    )
    const { History } = data.enquiries.find((row: { Reference: string }) => row.Reference === reference)
    expect(History).toMatchObject([{ Text: 'rings back' }])
    expect(JSON.stringify(History)).not.toContain(STAFF) // who of staff is not theirs
    expect(await app.db.access.findFirst({ where: { command: 'desk person' } })).toMatchObject({ who: STAFF })
  })
})

it('an enquiry by phone keeps no form that is posted later with the same content', async () => {
  const cookie = await enterDesk(app)
  await callDesk(app.url, cookie, 'add', { ...exampleOrder, key: aKey() })
  expect((await postForm(app.url, exampleOrder)).status).toBe(303)
  expect(await app.db.enquiry.count()).toBe(2)
})

it('what an intruder adds to the history, one that takes itself back, breaks no list', async () => {
  const { cookie, reference, act } = await aDesk()
  const { id: enquiryId = '' } = (await app.db.enquiry.findUnique({ where: { reference } })) ?? {}
  const key = aKey()
  await app.db.historyEntry.create({ data: { enquiryId, key, takesBack: key, what: 'Taken back' } })
  expect((await callDesk(app.url, cookie, 'list', { state: 'new' })).status).toBe(200)
  expect((await act('show')).status).toBe(200)
})

it('an enquiry by phone is Contacted, may have no address, and sends no mails', async () => {
  const { cookie } = await aDesk()
  const { data } = await callDesk(app.url, cookie, 'add', { ...exampleOrder, key: aKey(), email: '', name: 'By phone' })
  expect(data).toMatchObject([{ name: 'By phone', email: '', status: 'Contacted', statusBy: STAFF }])
  expect(await app.db.mail.count({ where: { enquiry: { name: 'By phone' } } })).toBe(0)
  const without = await callDesk(app.url, cookie, 'add', { ...exampleOrder, key: aKey(), mobile: '' })
  expect([without.status, without.message]).toEqual([400, messages.empty])
})

describe('setSpam', () => {
  it('of an enquiry by phone, which had no mails, writes none when it is taken off', async () => {
    const { act, cookie } = await aDesk()
    const { data } = await callDesk(app.url, cookie, 'add', { ...exampleOrder, key: aKey(), email: '' })
    const references = [data[0].reference]
    await act('setSpam', { references, spam: true, was: false })
    expect((await act('setSpam', { references, spam: false, was: true })).status).toBe(200)
    expect(await app.db.mail.count({ where: { enquiry: { reference: data[0].reference } } })).toBe(0)
  })

  it('taken off, the visitor is told of an erasure that was asked for, before it or meanwhile', async () => {
    const { act, reference, other } = await aDesk()
    await act('erase')
    await act('setSpam', { references: [reference, other], spam: true, was: false })
    await act('erase', { references: [other] })
    const senders = app.startSenders()
    const asked = () => app.db.mail.findMany({ where: { kind: 'ErasureAsked' }, orderBy: { id: 'asc' } })
    await eventually(async () => expect(await asked()).toMatchObject(Array(2).fill({ withheldBecause: 'ByStaff' })))
    await act('keep', { references: [other] })
    await act('erase', { references: [other] }) // which writes another one
    await eventually(async () => expect((await asked())[2]).toMatchObject({ withheldBecause: 'ByStaff' }))
    await act('setSpam', { references: [reference, other], spam: false, was: true })
    await app.db.mail.updateMany({ where: { status: 'Pending' }, data: { dueAt: new Date() } }) // thirty seconds later
    await eventually(async () =>
      expect(await asked()).toMatchObject([{ status: 'Sent' }, { withheldBecause: 'Kept' }, { status: 'Sent' }]),
    )
    await senders.stop(1000)
  })

  it('withholds what is pending, and taken back sends just that', async () => {
    const { act, changed, reference } = await aDesk()
    const of = aKey()
    expect((await act('setSpam', { key: of, spam: true, was: false })).status).toBe(200)
    const { row, mails, access } = await changed()
    expect(row).toEqual({ suspectedSpam: true })
    expect(mails).toMatchObject(Array(3).fill({ status: 'Withheld', withheldBecause: 'ByStaff' }))
    expect(access).toEqual([{ who: STAFF, command: 'desk spam', what: reference }])
    const onItsWay = { to: RAVI, enquiry: { reference } }
    await app.db.mail.updateMany({ where: onItsWay, data: columnsOf('Sent') })
    expect((await act('takeBack', { of })).status).toBe(200)
    const again = Object(mails).map(({ tag }: { tag: string }) => ({ status: 'Pending', tag }))
    again[1].status = 'Sent'
    expect((await changed()).mails).toMatchObject(again)
  })

  it('"Not spam" writes notices, acknowledgement and post once, due thirty seconds later, and taken back in time sends nothing', async () => {
    const receiver = await startFakeReceiver()
    atEnd(receiver.close)
    const notify = { NOTIFY_URL: receiver.url, NOTIFY_FORMAT: 'text' as const }
    const sending = await anApp({ staff: [STAFF, RAVI], notify })
    const { reference = '' } = await submit(sending.url, anOrder({ website: 'filled in by a browser' }))
    expect(await sending.db.mail.count()).toBe(0)
    const [cookie, ravi] = [await enterDesk(sending), await enterDesk(sending, { email: RAVI })]
    const of = aKey()
    const release = (as: string, key = aKey()) =>
      callDesk(sending.url, as, 'setSpam', { key, references: [reference], spam: false, was: true })
    expect((await release(cookie, of)).status).toBe(200)
    expect((await release(ravi)).status).toBe(409)
    const inSeconds = async () =>
      (await sending.db.mail.findMany({ where: { enquiry: { reference } } })).map(({ dueAt }) =>
        Math.round(((dueAt?.getTime() ?? 0) - Date.now()) / 1000),
      )
    expect((await inSeconds()).every((seconds) => seconds > 20 && seconds <= 30)).toBe(true)
    expect((await callDesk(sending.url, cookie, 'takeBack', { key: aKey(), of })).data).toMatchObject([
      { suspectedSpam: true },
    ])
    await sending.db.mail.updateMany({ where: { status: 'Pending' }, data: { dueAt: new Date() } })
    const second = aKey()
    await release(ravi, second)
    await sending.db.mail.updateMany({ where: { status: 'Pending' }, data: { dueAt: new Date() } }) // thirty seconds later
    await eventually(() => expect(sending.resend.mails.filter(({ text }) => text.includes(reference))).toHaveLength(3))
    expect(await sending.db.mail.count({ where: { enquiry: { reference } } })).toBe(4)
    const late = await callDesk(sending.url, ravi, 'takeBack', { key: aKey(), of: second })
    expect([late.status, late.message]).toEqual([409, 'It has gone out: mark it as spam again.'])
  })

  it('"Not spam" is not taken back once an acknowledgement that was tried before the mark has gone out', async () => {
    const { act, reference } = await aDesk()
    const acknowledgement = { kind: 'Acknowledgement', enquiry: { reference } } as const
    await app.db.mail.updateMany({ where: acknowledgement, data: { attempts: 1, firstTriedAt: hoursAgo(1) } })
    const of = aKey()
    await act('setSpam', { spam: true, was: false })
    await act('setSpam', { key: of, spam: false, was: true })
    await app.db.mail.updateMany({ where: acknowledgement, data: { ...columnsOf('Sent'), sentAt: new Date() } })
    expect((await act('takeBack', { of })).status).toBe(409)
  })

  it('"Not spam" after two days sends no acknowledgement', async () => {
    const reference = await storeEnquiry(app.db, { suspectedSpam: true, receivedAt: hoursAgo(49) })
    await app.db.mail.deleteMany()
    const { act } = await aDesk()
    const { data } = await act('setSpam', { references: [reference], spam: false, was: true })
    expect(data[0].releases).toEqual(['Notice'])
    const mails = await app.db.mail.findMany({ where: { enquiry: { reference } } })
    expect(mails.map(({ kind }) => kind)).toEqual(['Notice', 'Notice'])
  })
})

it('sendAgain offers no acknowledgement of what is marked as spam, which would be withheld again', async () => {
  const reference = await storeEnquiry(app.db, { suspectedSpam: true }, { Acknowledgement: 'Failed' })
  const { act } = await aDesk()
  const { data } = await act('show', { reference })
  const [, acknowledgement] = data.mails
  const whyNot = 'It can be sent once the enquiry is marked as not spam.'
  expect(acknowledgement).toMatchObject({ kind: 'Acknowledgement', maySendAgain: false, whyNot })
  expect((await act('sendAgain', { reference, mail: acknowledgement.id })).status).toBe(409)
})

it.each<[state: string, hours: number, maySendAgain: boolean, whyNot?: string]>([
  ['Failed', 0, true],
  ['Unknown', 0, true],
  ['TooOld', 0, true],
  ['ThreeADay', 25, true],
  ['ThreeADay', 1, false, 'It can be sent again a day later.'],
  ['NotTheirs', 0, false, 'It can be sent once the address is corrected.'],
  ['Complained', 0, false, 'Nothing more is sent to whoever marked it as spam.'],
  ['Delivered', 0, false],
  ['Pending', 0, false],
])(
  'an acknowledgement that is %s, %i hours old, may be sent again: %s %s',
  async (state, hours, maySendAgain, whyNot) => {
    const { act, reference } = await aDesk()
    const isWithheld = ['TooOld', 'ThreeADay', 'NotTheirs'].includes(state)
    const data = isWithheld
      ? { ...columnsOf('Withheld'), withheldBecause: state as 'TooOld' }
      : { ...columnsOf(state as 'Failed'), firstTriedAt: new Date() }
    const where = { kind: 'Acknowledgement', enquiry: { reference } } as const
    await app.db.mail.updateMany({ where, data: { ...data, queuedAt: hoursAgo(hours) } })
    const mail = (await act('show')).data.mails.find(({ kind }: { kind: string }) => kind === 'Acknowledgement')
    expect([mail.maySendAgain, mail.whyNot]).toEqual([maySendAgain, whyNot])
    expect((await act('sendAgain', { mail: mail.id })).status).toBe(maySendAgain ? 200 : 409)
  },
)

it('sendAgain sends what was refused once more, and not what is on its way or of another enquiry', async () => {
  const { act, reference, other } = await aDesk()
  const ofIt = { where: { enquiry: { reference } }, orderBy: { id: 'asc' } } as const
  const [notice, , acknowledgement] = await app.db.mail.findMany(ofIt)
  const id = acknowledgement?.id ?? 0n
  await app.db.mail.update({ where: { id }, data: { status: 'Failed', dueAt: null, firstTriedAt: new Date() } })
  const again = async (mail: unknown, of = reference) =>
    (await act('sendAgain', { reference: of, mail: String(mail) })).status
  const { data } = await act('show')
  expect(data.mails.map(({ maySendAgain }: { maySendAgain: boolean }) => maySendAgain)).toEqual([false, false, true])
  expect(await again(id, other)).toBe(404)
  expect(await again(id)).toBe(200)
  const row = await app.db.mail.findUnique({ where: { id } })
  expect(row).toMatchObject({ status: 'Pending', firstTriedAt: null, attempts: 0 })
  expect(row?.tag).not.toBe(acknowledgement?.tag)
  expect([await again(id), await again(notice?.id), await again(999_999)]).toEqual([409, 409, 404])
  const lines = await app.db.access.findMany({ where: { command: 'desk sent again' } })
  expect(lines).toMatchObject([{ who: STAFF, what: reference }])
})
