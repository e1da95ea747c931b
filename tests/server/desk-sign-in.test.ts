// Who gets into the desk: each sentence of "Who gets in" has a test here.
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { createLink } from '../../server/desk/sessions.ts'
import { aFolder } from '../support/a-folder.ts'
import { callDesk, cookieOf, enterDesk, getStaff, postStaff } from '../support/desk.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anApp, anOpenDatabase } from '../support/fixtures.ts'
import { say } from '../support/raw-request.ts'
import { freePort } from '../support/server-process.ts'
import { staff } from '../support/staff-command.ts'

type App = Awaited<ReturnType<typeof anApp>>
const HTTPS = 'https://www.quvera.test'

/** Mails of the desk that the fake Resend got. */
const links = (app: App) => app.resend.mails.filter(({ subject }) => subject.includes('desk'))
const tokenIn = (text = '') => /token=([\w-]+)/.exec(text)?.[1] ?? ''

async function ask(app: App, email = STAFF, to = '/staff', headers = {}) {
  return postStaff(app.url, 'sign-in', { email, to }, headers)
}

/** What was begun after the answer is done. */
async function settled(app: App) {
  await new Promise((done) => setTimeout(done, 50))
  await app.signIn.close(5000)
}

/** As through a proxy, under any name: fetch sets Host itself. */
function ask443(app: App, path: string, headers: Record<string, string>, body?: string) {
  const { port } = new URL(app.url)
  return new Promise<{ status: number; headers: Record<string, string | string[] | undefined>; text: string }>(
    (done, fail) => {
      const sent = request(
        { host: '127.0.0.1', port, path, method: body === undefined ? 'GET' : 'POST', headers },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8').on('data', (chunk) => (text += chunk))
          answer.on('end', () => done({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
        },
      )
      sent.on('error', fail).end(body)
    },
  )
}
const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('a page of the desk without a session', () => {
  it('leads to sign-in, which leads back to it', async () => {
    const app = await anApp()
    for (const [path, to] of [
      ['', '/staff'],
      ['/QV-7K3M9P', '/staff/QV-7K3M9P'],
      ['/anything/else', '/staff'],
    ]) {
      const answer = await getStaff(app.url, path)
      expect([answer.status, answer.headers.get('location')]).toEqual([303, `/staff/sign-in?to=${to}`])
    }
    const text = await (await getStaff(app.url, '/sign-in?to=/staff/QV-7K3M9P')).text()
    expect(text).toContain('name="to" value="/staff/QV-7K3M9P"')
  })

  it.each([
    '//evil.example',
    '/\\evil',
    '/staff/../x',
    '/staff/QV-7K3M9P/../../x',
    'https://evil.example',
    '/staff/"><b>',
  ])('is never led to %s', async (to) => {
    const app = await anApp()
    const text = await (await getStaff(app.url, `/sign-in?to=${encodeURIComponent(to)}`)).text()
    expect(text).toContain('name="to" value="/staff"')
    await ask(app, STAFF, to)
    await settled(app)
    const entered = await postStaff(app.url, 'enter', { token: tokenIn(links(app)[0]?.text) })
    expect(entered.headers.get('location')).toBe('/staff')
  })

  it('has headers that keep it to itself', async () => {
    const app = await anApp()
    for (const answer of [
      await getStaff(app.url),
      await getStaff(app.url, '/sign-in'),
      await getStaff(app.url, '/enter?token=x'),
    ]) {
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('x-robots-tag')).toBe('noindex')
      expect(answer.headers.get('referrer-policy')).toBe('same-origin')
      expect(answer.headers.get('x-frame-options')).toBe('DENY')
      expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    }
  })
})

describe('asking for a link', () => {
  it('mails it, to staff in any case, and records the mail without the token', async () => {
    const app = await anApp()
    await ask(app, ` ${STAFF.toUpperCase()} `, '/staff/QV-7K3M9P')
    await settled(app)
    const [mail] = links(app)
    expect(mail?.to).toEqual([STAFF])
    const token = tokenIn(mail?.text)
    expect(token).toMatch(/^[\w-]{43}$/)
    const [row] = await app.db.mail.findMany()
    expect(row).toMatchObject({ kind: 'SignIn', to: STAFF, status: 'Sent', attempts: 1, tag: mail?.key })
    const [session] = await app.db.session.findMany()
    expect(session).toMatchObject({
      hash: hash('sha256', token, 'hex'),
      isLink: true,
      email: STAFF,
      leadsTo: '/staff/QV-7K3M9P',
    })
    const entered = await postStaff(app.url, 'enter', { token })
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/staff/QV-7K3M9P'])
  })

  it('answers everybody with the same bytes, before the database is asked', async () => {
    const app = await anApp()
    await app.db.$executeRaw`ALTER TABLE "Quvera_Session" RENAME TO gone` // every statement fails
    const answers = await Promise.all([
      ask(app),
      ask(app, 'stranger@shop.example'),
      ask(app, 'no address'),
      ask(app, ''),
    ])
    const seen = await Promise.all(
      answers.map(async (answer) => [
        answer.status,
        await answer.text(),
        [...answer.headers].filter(([name]) => name !== 'date'),
      ]),
    )
    for (const each of seen) expect(each).toEqual(seen[0])
    expect(answers[0]?.headers.get('location')).toBe('/staff/sign-in?sent')
    await settled(app)
    await app.db.$executeRaw`ALTER TABLE gone RENAME TO "Quvera_Session"`
    expect(links(app)).toEqual([])
  })

  it('answers staff and strangers in the same time, also when Resend hangs', async () => {
    const app = await anApp()
    app.resend.behaviour = { slowMs: 2000 }
    const time = async (email: string) => {
      const start = performance.now()
      await ask(app, email)
      return performance.now() - start
    }
    expect(await time(STAFF)).toBeLessThan(500)
    expect(await time('stranger@shop.example')).toBeLessThan(500)
  })

  it('sends no second link within ten minutes while the first is unused, from whomever they come', async () => {
    const app = await anApp({ staff: [STAFF, 'ravi@quvera.test'] })
    await Promise.all([ask(app), ask(app), ask(app)])
    await settled(app)
    await ask(app, 'ravi@quvera.test')
    await settled(app)
    expect(
      links(app)
        .map(({ to }) => to[0])
        .sort(),
    ).toEqual(['ravi@quvera.test', STAFF])
    await app.db.$executeRaw`UPDATE "Quvera_Session" SET "At" = now() - interval '11 minutes'`
    await ask(app)
    await settled(app)
    expect(links(app)).toHaveLength(3)
    await postStaff(app.url, 'enter', { token: tokenIn(links(app)[2]?.text) })
    await ask(app)
    await settled(app)
    expect(links(app)).toHaveLength(4)
  })

  it('sends at most 20 in 24 hours for all together, and says so in the log once', async () => {
    const app = await anApp()
    await app.db.$executeRaw`INSERT INTO "Quvera_Mail" ("Kind", "To", "Status", "DueAt", "FirstTriedAt", "SentAt")
      SELECT 'SignIn', 'other@quvera.test', 'Sent', NULL, now() - interval '1 hour', now() FROM generate_series(1, 19)`
    const again = async () => {
      await app.db.session.deleteMany()
      await ask(app)
      await settled(app)
    }
    await again()
    expect(links(app)).toHaveLength(1)
    await again()
    await again()
    expect(links(app)).toHaveLength(1)
    expect(app.countLogged('No more links to the desk')).toBe(1)
    await app.db.$executeRaw`UPDATE "Quvera_Mail" SET "FirstTriedAt" = "FirstTriedAt" - interval '25 hours'`
    await again()
    expect(links(app)).toHaveLength(2)
  })

  it('keeps to the budget, of which its mails are a part', async () => {
    const app = await anApp({ dailyBudget: 4 })
    await app.db.$executeRaw`INSERT INTO "Quvera_Mail" ("Kind", "To", "Status", "DueAt", "FirstTriedAt", "SentAt")
      SELECT 'SignIn', 'other@quvera.test', 'Sent', NULL, now() - interval '1 hour', now() FROM generate_series(1, 4)`
    await ask(app)
    await settled(app)
    expect(links(app)).toEqual([])
  })

  it('is not held up for ten minutes by a mail that Resend has refused', async () => {
    const app = await anApp()
    app.resend.behaviour = { status: 403, name: 'validation_error', message: 'The domain is not verified' }
    await ask(app)
    await settled(app)
    expect(await app.db.session.count()).toBe(0)
    expect(await app.db.mail.findMany()).toMatchObject([{ kind: 'SignIn', status: 'Failed' }])
    app.resend.behaviour = 'accept'
    await ask(app)
    await settled(app)
    expect(links(app)).toHaveLength(1)
  })

  it('is limited for each client, to five a minute and twenty a day', async () => {
    const app = await anApp({ rateLimitMax: 10, trustProxy: ['127.0.0.1'] })
    const from = { 'x-forwarded-for': '203.0.113.7' }
    for (let time = 0; time < 5; time++) expect((await ask(app, 'x@shop.example', '/staff', from)).status).toBe(303)
    const refused = await ask(app, 'x@shop.example', '/staff', from)
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await ask(app, 'x@shop.example', '/staff', { 'x-forwarded-for': '203.0.113.8' })).status).toBe(303)
  })

  it('is limited to twenty a day, while only the limits of mails hold with RATE_LIMIT_MAX=0', async () => {
    const app = await anApp({ rateLimitMax: 10 })
    const now = Date.now
    let minutes = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + minutes * 61_000)
    const statuses: number[] = []
    for (; minutes < 5; minutes++)
      for (let time = 0; time < 5; time++) statuses.push((await ask(app, 'x@shop.example')).status)
    clock.mockRestore()
    expect(statuses).toEqual([...Array(20).fill(303), ...Array(5).fill(429)])
    const unlimited = await anApp()
    for (let time = 0; time < 30; time++) expect((await ask(unlimited, 'x@shop.example')).status).toBe(303)
  })

  it('sends nothing without a key', async () => {
    const app = await anApp({ mails: false })
    expect((await ask(app)).status).toBe(303)
    await settled(app)
    expect([await app.db.mail.count(), await app.db.session.count()]).toEqual([0, 0])
  })
})

describe('a link', () => {
  it('changes nothing when a mail scanner opens it', async () => {
    const app = await anApp()
    const token = await createLink(app.db, { email: STAFF, leadsTo: '/staff' })
    for (const path of [`/enter?token=${token}`, '/enter?token=made-up', '/enter']) {
      const answer = await getStaff(app.url, path)
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null])
      expect(await answer.text()).toContain('<button')
    }
    expect(await app.db.session.count()).toBe(1)
    expect((await postStaff(app.url, 'enter', { token })).status).toBe(303)
  })

  it('works once, and not twice at once', async () => {
    const app = await anApp()
    const token = await createLink(app.db, { email: STAFF, leadsTo: '/staff' })
    const answers = await Promise.all(Array.from({ length: 8 }, () => postStaff(app.url, 'enter', { token })))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(403)])
    const refused = answers.find(({ status }) => status === 403)
    expect(await refused?.text()).toContain('href="/staff/sign-in"')
    expect(await app.db.session.count()).toBe(1)
  })

  it.each([
    ['14 minutes', 303],
    ['16 minutes', 403],
    ['-30 seconds', 303],
    ['-2 minutes', 403], // the clock was set back
  ])('of %s ago: %i', async (age, status) => {
    const app = await anApp()
    const token = await createLink(app.db, { email: STAFF, leadsTo: '/staff' })
    await app.db.$executeRaw`UPDATE "Quvera_Session" SET "At" = now() - ${age}::interval`
    expect((await postStaff(app.url, 'enter', { token })).status).toBe(status)
  })

  it('of an address that has left STAFF_EMAILS no longer works', async () => {
    const app = await anApp()
    const token = await createLink(app.db, { email: 'left@quvera.test', leadsTo: '/staff' })
    expect((await postStaff(app.url, 'enter', { token })).status).toBe(403)
  })

  it('replaces the session of the browser', async () => {
    const app = await anApp()
    const first = await enterDesk(app)
    const token = await createLink(app.db, { email: STAFF, leadsTo: '/staff' })
    const second = cookieOf(await postStaff(app.url, 'enter', { token }, { cookie: first }))
    expect((await getStaff(app.url, '', { cookie: first })).status).toBe(303)
    expect((await getStaff(app.url, '', { cookie: second })).status).toBe(200)
    expect(await app.db.session.count()).toBe(1)
  })

  it('deletes what is over when it is used', async () => {
    const app = await anApp()
    for (const [isLink, age] of [
      [true, '16 minutes'],
      [false, '15 days'],
      [false, '-1 day'],
      [false, '13 days'],
    ] as const)
      await app.db.$executeRaw`INSERT INTO "Quvera_Session" ("Hash", "IsLink", "Email", "At")
        VALUES (encode(sha256(gen_random_uuid()::text::bytea), 'hex'), ${isLink}, 'x', now() - ${age}::interval)`
    await enterDesk(app)
    expect(await app.db.session.count()).toBe(2) // that of 13 days, and the new one
  })
})

describe('a session', () => {
  it('has a cookie for this machine and port that scripts cannot read', async () => {
    const app = await anApp()
    const token = await createLink(app.db, { email: STAFF, leadsTo: '/staff' })
    const entered = await postStaff(app.url, 'enter', { token })
    const { port } = new URL(app.url)
    expect(entered.headers.get('set-cookie')).toMatch(
      new RegExp(`^quvera-desk-${port}=[\\w-]{43}; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax$`),
    )
    const ofAnotherPort = cookieOf(entered).replace(port, String(Number(port) + 1))
    expect((await getStaff(app.url, '', { cookie: cookieOf(entered) })).status).toBe(200)
    expect((await getStaff(app.url, '', { cookie: ofAnotherPort })).status).toBe(303)
  })

  it('is nowhere in the database, only its hash is', async () => {
    const app = await anApp()
    const cookie = await enterDesk(app)
    const secret = cookie.split('=')[1] ?? ''
    expect(await app.db.session.findMany()).toMatchObject([{ hash: hash('sha256', secret, 'hex'), isLink: false }])
  })

  it.each([
    ['13 days', 200],
    ['15 days', 303],
    ['-2 minutes', 303], // the clock was set back
  ])('of %s ago: %i', async (age, status) => {
    const app = await anApp()
    const cookie = await enterDesk(app)
    await app.db.$executeRaw`UPDATE "Quvera_Session" SET "At" = now() - ${age}::interval`
    expect((await getStaff(app.url, '', { cookie })).status).toBe(status)
    expect((await callDesk(app.url, cookie, 'list', { state: 'new' })).status).toBe(status === 200 ? 200 : 401)
  })

  it('of an address that has left STAFF_EMAILS is over at its next request', async () => {
    const app = await anApp()
    const cookie = await enterDesk(app)
    await app.db.$executeRaw`UPDATE "Quvera_Session" SET "Email" = 'left@quvera.test'`
    expect((await callDesk(app.url, cookie, 'list', { state: 'new' })).status).toBe(401)
    expect((await getStaff(app.url, '', { cookie })).status).toBe(303)
  })

  it('ends by sign-out, everywhere on demand', async () => {
    const app = await anApp({ staff: [STAFF, 'ravi@quvera.test'] })
    const [one, two, three] = [await enterDesk(app), await enterDesk(app), await enterDesk(app)]
    const other = await enterDesk(app, { email: 'ravi@quvera.test' })
    const out = await postStaff(app.url, 'sign-out', {}, { cookie: one })
    expect([out.status, out.headers.get('location')]).toEqual([303, '/staff/sign-in'])
    expect(out.headers.get('set-cookie')).toMatch(/^quvera-desk-\d+=; Path=\/; Max-Age=0; /)
    const statuses = async () =>
      Promise.all([one, two, three, other].map(async (cookie) => (await getStaff(app.url, '', { cookie })).status))
    expect(await statuses()).toEqual([303, 200, 200, 200])
    await postStaff(app.url, 'sign-out', { everywhere: 'yes' }, { cookie: two })
    expect(await statuses()).toEqual([303, 303, 303, 200])
  })

  it('needs no second sign-in', async () => {
    const app = await anApp()
    const answer = await getStaff(app.url, '/sign-in', { cookie: await enterDesk(app) })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/staff'])
  })

  it.each(['', 'x', 'x'.repeat(43), 'a; quvera'])('is not had with the cookie %j', async (value) => {
    const app = await anApp()
    const { port } = new URL(app.url)
    expect((await getStaff(app.url, '', { cookie: `quvera-desk-${port}=${value}` })).status).toBe(303)
  })
})

describe('which address', () => {
  it('with an https PUBLIC_URL only its host: other names lead there', async () => {
    const app = await anApp({ publicUrl: HTTPS, publicUrlAliases: ['https://quvera.test'] })
    for (const host of ['quvera.test', '203.0.113.7', 'localhost:3000', 'evil.example']) {
      const answer = await ask443(app, '/staff/sign-in?to=/staff', { host })
      expect([answer.status, answer.headers.location]).toEqual([308, `${HTTPS}/staff/sign-in?to=/staff`])
    }
    const absolute = await say(
      app.url,
      'GET http://evil.example/staff HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    )
    expect(absolute).toContain(`\r\nlocation: ${HTTPS}/staff\r\n`)
    const here = await ask443(app, '/staff/sign-in', { host: 'www.quvera.test' })
    expect(here.status).toBe(200)
    const posted = await ask443(app, '/staff/sign-in', { host: 'quvera.test', origin: HTTPS, ...form }, 'email=x')
    expect(posted.status).toBe(403)
  })

  it('over https has a cookie that no other host can set', async () => {
    const app = await anApp({ publicUrl: HTTPS })
    const own = { host: 'www.quvera.test', origin: HTTPS, ...form }
    await ask443(app, '/staff/sign-in', own, `email=${STAFF}`)
    await settled(app)
    const [mail] = links(app)
    expect(mail?.text).toContain(`${HTTPS}/staff/enter?token=`)
    const entered = await ask443(app, '/staff/enter', own, `token=${tokenIn(mail?.text)}`)
    const [cookie = ''] = entered.headers['set-cookie'] ?? []
    expect(cookie).toMatch(/^__Host-quvera-desk=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/)
    const shown = await ask443(app, '/staff', { host: 'www.quvera.test', cookie: cookie.split(';')[0] ?? '' })
    expect(shown.status).toBe(200)
  })

  it.each(['', 'http://quvera.test'])('with PUBLIC_URL %j only this machine', async (publicUrl) => {
    const app = await anApp({ publicUrl })
    for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'localhost'])
      expect((await ask443(app, '/staff/sign-in', { host })).status).toBe(200)
    for (const host of ['quvera.test', '192.168.1.7:3000', 'localhost.evil.example']) {
      const answer = await ask443(app, '/staff/sign-in', { host })
      expect([answer.status, answer.text.includes('needs https')]).toEqual([403, true])
      const posted = await ask443(app, '/staff/sign-in', { host, origin: `http://${host}`, ...form }, `email=${STAFF}`)
      expect(posted.status).toBe(403)
    }
    await settled(app)
    expect(links(app)).toEqual([])
  })

  it('is not decided by X-Forwarded-Host', async () => {
    const app = await anApp({ publicUrl: HTTPS, trustProxy: ['127.0.0.1'] })
    const answer = await ask443(app, '/staff/sign-in', { host: 'evil.example', 'x-forwarded-host': 'www.quvera.test' })
    expect(answer.status).toBe(308)
  })
})

describe('every POST', () => {
  const paths = ['/staff/sign-in', '/staff/enter', '/staff/sign-out', '/staff/enquiries.csv']
  it.each<[string, Record<string, string>]>([
    ['neither Origin nor Sec-Fetch-Site', {}],
    ['Sec-Fetch-Site alone', { 'sec-fetch-site': 'same-origin' }],
    ['a foreign Origin', { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }],
    ['the own Origin from a foreign site', { origin: HTTPS, 'sec-fetch-site': 'cross-site' }],
    ['an alias as Origin', { origin: 'https://quvera.test', 'sec-fetch-site': 'same-origin' }],
    ['a hidden Origin', { origin: 'null' }],
    ['a hidden Origin from a foreign site', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ])('is refused with %s', async (_name, headers) => {
    const app = await anApp({ publicUrl: HTTPS, publicUrlAliases: ['https://quvera.test'] })
    for (const path of paths)
      expect((await ask443(app, path, { host: 'www.quvera.test', ...form, ...headers }, 'email=x')).status).toBe(403)
    const json = { host: 'www.quvera.test', 'content-type': 'application/json', ...headers }
    expect((await ask443(app, '/trpc/desk.list', json, '{"state":"new"}')).status).toBe(403)
  })

  it('is taken with a hidden Origin that the browser says is the own one', async () => {
    const app = await anApp({ publicUrl: HTTPS })
    const headers = { host: 'www.quvera.test', origin: 'null', 'sec-fetch-site': 'same-origin', ...form }
    expect((await ask443(app, '/staff/sign-in', headers, 'email=x')).status).toBe(303)
  })
})

describe('tokens, sessions and addresses', () => {
  it('are in no log line, metric or backup', async () => {
    const metricsPort = await freePort()
    const app = await anApp({ metricsPort })
    await ask(app)
    await settled(app)
    const token = tokenIn(links(app)[0]?.text)
    await getStaff(app.url, `/enter?token=${token}`)
    const cookie = cookieOf(await postStaff(app.url, 'enter', { token }))
    await callDesk(app.url, cookie, 'list', { state: 'new', text: 'a searched name' })
    const secret = cookie.split('=')[1] ?? ''
    const file = join(await aFolder('quvera-desk-'), 'backup.gz')
    expect((await staff(['backup', file], app.env)).code).toBe(0)
    const backup = gunzipSync(await readFile(file)).toString()
    expect(backup).toContain('Quvera_Mail')
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    expect(metrics).toContain('desk.list')
    for (const text of [app.logLines.join(''), backup, metrics]) {
      for (const secretText of [token, secret, hash('sha256', secret, 'hex'), 'a searched name'])
        expect(text).not.toContain(secretText)
    }
    expect(app.logLines.join('')).not.toContain(STAFF)
  })

  it('do not make a database that is restored into count as full, and do not survive a pg_restore', async () => {
    const app = await anApp()
    const file = join(await aFolder('quvera-desk-'), 'backup.gz')
    expect((await staff(['backup', file], app.env)).code).toBe(0)
    const { db, env } = await anOpenDatabase()
    await createLink(db, { email: STAFF, leadsTo: '/staff' })
    expect(await staff(['restore', file], env)).toMatchObject({ code: 0 })
    expect(await db.session.count()).toBe(0)
  })
})

describe('staff sign-in', () => {
  it('prints a link for the first of STAFF_EMAILS, or for another one', async () => {
    const app = await anApp({ mails: false, staff: [STAFF, 'ravi@quvera.test'] })
    const env = { ...app.env, STAFF_EMAILS: `${STAFF},ravi@quvera.test`, PORT: '3000' }
    for (const [args, email] of [
      [[], STAFF],
      [['RAVI@quvera.test'], 'ravi@quvera.test'],
    ] as const) {
      const { code, stdout } = await staff(['sign-in', ...args], env)
      expect([code, stdout.trim()]).toEqual([
        0,
        expect.stringMatching(/^http:\/\/localhost:3000\/staff\/enter\?token=[\w-]{43}$/),
      ])
      const entered = await postStaff(app.url, 'enter', { token: tokenIn(stdout) })
      expect(entered.status).toBe(303)
      expect(await app.db.session.findMany({ where: { email } })).toMatchObject([{ byTerminal: true, isLink: false }])
    }
    expect(await app.db.mail.count()).toBe(0)
  })

  it('leads to an https PUBLIC_URL', async () => {
    const { env } = await anOpenDatabase()
    const { stdout } = await staff(['sign-in'], { ...env, PUBLIC_URL: HTTPS })
    expect(stdout).toMatch(new RegExp(`^${HTTPS}/staff/enter\\?token=`))
  })

  it('refuses an address that is not one of staff', async () => {
    const { env, db } = await anOpenDatabase()
    expect(await staff(['sign-in', 'stranger@shop.example'], { ...env, STAFF_EMAILS: STAFF })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'stranger@shop.example is not one of STAFF_EMAILS, so it may not enter the desk.\n',
    })
    expect(await db.session.count()).toBe(0)
  })

  it('its link does not keep a mailed one from being sent', async () => {
    const app = await anApp()
    await createLink(app.db, { email: STAFF, leadsTo: '/staff', byTerminal: true })
    await ask(app)
    await settled(app)
    expect(links(app)).toHaveLength(1)
  })

  it.each(['list', 'show', 'status', 'note'])('%s, which the desk does, says so in one sentence', async (name) => {
    const { code, stdout, stderr } = await staff([name, 'QV-7K3M9P'], {})
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(`\`${name}\` is done at the desk now: npm run -s staff -- sign-in prints a link to it.\n`)
  })
})
