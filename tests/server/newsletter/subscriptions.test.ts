// Only the link in its mail confirms a subscription, and the same link ends the subscription.
// A subscription that nobody confirms within 30 days is forgotten.
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { deleteExpiredSubscribers } from '../../../server/operations/retention.ts'
import { brand } from '../../../shared/brand.ts'
import { DAY_MS } from '../../../shared/indian-time.ts'
import { CONSENT_VERSION } from '../../../shared/subscription.ts'
import { aFolder } from '../../support/a-folder.ts'
import { anOrder, call, submit } from '../../support/an-order.ts'
import { atEnd } from '../../support/at-end.ts'
import { eventually } from '../../support/eventually.ts'
import { anApp, theApp } from '../../support/fixtures.ts'
import { readCsv } from '../../support/read-csv.ts'
import { staff } from '../../support/staff-command.ts'
import { hoursAgo } from '../../support/stored-enquiry.ts'
import { PUBLIC_URL, type TestApp } from '../../support/test-app.ts'

const app = await theApp()
/** One whose mails wait until a test starts to send them. */
const idleApp = await theApp({ mails: false })

const subscribe = async (email: string, of = app) =>
  expect((await call(of.url, 'subscription.subscribe', { email })).text).toBe('{"result":{"data":{"subscribed":true}}}')
const asks = (of = app) => of.resend.mails.filter(({ subject }) => subject.includes('confirm your subscription'))
const rows = (of = app) => of.db.subscriber.findMany({ orderBy: { email: 'asc' } })
const noneWaits = (of = app) =>
  eventually(async () => expect(await of.db.mail.count({ where: { status: 'Pending' } })).toBe(0))
const forget = () => deleteExpiredSubscribers(app.db, new Date(), 500)

/** The link of the newest mail, at the address where the test finds it. */
async function theLink(times = 1, of = app) {
  await eventually(() => expect(asks(of)).toHaveLength(times))
  const [link = ''] = /http\S+/.exec(asks(of).at(-1)?.text ?? '') ?? []
  expect(link).toMatch(new RegExp(`^${PUBLIC_URL}/subscription\\?token=[\\w.-]{90,}$`))
  return link.replace(PUBLIC_URL, of.url)
}

/** Opens a link, or posts what a button of its page, or of a mail service, does. */
async function ask(link: string, body?: string | FormData, headers: Record<string, string> = {}) {
  const form = typeof body === 'string' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
  const init = { redirect: 'manual' as const, headers: { ...form, ...headers } }
  const answer = await fetch(link, body === undefined ? init : { ...init, method: 'POST', body })
  const text = await answer.text()
  const location = answer.headers.get('location')
  return { status: answer.status, location, subscriptionState: text && JSON.parse(text).subscriptionState }
}

async function aConfirmed(email: string) {
  const before = asks().length
  await subscribe(email)
  const link = await theLink(before + 1)
  expect((await ask(link, 'do=confirm')).status).toBe(303)
  return link
}

/** Sends what waits. */
async function send(of: TestApp, changes: Parameters<TestApp['startSenders']>[0] = {}) {
  const senders = of.startSenders(changes)
  await noneWaits(of)
  await senders.stop(1000)
}

describe('a subscription', () => {
  it('is asked for by a mail, confirmed by its page’s button, and ended by it; looking changes nothing', async () => {
    await subscribe('Asha@shop.example')
    const link = await theLink()
    const stored = { email: 'asha@shop.example', confirmedAt: null, consentVersion: CONSENT_VERSION }
    expect(await rows()).toMatchObject([stored])
    const [mail] = asks()
    expect(mail?.to).toEqual(['asha@shop.example'])
    expect(mail?.subject).toBe(`${brand.name}: please confirm your subscription`)
    expect(mail?.html).toContain(`href="${link.replace(app.url, PUBLIC_URL)}"`)
    for (const form of [mail?.text, mail?.html]) {
      expect(form).toContain('30 days')
      expect(form).toContain(brand.address.street)
    }

    const fromTheMail = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    for (const headers of [{}, fromTheMail])
      expect(await ask(link, undefined, headers)).toMatchObject({ status: 200, subscriptionState: 'unconfirmed' })
    await fetch(link, { method: 'HEAD' })
    expect(await rows()).toMatchObject([stored])

    expect(await ask(link, 'do=confirm')).toMatchObject({ status: 303, location: link.replace(app.url, '') })
    expect(await ask(link)).toMatchObject({ status: 200, subscriptionState: 'confirmed' })
    const confirmed = await rows()
    expect(confirmed).toMatchObject([{ confirmedAt: expect.any(Date) }])
    await ask(link, 'do=confirm')
    await subscribe('ASHA@shop.example') // the same answer, no mail
    expect([await rows(), await app.db.mail.count()]).toEqual([confirmed, 1])

    for (const _ of ['once', 'twice'])
      expect(await ask(link, 'do=end')).toMatchObject({ status: 200, subscriptionState: 'ended' })
    expect(await rows()).toMatchObject([{ confirmedAt: null, endsAt: expect.any(Date) }])
    expect(await forget()).toBe(0)
    for (const body of [undefined, 'do=confirm'])
      expect(await ask(link, body)).toMatchObject({ status: 404, subscriptionState: 'unknown' })
    expect(app.logLines.join()).not.toMatch(/token|[\da-f]{64}/)
    await app.db.subscriber.updateMany({ data: { endsAt: hoursAgo(25) } })
    expect(await forget()).toBe(1)
    expect([await rows(), await app.db.mail.count()]).toEqual([[], 0])
  })

  it('is ended by the mail service’s own button, as a form and as multipart/form-data (RFC 8058)', async () => {
    const data = new FormData()
    data.set('List-Unsubscribe', 'One-Click')
    for (const [index, body] of ['List-Unsubscribe=One-Click', data].entries()) {
      const link = await aConfirmed(`asha${index}@shop.example`)
      expect(asks()[index]).toHaveProperty('headers.List-Unsubscribe', `<${link.replace(app.url, PUBLIC_URL)}>`)
      expect(asks()[index]).toHaveProperty('headers.List-Unsubscribe-Post', 'List-Unsubscribe=One-Click')
      await noneWaits()
      await app.db.mail.updateMany({ data: { firstTriedAt: hoursAgo(25) } })
      expect(await ask(link, body)).toMatchObject({ status: 200, subscriptionState: 'ended' })
      expect(await rows()).toEqual([])
    }
  })

  it('is not changed by a wrong secret, another site’s form, or a body that says neither', async () => {
    await subscribe('asha@shop.example')
    const link = await theLink()
    for (const wrong of [link.replace(/.$/, (last) => (last === '0' ? '1' : '0')), link.slice(0, -1)]) {
      expect((await ask(wrong)).status).toBe(404)
      await ask(wrong, 'do=confirm')
      await ask(wrong, 'do=end')
    }
    expect((await ask(link, 'do=end', { origin: 'https://evil.example' })).status).toBe(403)
    expect((await ask(link, 'do=nothing')).status).toBe(400)
    expect(await rows()).toMatchObject([{ confirmedAt: null }])
  })

  it('is asked for by one mail however often its form comes, which waits for a key and for PUBLIC_URL', async () => {
    await Promise.all(Array.from({ length: 5 }, () => subscribe('asha@shop.example', idleApp)))
    expect(await idleApp.db.mail.findMany()).toMatchObject([{ kind: 'Confirmation', status: 'Pending' }])
    await submit(idleApp.url, anOrder()) // whose acknowledgement comes after confirmations
    const nowhere = idleApp.startSenders({ PUBLIC_URL: undefined }) // to which its link would lead
    await eventually(async () => expect(await idleApp.db.mail.count({ where: { status: 'Sent' } })).toBe(2))
    await nowhere.stop(1000)
    expect(asks(idleApp)).toEqual([])
    await send(idleApp)
    await subscribe('asha@shop.example', idleApp)
    expect([asks(idleApp).length, await idleApp.db.mail.count({ where: { kind: 'Confirmation' } })]).toEqual([1, 1])
  })

  it('that was never confirmed takes the consent and date of the newest request', async () => {
    const before = { email: 'asha@shop.example', subscribedAt: hoursAgo(9000), consentVersion: 'an older one' }
    await app.db.subscriber.create({ data: before })
    await subscribe(before.email)
    const [row] = await rows()
    expect(row).toMatchObject({ consentVersion: CONSENT_VERSION, confirmedAt: null, endsAt: expect.any(Date) })
    expect(Number(row?.subscribedAt)).toBeGreaterThan(Number(hoursAgo(1)))
    expect((await ask(await theLink(), 'do=confirm')).status).toBe(303)
  })

  it('is looked for sixty times a minute by one client; ended sixty times by one link, whoever sends it', async () => {
    const { url } = await anApp({ mails: false, rateLimitMax: 10 })
    const aLink = () => `${url}/subscription?token=${crypto.randomUUID()}.${'a'.repeat(64)}`
    const statuses = async (times: number, link: () => string, body?: string) => {
      const answers: number[] = []
      for (let time = 0; time < times; time++) answers.push((await ask(link(), body)).status)
      return answers
    }
    expect(await statuses(61, aLink)).toEqual([...Array(60).fill(404), 429])
    expect(await statuses(100, aLink, 'List-Unsubscribe=One-Click')).toEqual(Array(100).fill(200)) // of one mail service
    const link = aLink()
    const again = () => `${link}&again=${crypto.randomUUID()}`
    expect(await statuses(61, again, 'List-Unsubscribe=One-Click')).toEqual([...Array(60).fill(200), 429])
  })

  it('that is ended goes on counting in the mailbox and in the budget', async () => {
    for (let times = 1; times <= 3; times++) {
      await subscribe(`asha+${times}@shop.example`, idleApp)
      await send(idleApp)
      expect(await ask(await theLink(times, idleApp), 'do=end')).toMatchObject({ subscriptionState: 'ended' })
    }
    await subscribe('asha@shop.example', idleApp) // of whose mailbox the three were
    await subscribe('other@shop.example', idleApp)
    const env = { ...idleApp.env, RESEND_API_KEY: 'x', MAIL_DAILY_BUDGET: '5', PUBLIC_URL }
    expect((await staff(['mails'], env)).stdout).toMatch(
      /^Confirmation mails wait: 3 of the 5 mails of MAIL_DAILY_BUDGET /,
    )
    await send(idleApp)
    expect(asks(idleApp).map(({ to }) => to[0])).toEqual([
      ...[1, 2, 3].map((n) => `asha+${n}@shop.example`),
      'other@shop.example',
    ])
  })

  it('lasts by the database’s clock, whatever the clock of the process says', async () => {
    await subscribe('asha@shop.example')
    const link = await theLink()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * DAY_MS })
    atEnd(() => vi.useRealTimers())
    expect((await ask(link)).status).toBe(200)
    expect((await ask(link, 'List-Unsubscribe=One-Click')).status).toBe(200)
    vi.useRealTimers()
    expect(Number((await rows())[0]?.endsAt)).toBeLessThanOrEqual(Date.now())
  })
})

it('a mailbox gets three confirmations and acknowledgements a day, however it is spelled', async () => {
  for (const email of ['a.sha@gmail.com', 'asha+1@gmail.com', 'ASHA@googlemail.com', 'asha+2@gmail.com'])
    await subscribe(email, idleApp)
  await submit(idleApp.url, anOrder({ email: 'asha@gmail.com' }))
  await send(idleApp)
  expect(asks(idleApp)).toHaveLength(3)
  const withheld = await idleApp.db.mail.findMany({ where: { withheldBecause: 'ThreeADay' }, orderBy: { kind: 'asc' } })
  expect(withheld).toMatchObject([{ kind: 'Acknowledgement' }, { kind: 'Confirmation' }])
})

it('staff export the confirmed ones with a link each, list all, and end one', async () => {
  const link = await aConfirmed('asha@shop.example')
  await subscribe('=cmd@shop.example')
  await theLink(2)
  const env = { ...app.env, PUBLIC_URL }
  const csv = await staff(['subscribers', '--csv'], env)
  expect(readCsv(csv.stdout)).toMatchObject([{ Email: 'asha@shop.example', Link: link.replace(app.url, PUBLIC_URL) }])
  expect(csv.stderr).toBe('1 address; 1 not confirmed left out: anybody can have typed them.\n')
  const { stdout } = await staff(['subscribers'], env)
  expect(stdout).toMatch(/asha@shop\.example +\d\d \w{3} \d{4} \d\d:\d\d IST +http/)
  expect(stdout).toMatch(/=cmd@shop\.example +no +http/)
  expect(stdout).toContain('2 addresses, 1 of them not confirmed.')
  const remove = async (email: string) => (await staff(['subscribers', '--remove', email], env)).stdout
  expect(await remove('Asha@shop.example')).toMatch(/^The subscription is ended/)
  expect(await remove('asha@shop.example')).toMatch(/^No such subscription/)
  expect((await rows()).map(({ email }) => email)).toEqual(['=cmd@shop.example'])
  expect((await ask(link)).status).toBe(404)
})

it('a restore confirms nobody, because people may have left since, except with --moved', async () => {
  const link = await aConfirmed('asha@shop.example')
  const file = join(await aFolder('quvera-subscriptions-'), 'backup.gz')
  await staff(['backup', file], app.env)
  const linkThere = link.replace(app.url, idleApp.url)
  expect((await staff(['restore', '--moved', file], idleApp.env)).stdout).not.toMatch(/Withheld|No longer confirmed/)
  expect(await rows(idleApp)).toEqual(await rows())
  expect(await ask(linkThere)).toMatchObject({ subscriptionState: 'confirmed' })
  await idleApp.reset()
  const { stdout } = await staff(['restore', file], idleApp.env)
  expect(stdout).toMatch(/No longer confirmed: 1 subscription.*--moved/)
  expect(readCsv((await staff(['subscribers', '--csv'], idleApp.env)).stdout)).toEqual([])
  expect(await ask(linkThere)).toMatchObject({ subscriptionState: 'unconfirmed' })
})

it('who was asked and has not confirmed within 30 days is forgotten, and one of a restored backup 30 days after', async () => {
  await app.db.subscriber.createMany({
    data: [
      { email: 'confirmed@shop.example', consentVersion: '1', confirmedAt: hoursAgo(900) },
      { email: 'late@shop.example', consentVersion: '1', endsAt: hoursAgo(25) },
      { email: 'recent@shop.example', consentVersion: '1', endsAt: hoursAgo(23) },
      { email: 'restored@shop.example', consentVersion: '1' },
    ],
  })
  const leftAfter = async (days: number) => {
    await deleteExpiredSubscribers(app.db, new Date(Date.now() + days * DAY_MS), 500)
    return (await rows()).map(({ email }) => email.split('@')[0])
  }
  expect(await leftAfter(0)).toEqual(['confirmed', 'recent', 'restored'])
  expect(await leftAfter(29.5)).toEqual(['confirmed', 'restored'])
  expect(await leftAfter(30.5)).toEqual(['confirmed'])
})

it('where the brand has no newsletter, none is taken and its addresses are not found', async () => {
  const { url, db, loggedErrors } = await anApp({ mails: false, newsletter: false })
  const email = 'a@shop.example'
  const form = (path: string) => fetch(url + path, { method: 'POST', body: new URLSearchParams({ email }) })
  const answers = [
    await call(url, 'subscription.subscribe', { email }),
    await form('/privacy-policy?subscribe'),
    await form('/?subscribe'),
    await form('/subscription?token=x'),
    await fetch(`${url}/subscription?token=x`),
    await fetch(`${url}/subscribed`),
  ]
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(404))
  expect([await db.subscriber.count(), await db.mail.count(), loggedErrors()]).toEqual([0, 0, []])
  expect((await submit(url, anOrder())).status).toBe(200)
})
