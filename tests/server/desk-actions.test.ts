// Each action has five exits: the answer, the row, the mails, history and access log, and nothing else changed.

import { describe, expect, it } from 'vitest'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { callDesk, enterDesk } from '../support/desk.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeReceiver } from '../support/fake-receiver.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anApp, theApp } from '../support/fixtures.ts'
import { columnsOf, storeEnquiry } from '../support/stored-enquiry.ts'

const RAVI = 'ravi@quvera.test'
/** Its mails wait. */
const app = await theApp({ mails: false, staff: [STAFF, RAVI] })

const text = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
const today = () => formatIndianTime(new Date()).slice(0, 11)

/** Two enquiries: one to change, and one that no action may touch. */
async function aDesk() {
  const { reference = '' } = await submit(app.url, anOrder())
  const { reference: other = '' } = await submit(app.url, anOrder({ mobile: '9811111111' }))
  const [cookie, ravi] = [await enterDesk(app), await enterDesk(app, { email: RAVI })]
  const read = (reference: string) =>
    app.db.enquiry.findUnique({ where: { reference }, include: { mails: { orderBy: { id: 'asc' } } } })
  const [before, otherBefore] = [await read(reference), await read(other)]
  const isSame = (one: unknown, another: unknown) => JSON.stringify(one, text) === JSON.stringify(another, text)
  return {
    reference,
    ravi,
    act: (name: string, input: object, as = cookie) => callDesk(app.url, as, name, { reference, ...input }),
    /** What the action has changed, and that it has changed nothing else. */
    async changed() {
      expect(await read(other)).toEqual(otherBefore)
      const { mails, ...row } = { ...(await read(reference)) }
      const differences = Object.entries(row).filter(([name, value]) => !isSame(value, Object(before)[name]))
      const history = await app.db.historyEntry.findMany({ orderBy: { id: 'asc' } })
      const access = await app.db.access.findMany({ where: { command: { not: 'desk enter' } }, orderBy: { at: 'asc' } })
      return {
        row: Object.fromEntries(differences),
        mails: isSame(mails, before?.mails) ? 'unchanged' : mails,
        history: history.map(({ who, column, before, after }) => ({ who, column, before, after })),
        access: access.map(({ who, command, what }) => ({ who, command, what })),
      }
    },
  }
}

describe('setStatus', () => {
  it('sets the status, for which the history has the address', async () => {
    const { act, changed, reference } = await aDesk()
    expect(await act('setStatus', { status: 'Contacted', was: 'New' })).toMatchObject({ status: 200 })
    expect(await changed()).toEqual({
      row: { status: 'Contacted' },
      mails: 'unchanged',
      history: [{ who: STAFF, column: 'Status', before: 'New', after: 'Contacted' }],
      access: [{ who: STAFF, command: 'desk status', what: reference }],
    })
  })

  it('overwrites nothing when a colleague was faster, and names them', async () => {
    const { act, ravi, changed } = await aDesk()
    await act('setStatus', { status: 'Closed', was: 'New' }, ravi)
    const { status, message } = await act('setStatus', { status: 'Contacted', was: 'New' })
    expect([status, message]).toEqual([409, expect.stringMatching(/A colleague was faster, and nothing was changed\./)])
    expect(message).toMatch(/ ravi@quvera\.test, [^:]+:\d\d IST: set to Closed \(was New\)\. Now it is Closed\.$/)
    expect((await changed()).row).toEqual({ status: 'Closed' })
  })

  it('is done by one of two at the same moment', async () => {
    const { act, ravi, changed } = await aDesk()
    const set = async (status: string, as?: string) => (await act('setStatus', { status, was: 'New' }, as)).status
    expect((await Promise.all([set('Contacted'), set('Closed', ravi)])).sort()).toEqual([200, 409])
    expect((await changed()).history).toHaveLength(1)
  })
})

describe('notes', () => {
  it('are added as dated lines', async () => {
    const { act, changed } = await aDesk()
    expect(await act('addNote', { text: ' rings back\u202e on Monday ' })).toMatchObject({ status: 200 })
    await act('addNote', { text: '<b>x</b>' })
    const note = `${today()}: rings back on Monday\n${today()}: <b>x</b>`
    const { row, mails, history, access } = await changed()
    expect([row, mails]).toEqual([{ note }, 'unchanged'])
    expect(history).toMatchObject([{ before: null }, { before: note.split('\n')[0], after: note }])
    expect(access.map(({ command }) => command)).toEqual(['desk note', 'desk note'])
  })

  it('of two at the same moment are both kept', async () => {
    const { act, ravi, changed } = await aDesk()
    await Promise.all([act('addNote', { text: 'one' }), act('addNote', { text: 'two' }, ravi)])
    expect(String((await changed()).row.note).split('\n')).toHaveLength(2)
  })

  it('have at most 2,000 characters together', async () => {
    const { act, reference } = await aDesk()
    await app.db.enquiry.update({ where: { reference }, data: { note: 'x'.repeat(1990) } })
    expect(await act('addNote', { text: 'more' })).toMatchObject({
      status: 400,
      message: 'All notes of an enquiry have at most 2000 characters: remove the note first.',
    })
    expect(await app.db.access.count({ where: { command: { not: 'desk enter' } } })).toBe(0)
    expect((await act('addCall', {})).status).toBe(200) // which is counted all the same
    expect(await app.db.enquiry.findUnique({ where: { reference } })).toMatchObject({
      calls: 1,
      note: 'x'.repeat(1990),
    })
  })

  it('are removed with their texts in the history, unless a colleague has added one', async () => {
    const { act, ravi, changed } = await aDesk()
    await act('addNote', { text: 'one' })
    await act('addNote', { text: 'two' }, ravi)
    const late = await act('removeNote', { was: `${today()}: one` })
    expect(late).toMatchObject({ status: 409, message: expect.stringContaining(RAVI) })
    const was = `${today()}: one\n${today()}: two`
    expect((await act('removeNote', { was })).status).toBe(200)
    const { row, history } = await changed()
    expect(row).toEqual({})
    expect(history.map(({ before, after }) => [before, after])).toEqual(Array(3).fill([null, null]))
    const { data } = await act('show', {})
    expect(data.history.map(({ what }: { what: string }) => what)).toEqual([
      'removed all notes',
      'a note that was removed',
      'a note that was removed',
    ])
  })
})

describe('addCall', () => {
  it('counts, and leaves the status and a dated line', async () => {
    const { act, changed, reference } = await aDesk()
    await act('addCall', {})
    expect((await act('addCall', {})).status).toBe(200)
    const line = `${today()}: rang, no answer`
    expect(await changed()).toMatchObject({
      row: { calls: 2, note: `${line}\n${line}` },
      mails: 'unchanged',
      history: [
        { column: 'Note' },
        { column: 'Calls', before: '0', after: '1', who: STAFF },
        { column: 'Note' },
        { column: 'Calls', before: '1', after: '2', who: STAFF },
      ],
      access: Array(2).fill({ who: STAFF, command: 'desk call', what: reference }),
    })
    const { data } = await act('show', {})
    expect(data.history.map(({ what }: { what: string }) => what)).toEqual(['rang, no answer', 'rang, no answer'])
    expect(data.flags).toEqual(['rang twice'])
  })
})

describe('setSpam', () => {
  it('withholds what is pending, and taken back sends just that', async () => {
    const { act, changed, reference } = await aDesk()
    expect((await act('setSpam', { spam: true, was: false })).status).toBe(200)
    const { row, mails, history, access } = await changed()
    expect(row).toMatchObject({ suspectedSpam: true })
    expect(mails).toMatchObject(Array(3).fill({ status: 'Withheld', withheldBecause: 'ByStaff' }))
    expect(history).toEqual([{ who: STAFF, column: 'SuspectedSpam', before: 'false', after: 'true' }])
    expect(access).toEqual([{ who: STAFF, command: 'desk spam', what: reference }])
    const onItsWay = { to: RAVI, enquiry: { reference } }
    await app.db.mail.updateMany({ where: onItsWay, data: columnsOf('Sent') })
    expect((await act('setSpam', { spam: false, was: true })).status).toBe(200)
    const again = Object(mails).map(({ tag }: { tag: string }) => ({ status: 'Pending', tag }))
    again[1].status = 'Sent'
    expect((await changed()).mails).toMatchObject(again)
  })

  it('of suspected spam writes notices, acknowledgement and post once, which are sent', async () => {
    const receiver = await startFakeReceiver()
    atEnd(receiver.close)
    const notify = { NOTIFY_URL: receiver.url, NOTIFY_FORMAT: 'text' as const }
    const sending = await anApp({ staff: [STAFF, RAVI], notify })
    const { reference = '' } = await submit(sending.url, anOrder({ website: 'filled in by a browser' }))
    expect(await sending.db.mail.count()).toBe(0)
    const [cookie, ravi] = [await enterDesk(sending), await enterDesk(sending, { email: RAVI })]
    const release = (as: string) => callDesk(sending.url, as, 'setSpam', { reference, spam: false, was: true })
    const answers = await Promise.all([release(cookie), release(ravi), release(cookie)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    await eventually(() => expect(sending.resend.mails.filter(({ text }) => text.includes(reference))).toHaveLength(3))
    expect(await sending.db.mail.count({ where: { enquiry: { reference } } })).toBe(4)
    expect(await sending.db.historyEntry.count()).toBe(1)
  })
})

it('sendAgain offers no acknowledgement of what is marked as spam, which would be withheld again', async () => {
  const reference = await storeEnquiry(app.db, { suspectedSpam: true }, { Acknowledgement: 'Failed' })
  const cookie = await enterDesk(app)
  const { data } = await callDesk(app.url, cookie, 'show', { reference })
  const [, acknowledgement] = data.mails
  expect(acknowledgement).toMatchObject({ kind: 'Acknowledgement', maySendAgain: false })
  expect((await callDesk(app.url, cookie, 'sendAgain', { mail: acknowledgement.id })).status).toBe(409)
})

it('sendAgain sends what was refused once more, and not what is on its way', async () => {
  const { act, reference } = await aDesk()
  const cookie = await enterDesk(app)
  const ofIt = { where: { enquiry: { reference } }, orderBy: { id: 'asc' } } as const
  const [notice, , acknowledgement] = await app.db.mail.findMany(ofIt)
  const id = acknowledgement?.id ?? 0n
  await app.db.mail.update({ where: { id }, data: { status: 'Failed', dueAt: null, firstTriedAt: new Date() } })
  const again = async (mail: unknown) => (await callDesk(app.url, cookie, 'sendAgain', { mail: String(mail) })).status
  const { data } = await act('show', {})
  expect(data.mails.map(({ maySendAgain }: { maySendAgain: boolean }) => maySendAgain)).toEqual([false, false, true])
  expect(await again(id)).toBe(200)
  const row = await app.db.mail.findUnique({ where: { id } })
  expect(row).toMatchObject({ status: 'Pending', firstTriedAt: null, attempts: 0 })
  expect(row?.tag).not.toBe(acknowledgement?.tag)
  expect([await again(id), await again(notice?.id), await again(999_999)]).toEqual([409, 409, 404])
  expect(await app.db.access.findMany({ where: { command: 'desk send again' } })).toMatchObject([
    { who: STAFF, what: reference },
  ])
})
