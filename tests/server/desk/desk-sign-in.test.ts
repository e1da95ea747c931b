// Who gets into the desk: each sentence of "Who gets in" has a test here.
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createLink } from '../../../server/desk/sessions.ts'
import { createSignIn } from '../../../server/desk/sign-in.ts'
import { readEnv } from '../../../server/env.ts'
import { aFolder } from '../../support/a-folder.ts'
import { atEnd } from '../../support/at-end.ts'
import { callDesk, cookieOf, enterDesk, getStaff, postStaff } from '../../support/desk.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, anOpenDatabase, theApp } from '../../support/fixtures.ts'
import { sendAs } from '../../support/raw-request.ts'
import { freePort } from '../../support/server-process.ts'
import { staff } from '../../support/staff-command.ts'
import { startTestApp } from '../../support/test-app.ts'

const HTTPS = 'https://www.quvera.test'
const RAVI = 'ravi@quvera.test'
const metricsPort = await freePort()
/** On this machine, and as the public finds it. */
const app = await theApp({ staff: [STAFF, RAVI], metricsPort })
const publicApp = await theApp({
  publicUrl: HTTPS,
  publicUrlAliases: ['https://quvera.test'],
  trustProxy: ['127.0.0.1'],
})

const mails = (of = app) => of.resend.mails.map(({ to, text, key }) => ({ to: to[0], text, key }))
const tokenIn = (text = '') => /token=([\w-]+)/.exec(text)?.[1] ?? ''
const aLink = (email = STAFF) => createLink(app.db, { email, leadsTo: '/staff' })
const enterBy = (token: string, cookie = '') => postStaff(app.url, 'enter', { token }, { cookie })
const ageSessions = (age: string) => app.db.$executeRaw`UPDATE "Quvera_Session" SET "At" = now() - ${age}::interval`
/** A link and its mail are of the same moment. */
const ageAll = async (age: string) => {
  await app.db.$executeRaw`UPDATE "Quvera_Session" SET "At" = "At" - ${age}::interval`
  await app.db.$executeRaw`UPDATE "Quvera_Mail" SET "QueuedAt" = "QueuedAt" - ${age}::interval`
}
const statusWith = async (cookie: string) => (await getStaff(app.url, '', { cookie })).status

const requested = vi.spyOn(app.signIn, 'request')
let taken = 0
beforeEach(() => {
  requested.mockClear()
  taken = 0
})

async function ask(email = STAFF, to = '/staff') {
  const answer = await postStaff(app.url, 'sign-in', { email, to })
  taken++
  return answer
}

/** Waits until what follows the answers is done. */
async function settled() {
  await expect.poll(() => requested.mock.calls.length).toBe(taken)
  await app.signIn.close(60_000)
}

/** Mails that were tried before this test. */
const mailsBefore = (count: number, of = app) => of.db.$executeRaw`
  INSERT INTO "Quvera_Mail" ("Kind", "To", "Status", "DueAt", "FirstTriedAt", "SentAt")
  SELECT 'SignIn', 'other@quvera.test', 'Sent', NULL, now() - interval '1 hour', now() FROM generate_series(1, ${count}::int)`

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
/** As a browser asks the public site under this name. */
const sendTo = (host: string, path: string, headers: Record<string, string> = {}, body?: string, of = publicApp) =>
  sendAs(of.url, path, { host, ...(body && FORM), ...headers }, body)

describe('a page of the desk without a session', () => {
  it.each([
    ['', '/staff'],
    ['/QV-7K3M9P', '/staff/QV-7K3M9P'],
    ['/anything/else', '/staff'],
  ])('/staff%s leads to sign-in, which leads back to %s', async (path, to) => {
    const answer = await getStaff(app.url, path)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `/staff/sign-in?to=${to}`])
    expect(await (await getStaff(app.url, `/sign-in?to=${to}`)).text()).toContain(`name="to" value="${to}"`)
  })

  it('has headers that keep it to itself', async () => {
    for (const path of ['', '/sign-in', '/enter?token=x'])
      expect(Object.fromEntries((await getStaff(app.url, path)).headers)).toMatchObject({
        'cache-control': 'no-store',
        'x-robots-tag': 'noindex',
        'referrer-policy': 'same-origin',
        'x-frame-options': 'DENY',
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      })
  })
})

describe('asking for a link', () => {
  it('mails it, to staff in any case, and records the mail without the token', async () => {
    await ask(` ${STAFF.toUpperCase()} `, '/staff/QV-7K3M9P')
    await settled()
    const [mail] = mails()
    const token = tokenIn(mail?.text)
    expect([mail?.to, token]).toEqual([STAFF, expect.stringMatching(/^[\w-]{43}$/)])
    const sent = { kind: 'SignIn', to: STAFF, status: 'Sent', attempts: 1, tag: mail?.key }
    expect(await app.db.mail.findMany()).toMatchObject([sent])
    const link = { hash: hash('sha256', token, 'hex'), kind: 'Link', email: STAFF, leadsTo: '/staff/QV-7K3M9P' }
    expect(await app.db.session.findMany()).toMatchObject([link])
    const entered = await enterBy(token)
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/staff/QV-7K3M9P'])
  })

  it('answers everybody with the same bytes but for a cookie with what was typed, before the database is asked', async () => {
    await app.db.$executeRaw`ALTER TABLE "Quvera_Session" RENAME TO gone` // every statement fails
    const answers = await Promise.all([STAFF, 'stranger@shop.example', 'no address', ''].map((email) => ask(email)))
    await settled()
    await app.db.$executeRaw`ALTER TABLE gone RENAME TO "Quvera_Session"`
    const bytes = answers.map(async ({ status, headers }, index) => {
      expect(headers.get('set-cookie')).toMatch(
        /^quvera-asked-\d+=\S*; Path=\/; Max-Age=(900|0); HttpOnly; SameSite=Lax$/,
      )
      const kept = [...headers].filter(([name]) => name !== 'date' && name !== 'set-cookie')
      return JSON.stringify([status, kept, await answers[index]?.text()])
    })
    expect(new Set(await Promise.all(bytes)).size).toBe(1)
    expect(answers[0]?.headers.get('location')).toBe('/staff/sign-in?sent')
    expect(mails()).toEqual([])
  })

  it('sends no second link within ten minutes while the first is unused, from whomever they come', async () => {
    await createLink(app.db, { email: STAFF, leadsTo: '/staff', byTerminal: true }) // which does not count
    await Promise.all([ask(), ask(), ask(), ask(RAVI)])
    await settled()
    expect(mails().map(({ to }) => to)).toEqual(expect.arrayContaining([STAFF, RAVI]))
    expect(mails()).toHaveLength(2)
    await ageAll('11 minutes')
    await ask()
    await settled()
    expect(mails()).toHaveLength(3)
    await enterBy(tokenIn(mails()[2]?.text))
    await ask()
    await settled()
    expect(mails()).toHaveLength(4)
  })

  it('sends at most 20 in 24 hours for all strangers together, and says so in the log and as a problem', async () => {
    await mailsBefore(19)
    const sentAfterAnother = async () => {
      await app.db.session.deleteMany()
      await ask()
      await settled()
      return mails().length
    }
    expect([await sentAfterAnother(), await sentAfterAnother(), await sentAfterAnother()]).toEqual([1, 1, 1])
    expect(app.countLogged('No more links to the desk')).toBe(1)
    const { problems } = await (await fetch(`${app.url}/statusz`)).json()
    expect(problems).toContain(
      'All links to the desk that strangers may ask for in a day are used up: was it one of us?',
    )
    await app.db.$executeRaw`UPDATE "Quvera_Mail" SET "FirstTriedAt" = "FirstTriedAt" - interval '25 hours'`
    expect(await sentAfterAnother()).toBe(2)
  })

  it('keeps to the budget, of which its mails are a part', async () => {
    const poor = await anApp({ dailyBudget: 4 })
    await mailsBefore(4, poor)
    poor.signIn.request({ address: STAFF, leadsTo: '/staff', browser: '' })
    await poor.signIn.close(60_000)
    expect(mails(poor)).toEqual([])
  })

  it('is limited for each client, to five a minute and twenty a day', async () => {
    const limited = await anApp({ mails: false, rateLimitMax: 10, trustProxy: ['127.0.0.1'] })
    vi.useFakeTimers({ toFake: ['performance'] })
    atEnd(() => vi.useRealTimers())
    const taken = async (address: string) => {
      const headers = { 'x-forwarded-for': address }
      const answers = Array.from({ length: 6 }, () => postStaff(limited.url, 'sign-in', { email: STAFF }, headers))
      return (await Promise.all(answers)).filter(({ status }) => status === 303).length
    }
    const inMinutes: number[] = []
    for (let minute = 0; minute < 5; minute++) {
      inMinutes.push(await taken('203.0.113.7'))
      vi.advanceTimersByTime(61_000)
    }
    expect(inMinutes).toEqual([5, 5, 5, 5, 0])
    expect(await taken('203.0.113.8')).toBe(5)
    await limited.signIn.close(60_000) // without a key nothing is sent
    expect([await limited.db.mail.count(), await limited.db.session.count()]).toEqual([0, 0])
  })
})

describe('a link', () => {
  it('changes nothing when a mail scanner opens it', async () => {
    const token = await aLink()
    for (const opened of [1, 2]) {
      const answer = await getStaff(app.url, `/enter?token=${token}`)
      expect([opened, answer.status]).toEqual([opened, 200])
      expect(await answer.text()).toMatch(new RegExp(`signs you in as <strong><bdi>${STAFF}</bdi>[^]*<button`))
    }
    for (const path of ['/enter?token=made-up', '/enter']) expect((await getStaff(app.url, path)).status).toBe(403)
    expect((await enterBy(token)).status).toBe(303)
  })

  it('works once, and not twice at once', async () => {
    const token = await aLink()
    const answers = await Promise.all(Array.from({ length: 8 }, () => enterBy(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(403)])
    expect(await (await enterBy(token)).text()).toContain('href="/staff/sign-in?to=/staff"')
    expect(await app.db.session.count({ where: { kind: 'Session' } })).toBe(1)
  })

  it.each([
    ['14 minutes', 303],
    ['16 minutes', 403],
    ['-30 seconds', 303],
    ['-2 minutes', 403], // the clock was set back
  ])('of %s ago: %i', async (age, status) => {
    const token = await aLink()
    await ageSessions(age)
    expect((await enterBy(token)).status).toBe(status)
  })

  it('replaces the session of the browser, and deletes what is over', async () => {
    const first = await enterDesk(app)
    await app.db.$executeRaw`INSERT INTO "Quvera_Session" ("Hash", "Kind", "Email", "At", "UsedAt")
      SELECT encode(sha256(gen_random_uuid()::text::bytea), 'hex'), kind::"Quvera_SessionKind", 'x', now() - age::interval, now() - used::interval
      FROM (VALUES ('Link', '16 minutes', '0'), ('Session', '15 days', '15 days'), ('Session', '-1 day', '0'), ('Session', '91 days', '0'),
        ('Browser', '181 days', '0'), ('Session', '80 days', '13 days')) AS v (kind, age, used)`
    const second = cookieOf(await enterBy(await aLink(), first))
    expect(await Promise.all([first, second].map(statusWith))).toEqual([303, 200])
    expect(await app.db.session.count({ where: { kind: 'Session' } })).toBe(2) // that of 80 days, and the new one
    expect(await app.db.session.count({ where: { kind: 'Link' } })).toBe(0)
  })
})

describe('a session', () => {
  it('has a cookie for this machine and port that scripts cannot read, and no second sign-in', async () => {
    const entered = await enterBy(await aLink())
    const { port } = new URL(app.url)
    const [session, browser] = entered.headers.getSetCookie()
    const rest = (seconds: number) => `=[\\w-]{43}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax$`
    expect(session).toMatch(new RegExp(`^quvera-desk-${port}${rest(1_209_600)}`))
    expect(browser).toMatch(new RegExp(`^quvera-browser-${port}${rest(15_552_000)}`))
    const cookie = cookieOf(entered)
    const [name, secret = ''] = cookie.split('=')
    expect(await app.db.session.findMany({ where: { kind: 'Session' } })).toMatchObject([
      { hash: hash('sha256', secret, 'hex') },
    ])
    const others = ['', 'x', 'x'.repeat(43), 'a; quvera'].map((value) => `${name}=${value}`)
    others.push(cookie.replace(port, String(Number(port) + 1)))
    expect(await Promise.all([cookie, ...others].map(statusWith))).toEqual([200, ...Array(5).fill(303)])
    const signIn = await getStaff(app.url, '/sign-in?to=/staff/QV-7K3M9P', { cookie })
    expect([signIn.status, signIn.headers.get('location')]).toEqual([303, '/staff/QV-7K3M9P'])
  })

  it.each([
    ['13 days', '89 days', 200],
    ['15 days', '20 days', 303],
    ['1 hour', '91 days', 303],
    ['-2 minutes', '0', 303], // the clock was set back
    ['0', '-2 minutes', 303],
  ])('last used %s ago, begun %s ago: %i', async (used, begun, status) => {
    const cookie = await enterDesk(app)
    await app.db.$executeRaw`
      UPDATE "Quvera_Session" SET "UsedAt" = now() - ${used}::interval, "At" = now() - ${begun}::interval`
    expect(await statusWith(cookie)).toBe(status)
    expect((await callDesk(app.url, cookie, 'list', { state: 'new' })).status).toBe(status === 200 ? 200 : 401)
  })

  it('is used once a day in the database, and its cookie is renewed with it', async () => {
    const cookie = await enterDesk(app)
    await app.db.$executeRaw`UPDATE "Quvera_Session" SET "UsedAt" = now() - interval '23 hours'`
    expect((await getStaff(app.url, '', { cookie })).headers.get('set-cookie')).toBeNull()
    await app.db.$executeRaw`UPDATE "Quvera_Session" SET "UsedAt" = now() - interval '13 days'`
    expect((await getStaff(app.url, '', { cookie })).headers.get('set-cookie')).toMatch(
      `${cookie}; Path=/; Max-Age=1209600;`,
    )
    expect((await getStaff(app.url, '', { cookie })).headers.get('set-cookie')).toBeNull()
  })

  it('or a link of an address that has left STAFF_EMAILS is over at its next request, and gone after the next start', async () => {
    expect((await enterBy(await aLink('left@quvera.test'))).status).toBe(403)
    const cookie = await enterDesk(app)
    await app.db.session.updateMany({ data: { email: 'left@quvera.test' } })
    expect((await callDesk(app.url, cookie, 'list', { state: 'new' })).status).toBe(401)
    expect(await statusWith(cookie)).toBe(303)
    const other = await enterDesk(app)
    const next = createSignIn(
      app.db,
      { ...readEnv({}), STAFF_EMAILS: [STAFF.toUpperCase()] },
      { warn() {}, error() {} },
    )
    await next.started
    await app.db.session.updateMany({ where: { email: 'left@quvera.test' }, data: { email: STAFF } }) // the address is back
    expect(await statusWith(cookie)).toBe(303)
    expect(await statusWith(other)).toBe(200)
  })

  it('ends by sign-out, everywhere on demand', async () => {
    const [one, two, three] = [await enterDesk(app), await enterDesk(app), await enterDesk(app)]
    const other = await enterDesk(app, { email: RAVI })
    const out = await postStaff(app.url, 'sign-out', {}, { cookie: one })
    expect([out.status, out.headers.get('location')]).toEqual([303, '/staff/sign-in'])
    expect(out.headers.get('set-cookie')).toMatch(/^quvera-desk-\d+=; Path=\/; Max-Age=0; /)
    const statuses = () => Promise.all([one, two, three, other].map(statusWith))
    expect(await statuses()).toEqual([303, 200, 200, 200])
    const four = await enterDesk(app)
    const { data } = await callDesk(app.url, four, 'pulse', { showing: [] })
    expect(data).toMatchObject({ you: STAFF, browsers: 3 })
    const others = await postStaff(app.url, 'sign-out', { others: 'yes' }, { cookie: four })
    expect([others.status, others.headers.get('location')]).toEqual([303, '/staff'])
    expect([await statusWith(four), ...(await statuses())]).toEqual([200, 303, 303, 303, 200])
    await postStaff(app.url, 'sign-out', { everywhere: 'yes' }, { cookie: four })
    expect([await statusWith(four), ...(await statuses())]).toEqual([303, 303, 303, 303, 200])
    expect(await app.db.session.findMany({ select: { email: true }, distinct: ['email'] })).toEqual([{ email: RAVI }])
  })
})

describe('which address', () => {
  it('with an https PUBLIC_URL only its host: other names lead there, whatever X-Forwarded-Host says', async () => {
    const forwarded = { 'x-forwarded-host': 'www.quvera.test' }
    for (const host of ['quvera.test', '203.0.113.7', 'localhost:3000', 'evil.example']) {
      const { text } = await sendTo(host, '/staff/sign-in?to=/staff', forwarded)
      expect(text).toMatch(/^HTTP\/1.1 308 /)
      expect(text).toContain(`\r\nlocation: ${HTTPS}/staff/sign-in?to=/staff\r\n`)
    }
    const absolute = await sendTo('evil.example', 'http://evil.example/staff')
    expect(absolute.text).toContain(`\r\nlocation: ${HTTPS}/staff\r\n`)
    expect((await sendTo('www.quvera.test', '/staff/sign-in')).status).toBe(200)
    expect((await sendTo('quvera.test', '/staff/sign-in', { origin: HTTPS }, 'email=x')).status).toBe(403)
  })

  it('over https has a cookie that no other host can set', async () => {
    const origin = { origin: HTTPS }
    await sendTo('www.quvera.test', '/staff/sign-in', origin, `email=${STAFF}`)
    await expect.poll(() => mails(publicApp)).toHaveLength(1)
    const [mail] = mails(publicApp)
    expect(mail?.text).toContain(`${HTTPS}/staff/enter?token=`)
    const entered = await sendTo('www.quvera.test', '/staff/enter', origin, `token=${tokenIn(mail?.text)}`)
    const [, cookie = '', rest] = /^set-cookie: (__Host-quvera-desk[^;]*)(.*)\r$/m.exec(entered.text) ?? []
    expect(cookie).toMatch(/^__Host-quvera-desk=[\w-]{43}$/)
    expect(rest).toBe('; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure')
    expect((await sendTo('www.quvera.test', '/staff', { cookie })).status).toBe(200)
  })

  it.each(['', 'http://quvera.test'])('with PUBLIC_URL %j only this machine', async (publicUrl) => {
    const local = await anApp({ publicUrl, mails: false })
    const signIn = (host: string, headers = {}, body?: string) => sendTo(host, '/staff/sign-in', headers, body, local)
    for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'localhost'])
      expect((await signIn(host)).status).toBe(200)
    for (const host of ['quvera.test', '192.168.1.7:3000', 'localhost.evil.example']) {
      expect(await signIn(host)).toMatchObject({ status: 403, text: expect.stringContaining('needs https') })
      expect((await signIn(host, { origin: `http://${host}` }, `email=${STAFF}`)).status).toBe(403)
    }
  })
})

describe('every POST', () => {
  const post = (path: string, headers: Record<string, string>, body = 'email=x') =>
    sendTo('www.quvera.test', path, headers, body)
  it.each<[string, Record<string, string>]>([
    ['neither Origin nor Sec-Fetch-Site', {}],
    ['Sec-Fetch-Site alone', { 'sec-fetch-site': 'same-origin' }],
    ['a foreign Origin', { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }],
    ['the own Origin from a foreign site', { origin: HTTPS, 'sec-fetch-site': 'cross-site' }],
    ['an alias as Origin', { origin: 'https://quvera.test', 'sec-fetch-site': 'same-origin' }],
    ['a hidden Origin', { origin: 'null' }],
    ['a hidden Origin from a foreign site', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ])('is refused with %s', async (_name, headers) => {
    for (const path of ['sign-in', 'enter', 'sign-out', 'enquiries.csv'])
      expect((await post(`/staff/${path}`, headers)).status).toBe(403)
    const json = { 'content-type': 'application/json', ...headers }
    expect((await post('/trpc/desk.list', json, '{"state":"new"}')).status).toBe(403)
  })

  it('is taken with a hidden Origin that the browser says is the own one', async () => {
    const headers = { origin: 'null', 'sec-fetch-site': 'same-origin' }
    expect((await post('/staff/sign-in', headers)).status).toBe(303)
  })
})

/** As a browser: keeps the cookies that it is given. */
function aBrowser(of = app) {
  const jar = new Map<string, string>()
  const keep = (answer: Response) => {
    for (const header of answer.headers.getSetCookie()) {
      const [pair = ''] = header.split(';')
      const [name = '', value = ''] = pair.split('=')
      if (value) jar.set(name, value)
      else jar.delete(name)
    }
    return answer
  }
  const headers = () => ({ cookie: [...jar].map((pair) => pair.join('=')).join('; ') })
  return {
    jar,
    open: async (path: string) => keep(await getStaff(of.url, path, headers())),
    post: async (path: string, fields: Record<string, string>) =>
      keep(await postStaff(of.url, path, fields, headers())),
    /** Opens a link and presses its button. */
    async enter(token: string) {
      await this.open(`/enter?token=${token}`)
      return this.post('enter', { token })
    },
    async ask(email = STAFF) {
      await this.post('sign-in', { email })
      await of.signIn.close(60_000)
    },
  }
}

describe('a browser that has entered before', () => {
  it('has ten links a day of its own, whatever strangers have used up', async () => {
    const browser = aBrowser()
    await browser.enter(await aLink())
    await mailsBefore(20)
    for (let link = 1; link <= 11; link++) {
      await app.db.session.deleteMany({ where: { kind: 'Link' } })
      await browser.ask()
      expect(mails()).toHaveLength(Math.min(link, 10))
    }
    await browser.ask(RAVI) // it counts for its own person only
    expect(mails()).toHaveLength(10)
  })

  it('is not held up by a budget that strangers have used up', async () => {
    const poor = await anApp({ dailyBudget: 4 })
    const browser = aBrowser(poor)
    await browser.enter(await createLink(poor.db, { email: STAFF, leadsTo: '/staff' }))
    await mailsBefore(4, poor)
    await browser.ask()
    expect(mails(poor)).toHaveLength(1)
  })

  it('is held up by no limit of clients, and answered like a stranger', async () => {
    const limited = await anApp({ rateLimitMax: 10 })
    await limited.signIn.started
    const browser = aBrowser(limited)
    await browser.enter(await createLink(limited.db, { email: STAFF, leadsTo: '/staff' }))
    const strangers = await Promise.all(
      Array.from({ length: 7 }, () => postStaff(limited.url, 'sign-in', { email: STAFF })),
    )
    expect(strangers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(303), 429, 429])
    const answer = await browser.post('sign-in', { email: ` ${STAFF.toUpperCase()}` })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/staff/sign-in?sent'])
    expect((await browser.post('sign-in', { email: RAVI })).status).toBe(429)
    await limited.signIn.close(60_000)
    const again = createSignIn(limited.db, { ...readEnv({}), STAFF_EMAILS: [STAFF] }, { warn() {}, error() {} })
    await again.started // another process knows it too
    const [secret = ''] = [...browser.jar].flatMap(([name, value]) => (name.includes('browser') ? [value] : []))
    expect(again.isKnown({ address: STAFF, browser: secret })).toBe(true)
    expect(again.isKnown({ address: RAVI, browser: secret })).toBe(false)
  })

  it('lets nobody in, is forgotten by “everywhere”, and five of an address are known', async () => {
    const browsers = Array.from({ length: 6 }, () => aBrowser())
    for (const browser of browsers) {
      await browser.enter(await aLink())
      browser.jar.delete(`quvera-desk-${new URL(app.url).port}`)
      expect((await browser.open('')).status).toBe(303)
    }
    const known = () => app.db.session.count({ where: { kind: 'Browser' } })
    expect(await known()).toBe(5)
    await postStaff(app.url, 'sign-out', { everywhere: 'yes' }, { cookie: await enterDesk(app) })
    expect(await known()).toBe(0)
  })
})

describe('the page behind a link', () => {
  it('names whom it signs in, and whose session in this browser it ends', async () => {
    const browser = aBrowser()
    await browser.enter(await aLink())
    const own = await (await browser.open(`/enter?token=${await aLink()}`)).text()
    expect(own).toContain(`signs you in as <strong><bdi>${STAFF}</bdi>`)
    expect(own).not.toContain('that session ends')
    const others = await (await browser.open(`/enter?token=${await aLink(RAVI)}`)).text()
    expect(others).toContain(`signs you in as <strong><bdi>${RAVI}</bdi>`)
    expect(others).toContain(`<bdi>${STAFF}</bdi> is signed in: that session ends`)
  })

  it('pressed twice signs in, in the same browser and within a minute only', async () => {
    const token = await aLink()
    const browser = aBrowser()
    const first = await browser.enter(token)
    browser.jar.delete(`quvera-desk-${new URL(app.url).port}`) // its answer was lost
    expect((await enterBy(token)).status).toBe(403)
    const second = await browser.post('enter', { token })
    expect([first.status, second.status, second.headers.get('location')]).toEqual([303, 303, '/staff'])
    expect((await browser.open('')).status).toBe(200)
    expect(await app.db.session.count({ where: { kind: 'Session' } })).toBe(1)
    browser.jar.delete(`quvera-desk-${new URL(app.url).port}`)
    expect((await browser.post('enter', { token })).status).toBe(403) // twice is not three times

    const late = await aLink()
    await browser.enter(late)
    await ageSessions('2 minutes')
    browser.jar.delete(`quvera-desk-${new URL(app.url).port}`)
    expect((await browser.post('enter', { token: late })).status).toBe(403)
  })

  it('of a used link leads on where that person is signed in, and nobody else', async () => {
    const token = await aLink()
    const [own, ravis] = [aBrowser(), aBrowser()]
    await own.enter(token)
    await ravis.enter(await aLink(RAVI))
    await ageSessions('1 hour')
    const opened = await own.open(`/enter?token=${token}`)
    const pressed = await own.post('enter', { token })
    expect([opened, pressed].map(({ status, headers }) => [status, headers.get('location')])).toEqual([
      [303, '/staff'],
      [303, '/staff'],
    ])
    expect((await ravis.open(`/enter?token=${token}`)).status).toBe(403)
    expect((await ravis.open('/enter?token=made-up')).status).toBe(403)
  })

  it('is told by a browser that refuses cookies, and uses up no link', async () => {
    const token = await aLink()
    const headers = { host: new URL(app.url).host, origin: app.url, 'sec-fetch-mode': 'navigate' }
    const pressed = await sendTo(headers.host, '/staff/enter', headers, `token=${token}`, app)
    expect(pressed).toMatchObject({ status: 403, text: expect.stringContaining('refuses cookies') })
    expect((await aBrowser().enter(token)).status).toBe(303)
  })
})

describe('“Look into your inbox”', () => {
  const pasted = async (link: string) => {
    const { status, headers } = await postStaff(app.url, 'enter/pasted', { link })
    return [status, headers.get('location')]
  }
  it('names what was typed, and says so where the browser has not kept it', async () => {
    const browser = aBrowser()
    const typed = '<i>asha@shop.example'
    const { headers } = await browser.post('sign-in', { email: typed, to: '/staff/QV-7K3M9P' })
    expect(headers.get('location')).not.toContain('asha')
    const page = await (await browser.open('/sign-in?sent&to=/staff/QV-7K3M9P')).text()
    expect(page).toContain('<bdi>&lt;i&gt;asha@shop.example</bdi>')
    expect(page).toContain('href="/staff/sign-in?to=/staff/QV-7K3M9P"')
    expect(await (await browser.open('/sign-in?to=/staff')).text()).toContain('value="&lt;i&gt;asha@shop.example"')
    expect(await (await getStaff(app.url, '/sign-in?sent')).text()).toContain('refuses cookies')
  })

  it('takes a pasted link of this desk, also inside that of a mail scanner, and no other', async () => {
    const token = `${'a'.repeat(42)}-`
    const link = `${app.url}/staff/enter?token=${token}`
    const scanner = `https://scanner.example/?url=${encodeURIComponent(link)}&data=05%7C02&reserved=0`
    const twice = `https://scanner.example/v3/__${encodeURIComponent(encodeURIComponent(link))}__;!!x`
    for (const text of [link, ` \n${link} `, `<${link}>`, scanner, twice])
      expect(await pasted(text)).toEqual([303, `/staff/enter?token=${token}`])
    const refused = [
      '',
      token,
      link.replace('/staff', '/evil'),
      link.slice(0, -1),
      `${link}a`,
      `https://evil.example/staff/enter?token=${token}`,
      `https://evil.example/x${new URL(link).host}/staff/enter?token=${token}`,
      '%',
    ]
    for (const text of refused) expect(await pasted(text)).toEqual([400, null])
  })
})

it.each([`\u202d${STAFF}\u202c`, `\ufeff ${STAFF}\u200b `])('an address pasted as %j gets its link', async (typed) => {
  await ask(typed)
  await settled()
  expect(mails().map(({ to }) => to)).toEqual([STAFF])
})

describe('a link that Resend', () => {
  it.each(['html', 'reset'] as const)('does not take at first (%s) is tried again under its key', async (behaviour) => {
    app.resend.behaviour = behaviour
    await ask()
    await expect.poll(() => app.resend.calls.all).toBeGreaterThan(1)
    app.resend.behaviour = 'accept'
    await settled()
    expect(mails()).toHaveLength(1)
    expect(await app.db.mail.findMany()).toMatchObject([{ status: 'Sent', tag: mails()[0]?.key }])
  })

  it('never answers for is followed by another when asked again a minute later', async () => {
    app.resend.behaviour = 'html'
    await ask()
    await settled()
    expect(await app.db.mail.findMany()).toMatchObject([{ status: 'Unknown' }])
    app.resend.behaviour = 'accept'
    await ask()
    await settled()
    expect(mails()).toEqual([]) // it is younger than a minute
    await ageAll('61 seconds')
    await ask()
    await settled()
    expect(mails()).toHaveLength(1)
  })

  it('has taken leads where was asked for last', async () => {
    await ask(STAFF, '/staff')
    await settled()
    await ask(STAFF, '/staff/QV-7K3M9P')
    await settled()
    expect(mails()).toHaveLength(1)
    expect((await enterBy(tokenIn(mails()[0]?.text))).headers.get('location')).toBe('/staff/QV-7K3M9P')
  })
})

it('entering and leaving have a line each in the access log, and refusals one a minute in the log', async () => {
  const cookie = await enterDesk(app)
  await callDesk(app.url, `${cookie}x`, 'list', { state: 'new' })
  await callDesk(app.url, cookie, 'list', { state: 'new' }, { origin: 'https://evil.example' })
  for (const token of ['made-up', 'x'.repeat(43)]) await enterBy(token)
  await postStaff(app.url, 'sign-out', {}, { cookie })
  const lines = await app.db.access.findMany({ orderBy: { at: 'asc' } })
  expect(lines.map(({ who, command }) => `${who}: ${command}`)).toEqual([
    `${STAFF}: desk enter`,
    `${STAFF}: desk sign-out`,
  ])
  const counted = await startTestApp({ mails: false })
  await postStaff(counted.url, 'enter', { token: 'made-up' })
  await callDesk(counted.url, '', 'list', {})
  await callDesk(counted.url, '', 'list', {})
  expect(counted.countLogged('the desk refused')).toBe(0)
  await counted.close()
  const refused = counted.logLines.map((line) => JSON.parse(line)).filter(({ refused }) => refused)
  expect(refused).toMatchObject([{ level: 40, refused: { link: 1, session: 2 } }])
})

it('`staff sign-out` ends the sessions of an address, or all', async () => {
  const [one, two] = [await enterDesk(app), await enterDesk(app, { email: RAVI })]
  const env = { ...app.env, STAFF_EMAILS: STAFF }
  expect(await staff(['sign-out', RAVI.toUpperCase()], env)).toMatchObject({
    code: 0,
    stdout: `Ended 1 session of ${RAVI.toUpperCase()}.\n`,
  })
  expect(await Promise.all([one, two].map(statusWith))).toEqual([200, 303])
  expect((await staff(['sign-out', 'ravy@quvera.test'], env)).stdout).toContain('or it is spelt otherwise')
  expect(await staff(['sign-out'], env)).toMatchObject({ code: 0, stdout: 'Ended 1 session.\n' })
  expect(await statusWith(one)).toBe(303)
  expect(await app.db.session.count()).toBe(0)
})

it('tokens, sessions and addresses are in no log line, metric or backup, and a restore ends what was there', async () => {
  await ask()
  await settled()
  const token = tokenIn(mails()[0]?.text)
  await getStaff(app.url, `/enter?token=${token}`)
  const cookie = cookieOf(await enterBy(token))
  await callDesk(app.url, cookie, 'list', { state: 'new', text: 'a searched name' })
  const secret = cookie.split('=')[1] ?? ''
  const file = join(await aFolder('quvera-desk-'), 'backup.gz')
  expect((await staff(['backup', file], app.env)).code).toBe(0)
  const backup = gunzipSync(await readFile(file)).toString()
  expect(backup).toContain('Quvera_Mail')
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  expect(metrics).toContain('desk.list')
  for (const text of [app.logLines.join(''), backup, metrics])
    for (const hidden of [token, secret, hash('sha256', secret, 'hex'), 'a searched name'])
      expect(text).not.toContain(hidden)
  expect(app.logLines.join('')).not.toContain(STAFF)

  const { db, env } = await anOpenDatabase()
  await createLink(db, { email: STAFF, leadsTo: '/staff' })
  expect(await staff(['restore', file], env)).toMatchObject({ code: 0 })
  expect(await db.session.count()).toBe(0)
})

it.each([
  [[], STAFF, ''],
  [['RAVI@quvera.test'], RAVI, HTTPS],
])(
  '`staff sign-in %j` prints a link for %s, which leads to PUBLIC_URL %s, and mails none',
  async (args, email, PUBLIC_URL) => {
    const env = { ...app.env, STAFF_EMAILS: `${STAFF},${RAVI}`, PUBLIC_URL, PORT: '3000' }
    const { code, stdout } = await staff(['sign-in', ...args], env)
    const [address, token = ''] = stdout.trim().split('token=')
    expect([code, address]).toEqual([0, `${PUBLIC_URL || 'http://localhost:3000'}/staff/enter?`])
    expect((await enterBy(token)).status).toBe(303)
    expect(await app.db.session.findMany({ where: { kind: 'Session' } })).toMatchObject([{ email, byTerminal: true }])
    expect(await app.db.mail.count()).toBe(0)
  },
)

it.each([
  ['sign-in', 'stranger@shop.example is not one of STAFF_EMAILS, so it may not enter the desk.'],
  ...['list', 'show', 'status', 'note'].map((name) => [
    name,
    `\`${name}\` is done at the desk now: npm run -s staff -- sign-in prints a link to it.`,
  ]),
])('`staff %s` is refused in one sentence', async (name, sentence) => {
  const refused = await staff([name, 'stranger@shop.example'], { ...app.env, STAFF_EMAILS: STAFF })
  expect(refused).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` })
  expect(await app.db.session.count()).toBe(0)
})
