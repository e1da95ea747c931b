// A day at the desk, in a browser: signing in by mail, reading, marking, noting, finding, downloading, leaving.
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { BrowserContext, Page } from '@playwright/test'
import { beforeEach, expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { violations } from '../support/axe.ts'
import { enterDesk } from '../support/desk.ts'
import { STAFF } from '../support/fake-resend.ts'
import { hoursAgo, storeEnquiries } from '../support/stored-enquiry.ts'
import { current, faultsOf } from '../support/valid-html.ts'
import { ownSiteForTests, PHONE, paths } from '../support/visit.ts'

const RAVI = 'ravi@quvera.test'
const { site, newcomer, html } = ownSiteForTests({ STAFF_EMAILS: `${STAFF},${RAVI}` })
const desk = () => `${site().url}/staff`

beforeEach(() =>
  site().inspect(async (db) => {
    await db.session.deleteMany()
    await db.enquiry.deleteMany()
  }),
)

const store = async (changes: Record<string, unknown> = {}) =>
  (await submit(site().url, anOrder(changes))).reference ?? ''

/** Gives a browser the session that a link would. */
async function signIn(context: BrowserContext, email = STAFF) {
  const cookie = await site().inspect((db) => enterDesk({ url: site().url, db }, { email }))
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url: site().url }])
}

/** The page of somebody who is signed in. */
async function open(
  path = '',
  { email = STAFF, ...options }: Parameters<typeof newcomer>[0] & { email?: string } = {},
) {
  const visited = await newcomer({ ...PHONE, ...options })
  await signIn(visited.page.context(), email)
  await visited.page.goto(desk() + path)
  return visited
}

/** The page of a new enquiry, seen by somebody who is signed in. */
async function openOne(changes: Record<string, unknown> = {}) {
  const reference = await store(changes)
  const visited = await open(`/${reference}`)
  await visited.page.locator('.whole').waitFor()
  return { ...visited, reference }
}

const rows = (page: Page) => page.locator('.enquiry')
const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })
const toast = (page: Page, text: string | RegExp) => page.locator('.Toastify__toast', { hasText: text })

it('a day at the desk begins with a link by mail, which leads to what was asked for', async () => {
  const reference = await store()
  const { page, problems } = await newcomer(PHONE)
  await page.goto(`${desk()}/${reference}`)
  await page.getByLabel('Your mail address').fill(STAFF)
  await button(page, 'Send me a link').click()
  await page.getByText('If this address is one of ours, a link is on its way.').waitFor()
  const mail = () => site().resend.mails.findLast(({ subject }) => subject.includes('desk'))
  await expect.poll(mail).toBeDefined()
  const [path] = /\/staff\/enter\?token=[\w-]+/.exec(mail()?.text ?? '') ?? []
  await page.goto(site().url + path)
  await button(page, 'Enter the desk').click()
  await page.getByRole('heading', { name: 'Asha Verma' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/staff/${reference}`)
  expect(problems).toEqual([])
})

it('an enquiry is marked by one click in the list, or by two, and taken back by another', async () => {
  await store({ name: 'Second visitor' })
  await store()
  const { page } = await open()
  const statuses = () => rows(page).locator('.status').allInnerTexts()
  const told = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor({ state: 'attached' })
  await told('2 enquiries shown')
  await button(page, 'Contacted: Asha Verma').dblclick()
  await toast(page, 'Asha Verma: Contacted').waitFor()
  await told('Asha Verma: Contacted') // who does not see
  // It stays where it is: otherwise the second click would meet the next row.
  expect(await statuses()).toEqual(['Contacted', 'New'])
  expect(await site().inspect((db) => db.enquiry.count({ where: { status: 'Contacted' } }))).toBe(1)
  expect(await button(page, 'New 1').count()).toBe(1)
  await button(page, 'Undo').click()
  await expect.poll(statuses).toEqual(['New', 'New'])
  await expect.poll(() => site().inspect((db) => db.enquiry.count({ where: { status: 'New' } }))).toBe(2)
})

it('staff call, write, copy, note what was said, and that nobody answered', async () => {
  const { page, problems, reference } = await openOne({ name: '<img src=x onerror=alert(1)> مريم' })
  const links = await page.locator('.contact a').evaluateAll((all) => all.map((each) => each.getAttribute('href')))
  expect(links).toEqual([
    'tel:+919876543210',
    'https://wa.me/919876543210',
    `mailto:asha.verma@shop.example?subject=${brand.name}%20enquiry%20${reference}`,
  ])
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await button(page, 'Copy number').click()
  await toast(page, 'The number is copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('9876543210')

  await page.getByLabel(/^Add a line/).fill('rings back on <b>Monday</b>')
  await button(page, 'Add note').click()
  await page.locator('.note', { hasText: 'rings back on <b>Monday</b>' }).waitFor()
  await button(page, 'Rang, no answer').click()
  await page.locator('.flag', { hasText: 'rang once' }).waitFor()
  expect(await page.locator('.whole-head .status').innerText()).toBe('New')
  await button(page, 'Remove all notes').click()
  await page.getByText('2 lines go for good').waitFor()
  await button(page, 'Yes, remove them').click()
  await toast(page, 'All notes are removed').waitFor()
  expect(await page.locator('.note').count()).toBe(0)
  expect(await page.locator('h1 bdi').innerText()).toContain('<img src=x')
  expect(await page.locator('.whole img').count()).toBe(0)
  expect(problems).toEqual([])
})

it('who rings is found and downloaded, and one comes back to the same list', async () => {
  await store({ name: 'José Fernandes', mobile: '9971112345' })
  await store()
  const { page } = await open()
  await page.getByRole('searchbox').fill('+91 99711 12345')
  await page.keyboard.press('Enter')
  await expect.poll(() => rows(page).count()).toBe(1)
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download CSV').click()])
  expect(download.suggestedFilename()).toMatch(/^enquiries-\d{4}-\d\d-\d\d\.csv$/)
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
  expect(lines).toEqual([expect.any(String), expect.stringContaining('José Fernandes')])
  await page.getByRole('link', { name: 'José Fernandes', exact: true }).click()
  await page.getByRole('heading', { name: 'José Fernandes' }).waitFor()
  await page.getByRole('link', { name: 'All enquiries' }).click()
  await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('+91 99711 12345')
  await expect.poll(() => rows(page).count()).toBe(1)
  expect(page.url()).toBe(desk())
  await page.getByRole('searchbox').fill('nobody at all')
  await button(page, 'Search').click()
  await page.getByText('Nothing found for “nobody at all” in New.').waitFor()
  await button(page, 'Clear').click()
  await expect.poll(() => rows(page).count()).toBe(2)
})

it('what was suspected as spam is released', async () => {
  await store({ website: 'filled in by a browser' })
  const { page } = await open()
  await page.getByText('Nothing new. Everybody has an answer.').waitFor()
  await button(page, /^Suspected spam/).click()
  await button(page, 'Not spam: Asha Verma').click()
  await toast(page, 'Not spam').waitFor()
  await button(page, 'New 1').waitFor()
})

it('a list loads more, 25 at a time, in both orders', async () => {
  await site().inspect((db) => storeEnquiries(db, 26, hoursAgo(1)))
  await store({ name: 'Last visitor' })
  const { page } = await open()
  await expect.poll(() => rows(page).count()).toBe(25)
  expect(await rows(page).first().innerText()).toContain('Last visitor')
  await button(page, /^Newest first/).click()
  await expect.poll(() => rows(page).first().innerText()).not.toContain('Last visitor')
  await button(page, 'Load more').click()
  await expect.poll(() => rows(page).count()).toBe(27)
  expect(await rows(page).last().innerText()).toContain('Last visitor')
  expect(await button(page, 'Load more').count()).toBe(0)
})

it('a list shows problems first, and how many came today', async () => {
  await store()
  await site().inspect(
    (db) => db.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Bounced', "DueAt" = NULL, "SentAt" = now()
    WHERE "To" = ${RAVI}`,
  )
  const { page } = await open()
  await page.getByRole('heading', { name: 'To mend' }).waitFor()
  expect(await page.locator('.problems').innerText()).toContain(`The last mail to ${RAVI} did not arrive.`)
  expect(await page.locator('.days').innerText()).toMatch(/1\s*today/)
  expect((await page.locator('.days .visually-hidden').innerText()).split(', ')).toHaveLength(30)
})

it('two colleagues do not overwrite each other: the second is told, and what was shown is taken back', async () => {
  const { page, reference } = await openOne()
  await site().inspect((db) =>
    db.$transaction([
      db.$executeRaw`SELECT set_config('quvera.who', ${RAVI}, true)`,
      db.enquiry.update({ where: { reference }, data: { status: 'Closed' } }),
    ]),
  )
  await button(page, 'Contacted').click()
  const told = toast(page, /A colleague was faster.*ravi@quvera\.test.*set to Closed/)
  await told.waitFor()
  expect(await told.getAttribute('role')).toBe('alert')
  await expect.poll(() => page.locator('.whole-head .status').innerText()).toBe('Closed')
})

it('colleagues see each other’s work when they come back to the tab', async () => {
  const reference = await store()
  const { page } = await open()
  await rows(page).waitFor()
  await site().inspect((db) => db.enquiry.update({ where: { reference }, data: { status: 'Closed' } }))
  await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
  await page.getByText('Nothing new. Everybody has an answer.').waitFor()
})

it('without a network the desk keeps what was typed and sends it later, and a change without an answer is taken back', async () => {
  const { page } = await openOne()
  const note = page.getByLabel(/^Add a line/)
  await note.fill('wants a price')
  await page.context().setOffline(true)
  await page.getByText('You are offline.', { exact: false }).waitFor()
  await button(page, 'Add note').click()
  expect(await note.inputValue()).toBe('wants a price')
  await page.context().setOffline(false)
  await page.locator('.note', { hasText: 'wants a price' }).waitFor()
  await page.route('**/trpc/desk.setStatus', (route) => route.abort())
  await button(page, 'Closed').click()
  await toast(page, 'The server did not answer.').waitFor()
  expect(await page.locator('.whole-head .status').innerText()).toBe('New')
})

const showAgain = () => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))

it('the end of a session clears every tab of the desk', async () => {
  const reference = await store()
  const { page } = await open()
  const other = await page.context().newPage()
  await other.goto(`${desk()}/${reference}`)
  await other.getByRole('heading', { name: 'Asha Verma' }).waitFor()
  await button(page, 'Sign out').click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

it.each<[string, (page: Page) => Promise<unknown>]>([
  ['an answer', (page) => button(page, 'Closed').click()],
  ['a page that the browser has kept', (page) => page.evaluate(showAgain)],
])(
  'the end of a session is noticed by %s, leads to sign-in and back, and leaves nothing to be read',
  async (_, notice) => {
    const { page, reference } = await openOne()
    await site().inspect((db) => db.session.deleteMany())
    await notice(page)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.locator('[name=to]').inputValue()).toBe(`/staff/${reference}`)
    expect(await page.content()).not.toContain('Asha Verma')
  },
)

it('axe finds nothing, HTML is valid, nothing is wider than the screen, and targets are 44 px, at every width', async () => {
  const reference = await store({ name: 'A name of two hundred characters '.repeat(6).trim() })
  await store({ name: 'प्रिया नायर' })
  await store({ website: 'x' })
  await site().inspect((db) =>
    db.enquiry.update({ where: { reference }, data: { note: `26 Nov 2026: ${'x'.repeat(300)}`, calls: 2 } }),
  )
  await site().inspect(
    (db) => db.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Failed', "DueAt" = NULL, "FirstTriedAt" = now(),
    "LastError" = '422 validation_error: Invalid to field'`,
  )
  const { page } = await open('', { reducedMotion: 'reduce' })
  for (const path of ['', `/${reference}`, '/nothing', '/sign-in?sent', '/enter?token=x']) {
    if (path === '/sign-in?sent') await page.context().clearCookies()
    await page.goto(desk() + path)
    if (path === '') {
      await rows(page).first().waitFor()
      expect((await page.locator('.tabs').boundingBox())?.height).toBeLessThan(60) // one row
    }
    if (path === `/${reference}`) await page.locator('.whole').waitFor()
    expect(await faultsOf(await current(page)), path).toEqual([])
    for (const width of [360, 768, 1440]) {
      await page.setViewportSize({ width, height: 800 })
      const at = `${path} at ${width} px`
      expect(await violations(page), at).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth), at).toBeLessThanOrEqual(width)
      const small = await page
        .locator('button, input:not([type=hidden]), textarea, .enquiry-actions a, .buttons a')
        .evaluateAll((all) =>
          all.filter((each) => each.getBoundingClientRect().height < 43.9).map((each) => each.outerHTML),
        )
      expect(small, at).toEqual([])
    }
    await page.setViewportSize({ width: 320, height: 500 })
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '200%'
    })
    const widest = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(widest, `${path} with large text`).toBeLessThanOrEqual(320)
  }
})

it('the keyboard alone is enough, and keeps its place', async () => {
  await store()
  const { page } = await open()
  await rows(page).waitFor()
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
  const tabTo = async (text: string) => {
    for (let times = 0; times < 40 && (await focused()) !== text; times++) await page.keyboard.press('Tab')
    expect(await focused()).toBe(text)
  }
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Skip to content')
  await tabTo('Asha Verma')
  await page.keyboard.press('Enter')
  await page.locator('.whole').waitFor()
  await tabTo('Rang, no answer')
  await page.keyboard.press('Space')
  await page.locator('.flag', { hasText: 'rang once' }).waitFor()
  expect(await focused()).toBe('Rang, no answer')
})

it('the desk loads at most 110 kB of scripts and styles, React included, and no visitor loads any of it', async () => {
  const { page } = await open()
  await page.locator('.desk-head').waitFor()
  const assets = [...(await page.content()).matchAll(/\/assets\/[\w.-]+\.(?:js|css)/g)].map(([path]) => path)
  expect(assets.length).toBeGreaterThanOrEqual(2)
  let bytes = 0
  for (const asset of assets) bytes += gzipSync(await html(asset)).length
  expect(bytes).toBeLessThanOrEqual(110 * 1024)
  for (const path of paths) {
    const text = await html(path)
    expect(
      [...assets, '/staff'].filter((each) => text.includes(each)),
      path,
    ).toEqual([])
  }
  expect(await html('/sitemap.xml')).not.toContain('staff')
})
