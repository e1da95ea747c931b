// Only the link in its mail confirms a subscription, and the same link ends the subscription.
// A subscription that nobody confirms within 30 days is forgotten.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { deleteExpiredSubscribers } from '../../server/enquiries/subscribers.ts'
import { DAY_MS } from '../../server/format.ts'
import { readBacklog } from '../../server/mail/backlog.ts'
import { brand } from '../../shared/brand.ts'
import { CONSENT_VERSION } from '../../shared/subscription.ts'
import { anOrder, call, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { readCsv } from '../support/read-csv.ts'
import { scratch } from '../support/scratch.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo } from '../support/stored-enquiry.ts'
import { PUBLIC_URL, startTestApp, type TestApp } from '../support/test-app.ts'

let app: TestApp
let apps: TestApp[] = []
afterEach(async () => {
  for (const each of apps) await each.close()
  apps = []
})

async function start(options: Parameters<typeof startTestApp>[0] = {}) {
  app = await startTestApp(options)
  apps.push(app)
}

const subscribe = async (email: string) =>
  expect((await call(app.url, 'subscription.subscribe', { email })).text).toBe(
    '{"result":{"data":{"subscribed":true}}}',
  )
const asks = () => app.resend.mails.filter(({ subject }) => subject.includes('confirm your subscription'))
const rows = () => app.db.subscriber.findMany({ orderBy: { email: 'asc' } })
const idle = () => eventually(async () => expect(await app.db.mail.count({ where: { status: 'Pending' } })).toBe(0))

/** The link of the newest mail, at the address where the test finds it. */
async function theLink(times = 1) {
  await eventually(() => expect(asks()).toHaveLength(times))
  const [link = ''] =
    asks()
      .at(-1)
      ?.text.match(/http\S+/) ?? []
  expect(link).toMatch(new RegExp(`^${PUBLIC_URL}/subscription\\?token=[\\w.-]{90,}$`))
  return link.replace(PUBLIC_URL, app.url)
}

async function ask(link: string, body?: string | FormData, headers: Record<string, string> = {}) {
  const form = typeof body === 'string' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
  const answer = await fetch(link, {
    method: body === undefined ? 'GET' : 'POST',
    redirect: 'manual',
    headers: { accept: 'application/json', ...form, ...headers },
    ...(body !== undefined && { body }),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    headers: answer.headers,
    subscriptionState: text ? JSON.parse(text).subscriptionState : undefined,
  }
}

const forget = () => deleteExpiredSubscribers(app.db, new Date())

async function aConfirmed(email: string) {
  const before = asks().length
  await subscribe(email)
  const link = await theLink(before + 1)
  expect((await ask(link, 'do=confirm')).status).toBe(303)
  return link
}

describe('a subscription', () => {
  it('is asked for by a mail, confirmed by its page’s button, and ended by it; looking changes nothing', async () => {
    await start()
    await subscribe('Asha@shop.example')
    const link = await theLink()
    expect(await rows()).toMatchObject([
      { email: 'asha@shop.example', confirmedAt: null, consentVersion: CONSENT_VERSION },
    ])
    const [mail] = asks()
    expect(mail).toMatchObject({
      to: ['asha@shop.example'],
      subject: `${brand.name}: please confirm your subscription`,
    })
    expect(mail?.html).toContain(`href="${link.replace(app.url, PUBLIC_URL)}"`)
    for (const form of [mail?.text, mail?.html]) expect(form).toMatch(/30 days[\s\S]*12 Example Marg/)

    const fromTheMail = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    for (const headers of [{}, fromTheMail])
      expect(await ask(link, undefined, headers)).toMatchObject({ status: 200, subscriptionState: 'unconfirmed' })
    await fetch(link, { method: 'HEAD' })
    expect((await rows())[0]?.confirmedAt).toBeNull()

    const confirmed = await ask(link, 'do=confirm')
    expect([confirmed.status, confirmed.headers.get('location')]).toEqual([303, link.replace(app.url, '')])
    expect(await ask(link)).toMatchObject({ status: 200, subscriptionState: 'confirmed' })
    const [{ confirmedAt } = { confirmedAt: null }] = await rows()
    expect(confirmedAt).toBeInstanceOf(Date)
    await ask(link, 'do=confirm')
    expect((await rows())[0]?.confirmedAt).toEqual(confirmedAt)

    for (let times = 0; times < 2; times++)
      expect(await ask(link, 'do=end')).toMatchObject({ status: 200, subscriptionState: 'ended' })
    expect(await rows()).toMatchObject([{ confirmedAt: null, endsAt: expect.any(Date) }])
    await forget()
    expect(await rows()).toHaveLength(1)
    expect(await ask(link)).toMatchObject({ status: 404, subscriptionState: 'unknown' })
    expect(await ask(link, 'do=confirm')).toMatchObject({ status: 404, subscriptionState: 'unknown' })
    expect(app.logLines.join()).not.toMatch(/token|[\da-f]{64}/)
    await app.db.subscriber.updateMany({ data: { endsAt: hoursAgo(25) } })
    expect(await forget()).toBe(1)
    expect([await rows(), await app.db.mail.count()]).toEqual([[], 0])
  })

  it.each([
    ['as a form', () => 'List-Unsubscribe=One-Click'],
    [
      'as multipart/form-data',
      () => {
        const data = new FormData()
        data.set('List-Unsubscribe', 'One-Click')
        return data
      },
    ],
  ])('is ended by the mail service’s own button, %s (RFC 8058)', async (_, body) => {
    await start()
    const link = await aConfirmed('asha@shop.example')
    const headers = (asks()[0] as unknown as { headers: Record<string, string> }).headers
    expect(headers).toMatchObject({
      'List-Unsubscribe': `<${link.replace(app.url, PUBLIC_URL)}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    })
    await idle()
    await app.db.mail.updateMany({ data: { firstTriedAt: hoursAgo(25) } })
    expect(await ask(link, body())).toMatchObject({ status: 200, subscriptionState: 'ended' })
    expect(await rows()).toEqual([])
  })

  it('is not changed by a wrong secret, another site’s form, or a body that says neither', async () => {
    await start()
    await subscribe('asha@shop.example')
    const link = await theLink()
    const wrong = [
      link.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      link.slice(0, -1),
      link.slice(0, link.lastIndexOf('.')),
    ]
    for (const each of wrong) {
      expect((await ask(each)).status).toBe(404)
      await ask(each, 'do=confirm')
      await ask(each, 'do=end')
    }
    expect((await ask(link, 'do=end', { origin: 'https://evil.example' })).status).toBe(403)
    expect((await ask(link, 'do=nothing')).status).toBe(400)
    expect(await rows()).toMatchObject([{ confirmedAt: null }])
  })

  it('is neither lost nor ended by its link while the table is away: the page says to try again', async () => {
    await start()
    await subscribe('asha@shop.example')
    const link = await theLink()
    await app.db.$executeRaw`ALTER TABLE "Quvera_Subscriber" RENAME TO "Away"`
    for (const body of [undefined, 'do=confirm', 'do=end'])
      expect(await ask(link, body)).toMatchObject({ status: 503, subscriptionState: 'failed' })
    await app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Subscriber"`
    expect(await ask(link)).toMatchObject({ status: 200, subscriptionState: 'unconfirmed' })
    expect(app.loggedErrors()).toMatchObject([{ msg: 'subscriptions cannot be stored' }])
  })

  it('of a confirmed address stays as it is: the same answer, no mail', async () => {
    await start()
    await aConfirmed('asha@shop.example')
    const before = await rows()
    await subscribe('ASHA@shop.example')
    await subscribe('new@shop.example')
    await theLink(2)
    await idle()
    expect((await rows()).filter(({ email }) => email === 'asha@shop.example')).toEqual(before)
    expect(asks().map(({ to }) => to[0])).toEqual(['asha@shop.example', 'new@shop.example'])
  })

  it('waits without a key as the other mails do, with one mail however often it was asked for', async () => {
    await start({ mails: false })
    for (let times = 0; times < 3; times++) await subscribe('asha@shop.example')
    expect(await app.db.mail.findMany()).toMatchObject([{ kind: 'Confirmation', status: 'Pending', enquiryId: null }])
    const later = app.startSenders()
    await theLink()
    await later.stop(1000)
  })

  it('is asked for by one mail when its form comes twice, at once or just after', async () => {
    await start({ mails: false })
    await Promise.all(Array.from({ length: 5 }, () => subscribe('asha@shop.example')))
    expect(await app.db.mail.count()).toBe(1)
    const later = app.startSenders()
    await theLink()
    await idle()
    await later.stop(1000)
    await subscribe('asha@shop.example')
    expect(await app.db.mail.count()).toBe(1)
  })

  it('that was never confirmed takes the consent and date of the newest request', async () => {
    await start()
    const before = { email: 'asha@shop.example', subscribedAt: hoursAgo(9000), consentVersion: 'an older one' }
    await app.db.subscriber.create({ data: before })
    await subscribe(before.email)
    const [row] = await rows()
    expect(row).toMatchObject({ consentVersion: CONSENT_VERSION, confirmedAt: null, endsAt: expect.any(Date) })
    expect(Date.now() - Number(row?.subscribedAt)).toBeLessThan(60_000)
    expect((await ask(await theLink(), 'do=confirm')).status).toBe(303)
    expect((await rows())[0]?.confirmedAt).toBeInstanceOf(Date)
  })

  it('waits to be asked for until PUBLIC_URL is set, as its link would lead nowhere', async () => {
    await start({ publicUrl: '' })
    await subscribe('asha@shop.example')
    await submit(app.url, anOrder())
    await eventually(() => expect(app.resend.mails.length).toBeGreaterThan(1))
    await sleep(500) // several looks
    expect(asks()).toEqual([])
    await app.senders.stop(1000)
    const later = app.startSenders({ PUBLIC_URL })
    await theLink()
    await later.stop(1000)
  })

  it('is not looked for more often than sixty times a minute by one client', async () => {
    await start({ rateLimitMax: 10 })
    const link = `${app.url}/subscription?token=${crypto.randomUUID()}.${'a'.repeat(64)}`
    const answers = []
    for (let times = 0; times <= 60; times++) answers.push(await ask(link))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
    expect(answers.at(-1)).toMatchObject({ status: 429, subscriptionState: 'failed' })
  })

  it('is ended for many people from one address of their mail service, and for one link sixty times a minute', async () => {
    await start({ rateLimitMax: 10 })
    const aLink = () => `${app.url}/subscription?token=${crypto.randomUUID()}.${'a'.repeat(64)}`
    for (let times = 0; times < 100; times++)
      expect((await ask(aLink(), 'List-Unsubscribe=One-Click')).status).toBe(200)
    const link = aLink()
    const statuses = []
    for (let times = 0; times <= 60; times++) {
      const { status } = await ask(`${link}&again=${times}`, 'List-Unsubscribe=One-Click')
      statuses.push(status)
    }
    expect(statuses).toEqual([...Array(60).fill(200), 429])
  })

  it.each([null, new Date()])('is not asked for any more once it is confirmed; tried: %s', async (firstTriedAt) => {
    await start({ mails: false })
    await subscribe('asha@shop.example')
    await app.db.subscriber.updateMany({ data: { confirmedAt: new Date() } })
    await app.db.mail.updateMany({ data: { firstTriedAt } })
    const later = app.startSenders()
    await idle()
    await later.stop(1000)
    expect(await app.db.mail.findMany()).toMatchObject([{ status: 'Withheld', withheldBecause: 'Ended', firstTriedAt }])
  })
})

describe('the guards of acknowledgements', () => {
  it('go on counting the mails of a subscription that is ended, in the mailbox and in the budget', async () => {
    await start({ dailyBudget: 30 })
    for (let times = 1; times <= 3; times++) {
      await subscribe(`asha+${times}@shop.example`)
      expect(await ask(await theLink(times), 'do=end')).toMatchObject({ subscriptionState: 'ended' })
    }
    await subscribe('asha@shop.example')
    await subscribe('other@shop.example')
    await eventually(async () => expect(await app.db.mail.count({ where: { status: 'Sent' } })).toBe(3))
    await app.senders.stop(1000)
    const later = app.startSenders({ MAIL_DAILY_BUDGET: 50 })
    await idle()
    await later.stop(1000)
    expect(asks().flatMap(({ to }) => to)).toEqual(
      [1, 2, 3].map((n) => `asha+${n}@shop.example`).concat('other@shop.example'),
    )
  })

  it('raise no alarm for an address that Resend refuses', async () => {
    await start()
    app.resend.behaviour = { status: 422, name: 'validation_error' }
    await subscribe('dead@shop.example')
    await idle()
    expect(await readBacklog(app.db)).toMatchObject({ failed: 0 })
    expect(await app.db.mail.findMany()).toMatchObject([{ status: 'Failed' }])
    expect(app.loggedErrors()).toEqual([])
  })

  it('let three a day through to a mailbox, however it is spelled, and those of orders count', async () => {
    await start()
    for (const email of ['a.sha@gmail.com', 'asha+1@gmail.com', 'ASHA@googlemail.com', 'asha+2@gmail.com']) {
      await subscribe(email)
      await idle()
    }
    expect(asks()).toHaveLength(3)
    await app.db.mail.updateMany({ where: { status: 'Sent' }, data: { firstTriedAt: hoursAgo(1) } })
    await subscribe('a.sha@gmail.com') // again, as its mail may have been lost
    await idle()
    expect(asks()).toHaveLength(3)
    await submit(app.url, anOrder({ email: 'asha@gmail.com' }))
    await idle()
    expect(app.resend.mails.filter(({ subject }) => subject.includes('your enquiry'))).toEqual([])
    const withheld = await app.db.mail.findMany({ where: { status: 'Withheld' } })
    expect(withheld.map(({ kind }) => kind).sort()).toEqual(['Acknowledgement', 'Confirmation', 'Confirmation'])
  })

  it('let no more than three through when all come at once', async () => {
    await start({ mails: false })
    for (let index = 0; index < 6; index++) await subscribe(`asha+${index}@shop.example`)
    const later = app.startSenders()
    await idle()
    await later.stop(1000)
    expect(asks()).toHaveLength(3)
  })

  it('wait while 60 % of the budget are used', async () => {
    await start({ dailyBudget: 10 })
    for (let index = 0; index < 8; index++) await subscribe(`a${index}@shop.example`)
    await theLink(6)
    await sleep(500) // several polls
    expect(asks()).toHaveLength(6)
    const { stdout } = await staff(['mails'], {
      ...app.env,
      RESEND_API_KEY: 're_test',
      MAIL_DAILY_BUDGET: '10',
      PUBLIC_URL,
    })
    expect(stdout).toMatch(/^Confirmations wait: 6 of the 10 mails of MAIL_DAILY_BUDGET are used in 24 hours\./)
  })
})

describe('staff', () => {
  it('export the confirmed ones with a link each, list all, and end one', async () => {
    await start()
    const link = await aConfirmed('asha@shop.example')
    await subscribe('=cmd@shop.example')
    await theLink(2)
    const env = { ...app.env, PUBLIC_URL }
    const csv = await staff(['subscribers', '--csv'], env)
    expect(readCsv(csv.stdout)).toMatchObject([{ Email: 'asha@shop.example', Link: link.replace(app.url, PUBLIC_URL) }])
    expect(csv.stdout).toMatch(/^\ufeff"Email","Confirmed","Link"\r\n/)
    expect(csv.stderr).toBe('1 address; 1 not confirmed left out: anybody can have typed them.\n')
    const { stdout } = await staff(['subscribers'], env)
    expect(stdout).toMatch(/asha@shop\.example +\d\d \w{3} \d{4} \d\d:\d\d IST +http/)
    expect(stdout).toMatch(/=cmd@shop\.example +no +http/)
    expect(stdout).toContain('2 addresses, 1 of them not confirmed.')
    expect((await staff(['subscribers', '--remove', 'Asha@shop.example'], env)).stdout).toMatch(
      /^The subscription is ended/,
    )
    expect((await staff(['subscribers', '--remove', 'asha@shop.example'], env)).stdout).toMatch(/^No such subscription/)
    expect((await rows()).map(({ email }) => email)).toEqual(['=cmd@shop.example'])
    expect(await ask(link)).toMatchObject({ status: 404 })
  })

  it('export and erase a person with the mails that asked, and without the secret', async () => {
    await start()
    await subscribe('asha@shop.example')
    await theLink()
    await idle()
    const { stdout } = await staff(['export', '--person', 'asha@shop.example'], app.env)
    const { subscriptions } = JSON.parse(stdout)
    expect(subscriptions).toMatchObject([
      { Email: 'asha@shop.example', Mails: [{ Kind: 'Confirmation', Status: 'Sent' }] },
    ])
    expect(stdout).not.toMatch(/Secret|[\da-f]{64}/)
    await staff(['erase', '--person', 'asha@shop.example', '--yes'], app.env)
    expect([await rows(), await app.db.mail.count()]).toEqual([[], 0])
  })

  it('move them with a backup of a site that has ended: links stay, and pending mails wait', async () => {
    await start()
    const link = await aConfirmed('asha@shop.example')
    await app.senders.stop(1000)
    await subscribe('late@shop.example')
    const file = join(scratch, `subscriptions-${crypto.randomUUID()}.gz`)
    await staff(['backup', file], app.env)
    const before = await rows()
    await start({ mails: false })
    expect((await staff(['restore', '--moved', file], app.env)).stdout).not.toMatch(/Withheld|No longer confirmed/)
    expect(await rows()).toEqual(before)
    expect(await ask(app.url + link.slice(link.indexOf('/subscription')))).toMatchObject({
      subscriptionState: 'confirmed',
    })
  })
})

it('a restored database has no confirmed subscription, because people may have left since the backup', async () => {
  await start()
  const link = await aConfirmed('asha@shop.example')
  const file = join(scratch, `left-${crypto.randomUUID()}.gz`)
  await staff(['backup', file], app.env)
  await start({ mails: false })
  expect((await staff(['restore', file], app.env)).stdout).toMatch(/No longer confirmed: 1 subscription.*--moved/)
  const { stdout } = await staff(['subscribers', '--csv'], app.env)
  expect(readCsv(stdout)).toEqual([])
  expect(await rows()).toMatchObject([{ email: 'asha@shop.example', confirmedAt: null }])
  await forget()
  expect(await ask(app.url + link.slice(link.indexOf('/subscription')))).toMatchObject({
    subscriptionState: 'unconfirmed',
  })
})

it('who was asked and has not confirmed within 30 days is forgotten, and one of a restored backup 30 days after', async () => {
  await start()
  await aConfirmed('confirmed@shop.example')
  await subscribe('late@shop.example')
  await subscribe('recent@shop.example')
  await idle()
  await app.db.subscriber.create({ data: { email: 'restored@shop.example', consentVersion: '2026-11-22' } })
  const unconfirmed = { endsAt: { not: null }, email: { not: 'recent@shop.example' } }
  await app.db.subscriber.updateMany({ where: unconfirmed, data: { endsAt: hoursAgo(25) } })
  expect(await forget()).toBe(1)
  const left = async () => (await rows()).map(({ email }) => email)
  expect(await left()).toEqual(['confirmed@shop.example', 'recent@shop.example', 'restored@shop.example'])
  expect(await deleteExpiredSubscribers(app.db, new Date(Date.now() + 29.5 * DAY_MS))).toBe(0)
  expect(await deleteExpiredSubscribers(app.db, new Date(Date.now() + 30.5 * DAY_MS))).toBe(2)
  expect(await left()).toEqual(['confirmed@shop.example'])
})

it('a link lasts by the database’s clock, whatever the clock of the process says', async () => {
  await start()
  await subscribe('asha@shop.example')
  const link = await theLink()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * DAY_MS })
  atEnd(() => vi.useRealTimers())
  expect(await ask(link)).toMatchObject({ status: 200 })
  expect((await ask(link, 'List-Unsubscribe=One-Click')).status).toBe(200)
  vi.useRealTimers()
  expect(Number((await rows())[0]?.endsAt)).toBeLessThanOrEqual(Date.now())
})
