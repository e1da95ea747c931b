// Whoever holds the link of an enquiry sees how it stands and may correct or end it; nobody else learns that it is there.
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { standingTexts } from '../../../client/content/your-enquiry.ts'
import { type Db, TRANSACTION } from '../../../server/database/database.ts'
import { formatIndianDate } from '../../../shared/indian-time.ts'
import { exampleOrder, pickOrderFields } from '../../../shared/order.ts'
import { postForm } from '../../support/an-order.ts'
import { callDesk, enterDesk, postStaff } from '../../support/desk.ts'
import { eventually } from '../../support/eventually.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, theApp } from '../../support/fixtures.ts'
import { hoursAgo } from '../../support/stored-enquiry.ts'
import { look, press, sendOrder, submitFor } from '../../support/your-enquiry.ts'

/** Its mails wait. */
const app = await theApp({ mails: false, staff: [STAFF, 'ravi@quvera.test'] })

const { url, db } = app
const rowOf = (reference: string, of: Db = db) => of.enquiry.findUniqueOrThrow({ where: { reference } })
const historyOf = (reference: string) =>
  db.historyEntry.findMany({ where: { enquiry: { reference } }, orderBy: { id: 'asc' } })
const mailsOf = async (kind: 'Change' | 'ErasureAsked' | 'Acknowledgement') =>
  db.mail.findMany({ where: { kind }, orderBy: { id: 'asc' } })

async function mailTokenOf(reference: string): Promise<string> {
  const { id, secret } = await rowOf(reference)
  return `${id}.${hash('sha256', `mail${secret}`, 'hex')}`
}
const age = (reference: string, hours: number) =>
  db.enquiry.update({ where: { reference }, data: { receivedAt: hoursAgo(hours) } })
/** As if all that was done had been done earlier. */
const ageHistory = (minutes: number) =>
  db.$executeRaw`UPDATE "Quvera_History" SET "At" = "At" - make_interval(mins => ${minutes}::int)`
const atDesk = async (name: string, input: object) => {
  const cookie = await enterDesk(app)
  const answer = await callDesk(url, cookie, name, { key: crypto.randomUUID(), ...input })
  expect([answer.status, answer.message]).toEqual([200, undefined])
  return answer.data
}
const mark = (reference: string, status: string, was = 'New') =>
  atDesk('setStatus', { references: [reference], status, was })

describe('the link', () => {
  it('is answered to the request that stored the order and to its repeats, and to nobody else', async () => {
    const { order, again, link, reference } = await sendOrder(url)
    const { id, secret } = await rowOf(reference)
    expect(secret).toMatch(/^[\da-f]{64}$/)
    expect(link).toBe(`/your-enquiry?token=${id}.${secret}`)
    expect(await again()).toMatchObject({ status: 200, reference, page: link })
    await age(reference, 1)
    expect(await again()).toMatchObject({ reference, page: link, receivedAt: expect.any(String) })
    await age(reference, 0)

    const other = await sendOrder(url, { name: order.name }) // the same content under a key of its own is another order
    expect(other.reference).not.toBe(reference)
    expect(other.link).not.toContain(id)
    const changed = await submitFor(url, { ...order, quantity: 25 })
    expect([changed.status, changed.page]).toEqual([409, undefined])
    const { submissionKey, ...content } = order
    for (const fields of [content, { ...content, submissionKey }]) {
      const posted = await postForm(url, fields)
      expect([posted.status, posted.headers.get('location')]).toEqual([303, `/received?reference=${reference}`])
      expect(await posted.text()).not.toContain(secret)
    }
    const received = await (await fetch(`${url}/received?reference=${reference}`)).text()
    expect(received).toContain(reference)
    expect(received).not.toMatch(/your-enquiry|token/)
    expect(received).toContain('"mailLeads":true')
    const mistyped = await sendOrder(url, { email: 'asha@gmial.com', mobile: '9811111111' })
    expect(await (await fetch(`${url}/received?reference=${mistyped.reference}`)).text()).toContain('"mailLeads":false')
  })

  it('shows no name, and of number and address a part, in an answer that nobody keeps', async () => {
    const { token, order, reference } = await sendOrder(url)
    for (const each of [token, await mailTokenOf(reference)]) {
      const { status, shown, headers } = await look(url, each)
      expect(status).toBe(200)
      expect(shown).toMatchObject({ reference, quantity: '24', mobile: '3210', email: 'a…a@shop.example', token: each })
      expect(JSON.stringify(shown)).not.toMatch(new RegExp(`${order.name}|${order.email}|${order.mobile}`))
      expect(Object.fromEntries(headers)).toMatchObject({
        ...{ 'cache-control': 'no-store', 'x-robots-tag': 'noindex', 'referrer-policy': 'same-origin' },
      })
    }
    expect(app.logLines.join()).not.toMatch(/token|[\da-f]{64}/)
  })

  it('is in nothing that staff see', async () => {
    const { token, reference, order } = await sendOrder(url)
    const seen = [
      await atDesk('list', { state: 'all', key: undefined }),
      await atDesk('show', { reference, key: undefined }),
      await atDesk('person', { reference, key: undefined }),
      await (await postStaff(url, 'enquiries.csv', { state: 'all' }, { cookie: await enterDesk(app) })).text(),
      await db.$queryRaw`SELECT to_jsonb(line)::text FROM "Quvera_Enquiries" line`,
    ]
    const { secret, submissionKey } = await rowOf(reference)
    expect(submissionKey).toBe(order.submissionKey)
    for (const each of seen.map((one) => JSON.stringify(one))) {
      expect(each).toContain(reference)
      for (const hidden of [secret, submissionKey, (await mailTokenOf(reference)).split('.')[1], token])
        expect(each).not.toContain(hidden)
    }
  })

  it('that is made up, another’s or cut off finds nothing, and does nothing', async () => {
    const { token, reference } = await sendOrder(url)
    const other = await sendOrder(url, { mobile: '9811111111' })
    const [id, key = ''] = token.split('.')
    const [otherId, otherKey] = other.token.split('.')
    const before = await rowOf(reference)
    const wrong = [
      ...['', 'undefined', `${id}`, `${id}.${key.slice(1)}`, `${id}.${otherKey}`, `${otherId}.${key}`],
      ...[`${id}.${hash('sha256', `next${key}`, 'hex')}`, `${crypto.randomUUID()}.${key}`, `${token}0`],
      `${id}.${hash('sha256', `mail${otherKey}`, 'hex')}`,
    ]
    for (const each of wrong) {
      expect([each, (await look(url, each)).status, (await look(url, each)).shown]).toEqual([each, 404, 'gone'])
      for (const act of ['withdraw', 'notMine', 'erase', 'keep'])
        expect((await press(url, each, act, { reference })).status).toBe(404)
    }
    expect(await rowOf(reference)).toEqual(before)
    expect(await historyOf(reference)).toEqual([])
  })

  it('that mail scanners open changes nothing, also one that follows every address of the page', async () => {
    const { token, reference } = await sendOrder(url)
    const before = [await rowOf(reference), await db.mail.count()]
    for (const method of ['GET', 'HEAD'])
      for (const rest of [
        '',
        '&act=erase',
        `&act=erase&reference=${reference}`,
        '&act=withdraw',
        '&done=notMine',
        '&done=erase',
      ])
        await fetch(`${url}/your-enquiry?token=${token}${rest}`, { method })
    expect([await rowOf(reference), await db.mail.count()]).toEqual(before)
    expect(await historyOf(reference)).toEqual([])
  })

  it('takes the forms of our own pages only', async () => {
    const { token, reference } = await sendOrder(url)
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }])
      expect((await press(url, token, 'withdraw', {}, headers as Record<string, string>)).status).toBe(403)
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    expect((await fetch(`${url}/your-enquiry`, json)).status).toBe(415)
    expect((await press(url, token, 'nothing')).status).toBe(400)
    expect((await rowOf(reference)).status).toBe('New')
  })
})

describe('by the page the visitor', () => {
  it('proposes another number, which staff accept', async () => {
    const { token, reference } = await sendOrder(url)
    const bad = await press(url, token, 'mobile', { mobile: '98765' })
    expect(bad).toMatchObject({ status: 400, shown: { problem: { act: 'mobile', value: '98765' } } })
    expect(bad.shown.problem?.message).toBe('Please enter 10 digit Mobile number.')
    for (const typed of ['+91 99711-12345', '9971112345']) // pressed twice
      expect(await press(url, token, 'mobile', { mobile: typed })).toMatchObject({
        ...{ status: 303, location: `/your-enquiry?token=${token}&done=mobile` },
      })
    expect((await rowOf(reference)).mobile).toBe('9876543210')
    expect((await look(url, token)).shown).toMatchObject({ mobile: '3210', standing: { proposed: '2345' } })
    expect(await historyOf(reference)).toMatchObject([
      { what: 'Proposal', who: null, byVisitor: true, after: { Mobile: '9971112345' } },
      { what: 'Reminder', byVisitor: true },
    ])
    const [row] = (await atDesk('list', { state: 'toRing', key: undefined })).enquiries
    expect(row).toMatchObject({ reference, proposal: { mobile: '9971112345' }, flags: ['proposes another number'] })
    expect((await mailsOf('Change')).map(({ to }) => to)).toEqual([STAFF, 'ravi@quvera.test'])
    // What they proposed may have changed since it was seen.
    const stale = await callDesk(url, await enterDesk(app), 'accept', {
      ...{ reference, key: crypto.randomUUID(), of: crypto.randomUUID() },
    })
    expect(stale.status).toBe(409)
    const [accepted] = await atDesk('accept', { reference, of: row.proposal.key })
    expect(accepted).toMatchObject({ mobile: '9971112345', flags: [] })
    expect((await look(url, token)).shown.mobile).toBe('2345')
    const { history } = await atDesk('show', { reference, key: undefined })
    expect(history.map(({ who, what }: { who: string; what: string }) => [who, what])).toContainEqual([
      ...['the visitor', 'proposes the number 9971112345'],
    ])
  })

  it('changes the quantity while it is New, and not after', async () => {
    const { token, reference } = await sendOrder(url)
    expect((await press(url, token, 'quantity', { quantity: '1.5' })).status).toBe(400)
    expect((await press(url, token, 'quantity', { quantity: '48' })).status).toBe(303)
    expect((await rowOf(reference)).quantity).toBe(48n)
    await mark(reference, 'Contacted')
    const late = await press(url, token, 'quantity', { quantity: '49' })
    expect([late.status, late.shown.problem?.act, (await rowOf(reference)).quantity]).toEqual([400, 'quantity', 48n])
  })

  it('withdraws and takes that back, by either link, as often pressed as it may be', async () => {
    const { token, reference } = await sendOrder(url)
    await press(url, token, 'mobile', { mobile: '9971112345' })
    for (const _ of ['once', 'twice']) expect((await press(url, token, 'withdraw')).status).toBe(303)
    expect(await rowOf(reference)).toMatchObject({ status: 'Closed', closedAs: 'NoInterest', remindOn: null })
    expect((await look(url, token)).shown).toMatchObject({
      ...{ standing: { status: 'Withdrawn' }, may: ['resume', 'erase'] },
    })
    const [row] = (await atDesk('list', { state: 'closed', key: undefined })).enquiries
    expect(row.flags).toContain('withdrawn')
    const byMail = await mailTokenOf(reference)
    for (const _ of ['once', 'twice']) expect((await press(url, byMail, 'resume')).status).toBe(303)
    expect(await rowOf(reference)).toMatchObject({ status: 'New', closedAs: null, remindOn: expect.any(Date) })
    expect((await look(url, token)).shown.standing).toMatchObject({ status: 'New' })
  })

  it('cannot take it back once somebody has changed it past the desk, and is told so', async () => {
    const { token, reference } = await sendOrder(url)
    await press(url, token, 'withdraw')
    await db.enquiry.update({ where: { reference }, data: { status: 'Contacted', closedAs: null } })
    const refused = await press(url, token, 'resume')
    expect([refused.status, refused.shown.problem?.act]).toEqual([400, 'resume'])
    expect(await rowOf(reference)).toMatchObject({ status: 'Contacted', remindOn: null })
    expect((await historyOf(reference)).map(({ what }) => what)).toEqual(['Withdrawn'])
  })

  it('has it erased a day later, for which the reference is typed; and keeps it until then', async () => {
    const { token, reference } = await sendOrder(url)
    expect((await press(url, token, 'erase', { reference: 'QV-222222' })).status).toBe(400)
    for (const typed of [` ${reference.toLowerCase().replace('-', ' ')} `, reference])
      expect((await press(url, token, 'erase', { reference: typed })).status).toBe(303)
    const { eraseAt } = await rowOf(reference)
    expect(Math.abs(Number(eraseAt) - Date.now() - 86_400_000)).toBeLessThan(60_000)
    expect((await look(url, token)).shown).toMatchObject({
      standing: { eraseAt: expect.stringMatching(/^\d\d:\d\d on \d+ \w+$/) },
      may: ['keep'],
    })
    expect([(await mailsOf('Change')).length, (await mailsOf('ErasureAsked')).length]).toEqual([2, 1])
    expect((await mailsOf('ErasureAsked'))[0]).toMatchObject({ to: null, mailbox: 'ashaverma@shop.example' })
    for (const _ of ['once', 'twice']) expect((await press(url, await mailTokenOf(reference), 'keep')).status).toBe(303)
    expect((await rowOf(reference)).eraseAt).toBeNull()
    expect((await historyOf(reference)).map(({ what }) => what)).toEqual(['Erasure', 'Kept', 'Reminder'])
  })

  it('is not told by an older address of the page that it is kept, when it no longer is', async () => {
    const { token, reference } = await sendOrder(url)
    const doneAt = async (done: string) => (await look(url, `${token}&done=${done}`)).shown.done
    const firstDone = [await doneAt('keep'), await doneAt('resume'), await doneAt('withdraw')]
    expect(firstDone).toEqual(['keep', 'resume', undefined])
    await press(url, token, 'withdraw')
    expect([await doneAt('resume'), await doneAt('withdraw')]).toEqual([undefined, 'withdraw'])
    await press(url, token, 'resume')
    expect([await doneAt('resume'), await doneAt('withdraw')]).toEqual(['resume', undefined])
    await press(url, token, 'erase', { reference })
    expect([await doneAt('keep'), await doneAt('resume')]).toEqual([undefined, undefined])
  })

  it('takes a withdrawal back by `keep`, if that was the last', async () => {
    const { token, reference } = await sendOrder(url)
    await press(url, token, 'withdraw')
    for (const _ of ['once', 'twice']) expect((await press(url, token, 'keep')).status).toBe(303)
    expect(await rowOf(reference)).toMatchObject({ status: 'New', closedAs: null })
    expect((await look(url, token)).shown.standing.status).toBe('New')
  })

  it('keeps what was to be erased, and who had withdrawn it before stays out of it', async () => {
    const { token, reference } = await sendOrder(url)
    await press(url, token, 'withdraw')
    await press(url, token, 'erase', { reference })
    expect((await look(url, token)).shown.may).toEqual(['keep'])
    for (const _ of ['once', 'twice']) expect((await press(url, token, 'keep')).status).toBe(303)
    expect(await rowOf(reference)).toMatchObject({ status: 'Closed', eraseAt: null })
    expect((await look(url, token)).shown).toMatchObject({
      standing: { status: 'Withdrawn' },
      may: ['resume', 'erase'],
    })
  })

  it('gives another address once, within a day: what waited is withheld, and the mail’s old link ends', async () => {
    const { token, reference, order } = await sendOrder(url)
    const oldMail = await mailTokenOf(reference)
    expect((await press(url, oldMail, 'email', { email: 'asha@right.example' })).status).toBe(400)
    expect((await press(url, token, 'email', { email: 'asha@' })).status).toBe(400)
    const moved = await press(url, token, 'email', { email: 'Asha@right.example' })
    expect(moved.status).toBe(303)
    const row = await rowOf(reference)
    expect(row.email).toBe('Asha@right.example')
    expect(moved.location).toBe(`/your-enquiry?token=${row.id}.${row.secret}&done=email`)
    expect(row.secret).not.toBe(token.split('.')[1])
    expect(await mailsOf('Acknowledgement')).toMatchObject([
      { status: 'Withheld', withheldBecause: 'NotTheirs', mailbox: 'ashaverma@shop.example' },
      { status: 'Pending', mailbox: 'asha@right.example', attempts: 0 },
    ])
    expect((await look(url, oldMail)).status).toBe(404)
    // The page that is open still has the former link: its button may be pressed twice.
    expect((await press(url, token, 'email', { email: 'asha@right.example' })).location).toBe(moved.location)
    expect((await look(url, token)).shown).toMatchObject({ email: 'A…a@right.example' })
    expect((await press(url, token, 'email', { email: 'asha@third.example' })).status).toBe(400)
    expect(await mailsOf('Acknowledgement')).toHaveLength(2)
    expect(await submitFor(url, order)).toMatchObject({ reference, page: moved.location.replace('&done=email', '') }) // by its own key

    const old = await sendOrder(url, { mobile: '9811111111' })
    await age(old.reference, 25)
    expect((await look(url, old.token)).shown.may).not.toContain('email')
    expect((await press(url, old.token, 'email', { email: 'asha@right.example' })).status).toBe(400)
  })

  it('types the address that is there, and nothing is sent or told, however often', async () => {
    const { token, reference, order } = await sendOrder(url)
    for (const typed of [order.email, order.email.toUpperCase(), order.email])
      expect((await press(url, token, 'email', { email: typed })).status).toBe(303)
    expect(await mailsOf('Acknowledgement')).toMatchObject([{ status: 'Pending' }])
    expect([await mailsOf('Change'), await historyOf(reference)]).toEqual([[], []])
    expect((await look(url, token)).shown.may).toContain('email')
    await age(reference, 25)
    expect((await press(url, token, 'email', { email: order.email })).status).toBe(400) // it tells nobody what is masked
  })

  it('says that it is not theirs, by the mail only: no more mails go there, and its link ends', async () => {
    const { token, reference } = await sendOrder(url)
    const byMail = await mailTokenOf(reference)
    expect((await press(url, token, 'notMine')).status).toBe(400)
    for (const _ of ['once', 'twice'])
      expect(await press(url, byMail, 'notMine')).toMatchObject({ status: 303, location: '/your-enquiry?done=notMine' })
    expect((await look(url, byMail)).status).toBe(404)
    expect((await press(url, byMail, 'erase', { reference })).status).toBe(404)
    const [row] = (await atDesk('list', { state: 'new', key: undefined })).enquiries
    expect(row.flags).toEqual(['not the address’s owner'])
    expect((await mailsOf('Change')).map(({ to }) => to)).toEqual([STAFF, 'ravi@quvera.test'])
    const senders = app.startSenders()
    await eventually(async () => expect(await db.mail.count({ where: { status: 'Pending' } })).toBe(0))
    await senders.stop(1000)
    expect((await mailsOf('Acknowledgement'))[0]).toMatchObject({ status: 'Withheld', withheldBecause: 'NotTheirs' })
    expect(app.resend.mails.some(({ to }) => to.includes('asha.verma@shop.example'))).toBe(false)
    // Corrected, and back to the address that is not theirs.
    const was = pickOrderFields(row)
    const of = crypto.randomUUID()
    await atDesk('correct', { key: of, reference, was, now: { ...was, email: 'other@shop.example' } })
    const [back] = await atDesk('takeBack', { of })
    expect([back.email, back.flags]).toEqual([row.email, ['not the address’s owner']])
    // Who ordered still has the confirmation, and gives the right one.
    expect((await press(url, token, 'email', { email: 'asha@right.example' })).status).toBe(303)
    expect((await look(url, await mailTokenOf(reference))).status).toBe(200)
  })

  it('after 90 days only has it erased, and ten acts are all but for what ends another’s link, and erasing', async () => {
    const old = await sendOrder(url)
    await age(old.reference, 24 * 91)
    expect((await look(url, old.token)).shown.may).toEqual(['erase'])
    for (const [act, fields] of [
      ['mobile', { mobile: '9971112345' }],
      ['withdraw', {}],
      ['quantity', { quantity: '2' }],
    ] as const)
      expect((await press(url, old.token, act, fields)).status).toBe(400)
    expect((await press(url, old.token, 'erase', { reference: old.reference })).status).toBe(303)
    expect((await press(url, old.token, 'keep')).status).toBe(303)

    const { token, reference } = await sendOrder(url, { mobile: '9811111111' })
    const set = async (quantity: number) => (await press(url, token, 'quantity', { quantity: String(quantity) })).status
    for (let quantity = 1; quantity <= 10; quantity++) expect(await set(quantity)).toBe(303)
    expect([await set(11), (await rowOf(reference)).quantity]).toEqual([400, 10n])
    expect((await press(url, token, 'email', { email: 'asha@right.example' })).status).toBe(303)
    const byMail = await mailTokenOf(reference)
    for (let times = 0; times < 3; times++) {
      expect((await press(url, byMail, 'erase', { reference })).status).toBe(303)
      expect((await press(url, byMail, 'notMine')).status).toBe(400) // the link keeps it
      expect((await press(url, byMail, 'keep')).status).toBe(303)
    }
    expect((await press(url, byMail, 'erase', { reference })).status).toBe(400) // of a fourth no mail would tell
    const moved = `${(await rowOf(reference)).id}.${(await rowOf(reference)).secret}`
    expect((await press(url, moved, 'erase', { reference })).status).toBe(303)
  })

  it('whoever holds a link cannot guess what the page masks', async () => {
    const { token, reference } = await sendOrder(url, { quantity: 12345 })
    const byMail = await mailTokenOf(reference)
    expect((await press(url, byMail, 'email', { email: 'asha.verma@shop.example' })).status).toBe(400)
    await press(url, byMail, 'withdraw')
    for (const mobile of ['9876543211', '9876543210'])
      expect((await press(url, token, 'mobile', { mobile })).status).toBe(400)
    expect((await press(url, token, 'quantity', { quantity: '12345' })).status).toBe(400)
    await press(url, byMail, 'resume')
    for (let last = 0; last < 9; last++) await press(url, token, 'mobile', { mobile: `997111234${last}` })
    for (const mobile of ['9876543210', '9971112348'])
      expect((await press(url, byMail, 'mobile', { mobile })).status).toBe(400) // all is used up
  })

  it('a form that is posted once more is stored where the equal one is over, spam, or was touched by its link', async () => {
    const posted = async () => (await postForm(url, exampleOrder)).headers.get('location')
    const stranger = await sendOrder(url, { ...exampleOrder, website: 'x' })
    const first = await posted()
    expect(first).not.toContain(stranger.reference)
    expect(await posted()).toBe(first)
    const { reference, id, secret } = await db.enquiry.findFirstOrThrow({ where: { suspectedSpam: false } })
    expect(first).toContain(reference)
    await press(url, `${id}.${secret}`, 'withdraw')
    await press(url, `${id}.${secret}`, 'erase', { reference })
    expect(await posted()).not.toBe(first)
    expect(await db.enquiry.count({ where: { status: 'New', suspectedSpam: false } })).toBe(1)
  })
})

describe('how it stands', () => {
  it('is told fifteen minutes behind, and without what staff keep to themselves', async () => {
    const { token, reference } = await sendOrder(url)
    const standing = async () => (await look(url, token)).shown.standing
    for (const _ of ['once', 'twice']) await atDesk('addCall', { reference })
    await atDesk('addNote', { reference, text: 'rude on the phone' })
    expect(await standing()).toEqual({ status: 'New', stepsDone: 1 })
    await ageHistory(16)
    expect(await standing()).toMatchObject({ status: 'New', rang: { mobile: '3210' }, stepsDone: 2 })
    const day = formatIndianDate(new Date(Date.now() - 16 * 60_000))
    expect(standingTexts(await standing())).toEqual([
      ...['We have it.', `We rang the number ending in 3210 on ${day} and did not reach you.`],
    ])
    await mark(reference, 'Contacted')
    expect(await standing()).toMatchObject({ status: 'New' })
    await ageHistory(16)
    expect(await standing()).toEqual({ status: 'Contacted', since: day, stepsDone: 3 })
    expect(standingTexts(await standing()).join()).toMatch(
      new RegExp(`^Our team marked it as answered on ${day}\\. Heard nothing\\? Call `),
    )
    await mark(reference, 'Closed', 'Contacted')
    expect((await look(url, token)).shown.may).toContain('withdraw') // what may be done is behind, too
    await ageHistory(16)
    const { shown } = await look(url, token)
    expect([shown.standing.status, shown.may]).toEqual(['Closed', ['erase']])
    expect(standingTexts(shown.standing)).toEqual([expect.stringMatching(/^It is finished\. Anything left\? Call /)])
    expect(JSON.stringify(shown)).not.toMatch(/rude|staff@|ravi/)
  })

  it('ticks its steps as staff go on, whatever the visitor does in between', async () => {
    const { token, reference } = await sendOrder(url)
    const steps = async () => (await look(url, token)).shown.standing.stepsDone
    await atDesk('addCall', { reference })
    await ageHistory(16)
    await press(url, token, 'withdraw')
    expect(await steps()).toBe(2)
    await press(url, token, 'resume')
    expect(await steps()).toBe(2)
    await mark(reference, 'Contacted')
    await ageHistory(16)
    expect(await steps()).toBe(3)
    await mark(reference, 'New', 'Contacted') // it was not answered, after all
    await ageHistory(16)
    expect((await look(url, token)).shown.standing).toMatchObject({ status: 'New', stepsDone: 2 })
  })

  it('lets a withdrawal be taken back that staff have just opened again, of which it does not tell yet', async () => {
    const { token, reference } = await sendOrder(url)
    await press(url, token, 'withdraw')
    await mark(reference, 'New', 'Closed')
    expect((await look(url, token)).shown).toMatchObject({
      standing: { status: 'Withdrawn' },
      may: ['resume', 'erase'],
    })
    expect((await press(url, token, 'resume')).status).toBe(303)
    expect((await rowOf(reference)).status).toBe('New')
  })

  it('never tells of a press that was taken back or replaced within that time', async () => {
    const { token, reference } = await sendOrder(url)
    await mark(reference, 'Closed')
    await ageHistory(10)
    await mark(reference, 'New', 'Closed')
    for (const minutes of [0, 6, 10]) {
      await ageHistory(minutes)
      expect((await look(url, token)).shown.standing).toMatchObject({ status: 'New' })
    }
    const suspected = await sendOrder(url, { website: 'filled in by a browser' })
    expect((await look(url, suspected.token)).shown.standing).toEqual({ status: 'New', stepsDone: 1 })
  })
})

describe('staff', () => {
  it('are rung ten times a day in all, by suspected spam never, and by each erasure', async () => {
    const spam = await sendOrder(url, { website: 'filled in by a browser' })
    expect((await press(url, spam.token, 'quantity', { quantity: '2' })).status).toBe(303)
    expect([await db.mail.count(), (await rowOf(spam.reference)).remindOn]).toEqual([0, null])
    const orders = []
    for (let count = 0; count < 12; count++) orders.push(await sendOrder(url, { mobile: `98111111${count + 10}` }))
    for (const { token } of orders) await press(url, token, 'withdraw')
    expect(await mailsOf('Change')).toHaveLength(20) // ten changes, two of staff
    await press(url, spam.token, 'erase', { reference: spam.reference })
    expect([(await mailsOf('Change')).length, (await mailsOf('ErasureAsked')).length]).toEqual([22, 1]) // which is sent once the mark is taken off
    const { reference } = await sendOrder(url)
    await atDesk('erase', { references: [reference] })
    expect([(await mailsOf('Change')).length, (await mailsOf('ErasureAsked')).length]).toEqual([24, 2])
  })

  it('who mark it while it is erased, or erase it while it is marked, get one of both', async () => {
    const { token, reference } = await sendOrder(url)
    const cookie = await enterDesk(app)
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => press(url, token, 'erase', { reference })),
      ...Array.from({ length: 4 }, () =>
        callDesk(url, cookie, 'addNote', { key: crypto.randomUUID(), reference, text: 'x' }),
      ),
      callDesk(url, cookie, 'erase', { key: crypto.randomUUID(), references: [reference] }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 200, 200, 200, 200, 200])
    expect((await historyOf(reference)).filter(({ what }) => what === 'Erasure')).toHaveLength(1)
    expect(await mailsOf('ErasureAsked')).toHaveLength(1)
    await db.enquiry.update({ where: { reference }, data: { eraseAt: hoursAgo(1) } })
    const [erased, marked] = await Promise.all([
      db.$queryRaw`SELECT "Quvera_erase_asked"()`.then(() => 'done'),
      callDesk(url, cookie, 'setStatus', {
        ...{ key: crypto.randomUUID(), references: [reference], status: 'Contacted', was: 'New' },
      }),
    ])
    expect([erased, [200, 404].includes(marked.status)]).toEqual(['done', true])
    await db.$queryRaw`SELECT "Quvera_erase_asked"()`
    expect([await db.enquiry.count(), await db.mail.count(), (await look(url, token)).status]).toEqual([0, 0, 404])
  })
})

describe('while the database is away', () => {
  it('the page keeps what was typed, and pressed again it is done once', async () => {
    const { token, reference } = await sendOrder(url)
    await db.$executeRaw`ALTER TABLE "Quvera_History" RENAME TO "Away"`
    const failed = await press(url, token, 'mobile', { mobile: '9971112345' })
    const looked = await look(url, token)
    await db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_History"`
    expect([failed.status, looked.status]).toEqual([500, 500])
    expect(failed.shown).toEqual({ again: { token, act: 'mobile', value: '9971112345' } })
    expect(looked.shown).toEqual({})
    expect(app.countLogged('enquiries cannot be stored')).toBe(0) // orders can
    for (const _ of ['once', 'twice'])
      expect((await press(url, token, 'mobile', { mobile: '9971112345' })).status).toBe(303)
    expect((await historyOf(reference)).map(({ what }) => what)).toEqual(['Proposal', 'Reminder'])
  })
})

describe('the limits', () => {
  it('leave connections to orders, however many acts of an enquiry wait for each other', async () => {
    const { token, reference } = await sendOrder(url)
    const { acts, isStored } = await db.$transaction(async (transaction) => {
      await transaction.$queryRaw`SELECT FROM "Quvera_Form" WHERE "Reference" = ${reference} FOR UPDATE`
      const acts = Promise.all(Array.from({ length: 20 }, () => press(url, token, 'withdraw')))
      await sleep(500) // they hold what they can get
      const order = sendOrder(url, { mobile: '9811111111' }).then(({ reference: stored }) => stored !== '')
      return { acts, isStored: await Promise.race([order, sleep(4000, false)]) }
    }, TRANSACTION)
    expect(isStored).toBe(true)
    expect(new Set((await acts).map(({ status }) => status))).toEqual(new Set([303]))
  })

  it('are of the client and of the link', async () => {
    const limited = await anApp({ mails: false, rateLimitMax: 3 })
    const { token } = await sendOrder(limited.url)
    const statuses = []
    for (let count = 0; count < 5; count++) statuses.push((await press(limited.url, token, 'keep')).status)
    expect(statuses).toEqual([303, 303, 303, 429, 429])
    const looks = await Promise.all(Array.from({ length: 61 }, () => look(limited.url, token)))
    const refused = looks.filter(({ status }) => status === 429)
    expect(refused[0]?.shown).toMatchObject({ message: expect.stringMatching(/wait a minute/) })
  })
})
