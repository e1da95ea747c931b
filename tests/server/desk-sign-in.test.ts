// Who gets into the desk: each sentence of "Who gets in" has a test here.
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createLink } from '../../server/desk/sessions.ts'
import { aFolder } from '../support/a-folder.ts'
import { atEnd } from '../support/at-end.ts'
import { callDesk, cookieOf, enterDesk, getStaff, postStaff } from '../support/desk.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anApp, anOpenDatabase, theApp } from '../support/fixtures.ts'
import { sendAs } from '../support/raw-request.ts'
import { freePort } from '../support/server-process.ts'
import { staff } from '../support/staff-command.ts'

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
  await vi.waitFor(() => expect(requested).toHaveBeenCalledTimes(taken))
  await app.signIn.close(5000)
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
    const link = { hash: hash('sha256', token, 'hex'), isLink: true, email: STAFF, leadsTo: '/staff/QV-7K3M9P' }
    expect(await app.db.session.findMany()).toMatchObject([link])
    const entered = await enterBy(token)
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/staff/QV-7K3M9P'])
  })

  it('answers everybody with the same bytes, before the database is asked', async () => {
    await app.db.$executeRaw`ALTER TABLE "Quvera_Session" RENAME TO gone` // every statement fails
    const answers = await Promise.all([STAFF, 'stranger@shop.example', 'no address', ''].map((email) => ask(email)))
    await settled()
    await app.db.$executeRaw`ALTER TABLE gone RENAME TO "Quvera_Session"`
    const bytes = answers.map(async ({ status, headers }, index) => {
      const kept = [...headers].filter(([name]) => name !== 'date')
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
    await ageSessions('11 minutes')
    await ask()
    await settled()
    expect(mails()).toHaveLength(3)
    await enterBy(tokenIn(mails()[2]?.text))
    await ask()
    await settled()
    expect(mails()).toHaveLength(4)
  })

  it('sends at most 20 in 24 hours for all together, and says so in the log once', async () => {
    await mailsBefore(19)
    const sentAfterAnother = async () => {
      await app.db.session.deleteMany()
      await ask()
      await settled()
      return mails().length
    }
    expect([await sentAfterAnother(), await sentAfterAnother(), await sentAfterAnother()]).toEqual([1, 1, 1])
    expect(app.countLogged('No more links to the desk')).toBe(1)
    await app.db.$executeRaw`UPDATE "Quvera_Mail" SET "FirstTriedAt" = "FirstTriedAt" - interval '25 hours'`
    expect(await sentAfterAnother()).toBe(2)
  })

  it('keeps to the budget, of which its mails are a part', async () => {
    const poor = await anApp({ dailyBudget: 4 })
    await mailsBefore(4, poor)
    poor.signIn.request(STAFF, '/staff')
    await poor.signIn.close(5000)
    expect(mails(poor)).toEqual([])
  })

  it('is limited for each client, to five a minute and twenty a day', async () => {
    const limited = await anApp({ mails: false, rateLimitMax: 10, trustProxy: ['127.0.0.1'] })
    vi.useFakeTimers({ toFake: ['Date'] })
    atEnd(() => vi.useRealTimers())
    const taken = async (address: string) => {
      const headers = { 'x-forwarded-for': address }
      const answers = Array.from({ length: 6 }, () => postStaff(limited.url, 'sign-in', { email: STAFF }, headers))
      return (await Promise.all(answers)).filter(({ status }) => status === 303).length
    }
    const inMinutes: number[] = []
    for (let minute = 0; minute < 5; minute++) {
      inMinutes.push(await taken('203.0.113.7'))
      vi.setSystemTime(Date.now() + 61_000)
    }
    expect(inMinutes).toEqual([5, 5, 5, 5, 0])
    expect(await taken('203.0.113.8')).toBe(5)
    await limited.signIn.close(5000) // without a key nothing is sent
    expect([await limited.db.mail.count(), await limited.db.session.count()]).toEqual([0, 0])
  })
})

describe('a link', () => {
  it('changes nothing when a mail scanner opens it', async () => {
    const token = await aLink()
    for (const path of [`/enter?token=${token}`, '/enter?token=made-up', '/enter']) {
      const answer = await getStaff(app.url, path)
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null])
      expect(await answer.text()).toContain('<button')
    }
    expect((await enterBy(token)).status).toBe(303)
  })

  it('works once, and not twice at once', async () => {
    const token = await aLink()
    const answers = await Promise.all(Array.from({ length: 8 }, () => enterBy(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(403)])
    expect(await (await enterBy(token)).text()).toContain('href="/staff/sign-in"')
    expect(await app.db.session.count()).toBe(1)
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
    await app.db.$executeRaw`INSERT INTO "Quvera_Session" ("Hash", "IsLink", "Email", "At")
      SELECT encode(sha256(gen_random_uuid()::text::bytea), 'hex'), is_link, 'x', now() - age::interval
      FROM (VALUES (TRUE, '16 minutes'), (FALSE, '15 days'), (FALSE, '-1 day'), (FALSE, '13 days')) AS v (is_link, age)`
    const second = cookieOf(await enterBy(await aLink(), first))
    expect(await Promise.all([first, second].map(statusWith))).toEqual([303, 200])
    expect(await app.db.session.count()).toBe(2) // that of 13 days, and the new one
  })
})

describe('a session', () => {
  it('has a cookie for this machine and port that scripts cannot read, and no second sign-in', async () => {
    const entered = await enterBy(await aLink())
    const { port } = new URL(app.url)
    expect(entered.headers.get('set-cookie')).toMatch(
      new RegExp(`^quvera-desk-${port}=[\\w-]{43}; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax$`),
    )
    const cookie = cookieOf(entered)
    const [name, secret = ''] = cookie.split('=')
    expect(await app.db.session.findMany()).toMatchObject([{ hash: hash('sha256', secret, 'hex'), isLink: false }])
    const others = ['', 'x', 'x'.repeat(43), 'a; quvera'].map((value) => `${name}=${value}`)
    others.push(cookie.replace(port, String(Number(port) + 1)))
    expect(await Promise.all([cookie, ...others].map(statusWith))).toEqual([200, ...Array(5).fill(303)])
    const signIn = await getStaff(app.url, '/sign-in', { cookie })
    expect([signIn.status, signIn.headers.get('location')]).toEqual([303, '/staff'])
  })

  it.each([
    ['13 days', 200],
    ['15 days', 303],
    ['-2 minutes', 303], // the clock was set back
  ])('of %s ago: %i', async (age, status) => {
    const cookie = await enterDesk(app)
    await ageSessions(age)
    expect(await statusWith(cookie)).toBe(status)
    expect((await callDesk(app.url, cookie, 'list', { state: 'new' })).status).toBe(status === 200 ? 200 : 401)
  })

  it('or a link of an address that has left STAFF_EMAILS is over at its next request', async () => {
    expect((await enterBy(await aLink('left@quvera.test'))).status).toBe(403)
    const cookie = await enterDesk(app)
    await app.db.session.updateMany({ data: { email: 'left@quvera.test' } })
    expect((await callDesk(app.url, cookie, 'list', { state: 'new' })).status).toBe(401)
    expect(await statusWith(cookie)).toBe(303)
  })

  it('ends by sign-out, everywhere on demand', async () => {
    const [one, two, three] = [await enterDesk(app), await enterDesk(app), await enterDesk(app)]
    const other = await enterDesk(app, { email: RAVI })
    const out = await postStaff(app.url, 'sign-out', {}, { cookie: one })
    expect([out.status, out.headers.get('location')]).toEqual([303, '/staff/sign-in'])
    expect(out.headers.get('set-cookie')).toMatch(/^quvera-desk-\d+=; Path=\/; Max-Age=0; /)
    const statuses = () => Promise.all([one, two, three, other].map(statusWith))
    expect(await statuses()).toEqual([303, 200, 200, 200])
    await postStaff(app.url, 'sign-out', { everywhere: 'yes' }, { cookie: two })
    expect(await statuses()).toEqual([303, 303, 303, 200])
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
    await vi.waitFor(() => expect(mails(publicApp)).toHaveLength(1), 5000)
    const [mail] = mails(publicApp)
    expect(mail?.text).toContain(`${HTTPS}/staff/enter?token=`)
    const entered = await sendTo('www.quvera.test', '/staff/enter', origin, `token=${tokenIn(mail?.text)}`)
    const [, cookie = '', rest] = /^set-cookie: ([^;]*)(.*)\r$/m.exec(entered.text) ?? []
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
    expect(await app.db.session.findMany()).toMatchObject([{ email, byTerminal: true, isLink: false }])
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
