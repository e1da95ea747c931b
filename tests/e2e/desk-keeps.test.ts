// What people do at the desk is kept: without a network, over a reload, in two tabs, on a slow line, after the end of a session.
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { exampleOrder, type OrderContent, pickOrderFields } from '../../shared/order.ts'
import { hold, intercept } from '../support/browser.ts'
import { button, comeBack, comeBackFor, deskForTests, PC, RAVI, rowOf, rows, toast } from '../support/desk-page.ts'
import { hoursAgo } from '../support/stored-enquiry.ts'

const { site, address, signIn, open, openOne, store, put, asRavi, stored } = deskForTests()

const HOUR_MS = 3_600_000
const statusOf = (page: Page, name = 'Asha Verma') => rowOf(page, name).locator('.status').innerText()
/** Nothing waits at a row. */
const settled = (page: Page) => page.locator('.progress').waitFor({ state: 'detached' })
const note = (page: Page) => page.getByLabel(/^Add a line/)
const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).click()
const kept = (page: Page) => page.evaluate(() => JSON.stringify({ ...localStorage }))

/** A correction of an enquiry that was sent unchanged, but for `was`. */
function correction(was: Partial<OrderContent>, now: Partial<OrderContent>) {
  const sent = pickOrderFields({ ...exampleOrder, ...was })
  return { was: sent, now: { ...sent, ...now } }
}

/** How often a procedure was called, with which keys. */
function watchKeys(page: Page, name: string) {
  const keys: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith(`/trpc/desk.${name}`)) keys.push(request.postDataJSON().key)
  })
  return keys
}

it('without a network a change waits, says so at its row, and is stored later', async () => {
  const reference = await store()
  const { page } = await open()
  await rows(page).waitFor()
  await page.context().setOffline(true)
  await page.getByText('You are offline.', { exact: false }).waitFor()
  await button(page, 'Mark contacted: Asha Verma').click()
  await rowOf(page, 'Asha Verma').getByText('not stored yet').waitFor()
  expect((await stored(reference)).status).toBe('New')
  await page.context().setOffline(false)
  await settled(page)
  expect((await stored(reference)).status).toBe('Contacted')
  await button(page, 'Take back: Asha Verma').waitFor()
  await button(page, 'Take back: Asha Verma').click()
  await expect.poll(() => statusOf(page)).toBe('New') // before that nothing may be said at the row yet
  await settled(page)
  await page.context().setOffline(true)
  await button(page, 'No answer: Asha Verma').click()
  await rowOf(page, 'Asha Verma').locator('.flag', { hasText: 'no answer' }).waitFor()
  await page.context().setOffline(false)
  await settled(page)
})

it('a change that waits survives a reload: without any text, and only for the same person', async () => {
  const reference = await store()
  const { page } = await open()
  await rows(page).waitFor()
  const restore = await intercept(page, '**/trpc/desk.setStatus', (route) => route.abort())
  await button(page, 'Mark contacted: Asha Verma').click()
  await rowOf(page, 'Asha Verma').getByText('not stored yet').waitFor()
  expect(await kept(page)).not.toMatch(/Asha|Verma|9876543210|shop\.example/)
  await page.reload()
  await rowOf(page, 'Asha Verma').getByText('not stored yet').waitFor()
  await page.goto('about:blank') // as a tab that is closed
  await restore()
  await page.goto(address())
  await expect.poll(async () => (await stored(reference)).status).toBe('Contacted')
  await expect.poll(() => kept(page)).not.toContain(reference)

  await asRavi('setStatus', { references: [reference], status: 'New', was: 'Contacted' })
  const restoreAgain = await intercept(page, '**/trpc/desk.setStatus', (route) => route.abort())
  await page.reload()
  await button(page, 'Mark contacted: Asha Verma').click()
  await rowOf(page, 'Asha Verma').getByText('not stored yet').waitFor()
  await restoreAgain()
  await page.goto('about:blank')
  await signIn(page.context(), RAVI)
  await page.goto(address())
  await page.getByText(RAVI).first().waitFor()
  await expect.poll(() => kept(page)).not.toContain(reference)
  expect((await stored(reference)).status).toBe('New')
})

it('a change that meets the end of the session is made once the same person is back', async () => {
  const reference = await store()
  const { page } = await open()
  await rows(page).waitFor()
  await site().inspect((db) => db.session.deleteMany())
  await button(page, 'Mark contacted: Asha Verma').click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await signIn(page.context())
  await page.goto(address())
  await expect.poll(async () => (await stored(reference)).status).toBe('Contacted')
})

it('a change that has waited for more than twelve hours is not made, and its author is told', async () => {
  const reference = await store()
  const { page } = await open()
  await rows(page).waitFor()
  const restore = await intercept(page, '**/trpc/desk.setStatus', (route) => route.abort())
  await button(page, 'Mark contacted: Asha Verma').click()
  await expect.poll(() => kept(page)).toContain(reference)
  await page.evaluate((ms) => {
    for (const [name, value] of Object.entries(localStorage).filter(([each]) => each.startsWith('desk-change')))
      localStorage.setItem(name, JSON.stringify({ ...JSON.parse(value), at: Date.now() - ms }))
  }, 12.1 * HOUR_MS)
  await page.goto('about:blank') // as a tab that is closed, which tries no more
  await restore()
  await page.goto(address())
  await toast(page, `A change of ${reference} waited for more than twelve hours`).waitFor()
  expect((await stored(reference)).status).toBe('New')
  expect(await kept(page)).not.toContain(reference)
})

it('an answer that is lost costs nothing: the change is sent again under its key and counts once', async () => {
  const reference = await store()
  const { page } = await open('', PC)
  await rows(page).waitFor()
  const keys = watchKeys(page, 'addCall')
  let times = 0
  await page.route('**/trpc/desk.addCall', async (route) => {
    if (times++ > 0) return route.continue()
    await route.fetch() // stored, and its answer lost
    await route.abort()
  })
  await button(page, 'No answer: Asha Verma').click()
  await rowOf(page, 'Asha Verma').getByText('rang once').waitFor()
  await expect.poll(() => keys.length).toBe(2)
  expect(new Set(keys).size).toBe(1)
  await settled(page)
  await page.goto(`${address()}/${reference}`)
  await expect.poll(() => page.locator('.lines', { hasText: 'rang, no answer' }).locator('li').count()).toBe(2)
})

it('changes of one enquiry go out one after the other, and a refusal drops those behind it, in one message', async () => {
  const reference = await store()
  const { page } = await open(`/${reference}`, PC)
  await page.locator('.whole').waitFor()
  await asRavi('setStatus', { references: [reference], status: 'Closed', was: 'New' })
  const calls: string[] = []
  const changes = /desk\.(setStatus|addCall|remind)$/
  page.on('request', (request) => changes.test(request.url()) && calls.push(new URL(request.url()).pathname))
  const release = await hold(page, changes)
  await button(page, 'Mark contacted').click()
  await button(page, 'No answer').click()
  await button(page, 'tomorrow').click()
  release()
  const told = toast(page, /ravi@quvera\.test at .*: set to Closed \(was New\)/)
  await told.waitFor()
  expect(await told.innerText()).toContain('What you did after it was not done either (2).')
  expect(await told.getAttribute('role')).toBe('alert')
  expect(await page.getByRole('alert').count()).toBe(1)
  expect(calls).toEqual(['/trpc/desk.setStatus'])
  await expect.poll(() => page.locator('.whole-head .status').innerText()).toBe('Closed')
  expect(await page.locator('.whole-head').innerText()).toContain('not changed')
})

it('on a slow line nothing is shown as done before it is stored, and a second press is not lost', async () => {
  const reference = await store()
  const { page } = await open()
  await rows(page).waitFor()
  const release = await hold(page, /desk\.(setStatus|takeBack)$/)
  await button(page, 'Mark contacted: Asha Verma').click()
  await rowOf(page, 'Asha Verma').getByText('storing').waitFor()
  expect(await page.locator('[data-done]').count()).toBe(0)
  await button(page, 'Take back: Asha Verma').click()
  release()
  await button(page, 'Mark contacted: Asha Verma').waitFor()
  await settled(page)
  expect(await statusOf(page)).toBe('New')
  expect((await stored(reference)).status).toBe('New')
})

it('a note that is written without a network stays in its field until it is stored', async () => {
  const { page } = await openOne()
  await note(page).fill('wants a price')
  await page.context().setOffline(true)
  await button(page, 'Add note').click()
  await button(page, 'Not stored yet').waitFor()
  expect(await note(page).inputValue()).toBe('wants a price')
  expect(await kept(page)).not.toContain('wants a price')
  await page.context().setOffline(false)
  await page.locator('.note', { hasText: 'wants a price' }).waitFor()
  await expect.poll(() => note(page).inputValue()).toBe('')
})

it('a note that is being typed survives a reload, a lost session and another page, for its author only', async () => {
  const { page, reference } = await openOne()
  await note(page).fill('wants a price')
  await page.reload()
  await expect.poll(() => note(page).inputValue()).toBe('wants a price')
  await site().inspect((db) => db.session.deleteMany())
  await button(page, 'Add note').click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByText('Your session has ended. Notes', { exact: false }).waitFor()
  expect(await page.content()).not.toContain('wants a price')
  await signIn(page.context())
  await page.goto(address())
  await page.locator('.notice').getByRole('link', { name: reference }).click()
  await expect.poll(() => note(page).inputValue()).toBe('wants a price')
  await page.goto('about:blank') // elsewhere: a desk without a session leads to its sign-in page by itself
  await site().inspect((db) => db.session.deleteMany())
  await signIn(page.context(), RAVI)
  await page.goto(`${address()}/${reference}`)
  await note(page).waitFor()
  expect(await note(page).inputValue()).toBe('')
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('wants a price')
})

it('what is typed while a note is being stored stays, and a note that is too long is told and not cut', async () => {
  const { page } = await openOne()
  const release = await hold(page, '**/trpc/desk.addNote')
  await note(page).fill('wants a price')
  await button(page, 'Add note').click()
  await note(page).press('End')
  await note(page).pressSequentially(' and a sample')
  release()
  await page.locator('.note', { hasText: 'wants a price' }).waitFor()
  await expect.poll(() => note(page).inputValue()).toBe('and a sample')
  await note(page).fill('x'.repeat(507))
  await page.getByText('A note has at most 500 characters: this one has 7 too many.').waitFor()
  await button(page, 'Add note').click({ force: true })
  expect((await note(page).inputValue()).length).toBe(507)
  expect(await page.locator('.note').count()).toBe(1)
})

it('a correction that a colleague was faster with stays in its form, and goes out once it is of the same enquiry', async () => {
  const { page, reference } = await openOne({}, PC)
  const field = (label: string) => page.locator('dialog[open]').getByLabel(label)
  await button(page, 'Correct').click()
  await field('Mobile').fill('99711 12345')
  await asRavi('correct', { reference, ...correction({}, { quantity: 30 }) })
  await comeBackFor(page, page.locator('.whole').getByText(`30 × ${exampleOrder.products}`).first())
  expect(await field('Mobile').inputValue()).toBe('99711 12345')
  await asRavi('correct', { reference, ...correction({ quantity: 30 }, { quantity: 30, name: 'Asha Varma' }) })
  await button(page, 'Store').click()
  await toast(page, /ravi@quvera\.test at .* corrected Name: Asha Varma/).waitFor()
  expect(await field('Mobile').inputValue()).toBe('99711 12345')
  await page.getByRole('heading', { name: 'Asha Varma' }).waitFor({ state: 'attached' })
  await button(page, 'Store').click()
  await page.locator('dialog[open]').waitFor({ state: 'detached' })
  expect(await stored(reference)).toMatchObject({ mobile: '9971112345', name: 'Asha Varma', quantity: 30n })
})

it('signing out asks while any tab holds a draft or a waiting change, and deletes them', async () => {
  const { page, reference } = await openOne()
  const other = await page.context().newPage()
  await other.goto(address())
  await rows(other).waitFor()
  await note(page).fill('wants a price')
  await signOut(other)
  await other.getByText('Signing out deletes it.', { exact: false }).waitFor()
  await button(other, 'Stay').click()
  expect(await note(page).inputValue()).toBe('wants a price')
  await signOut(other)
  await button(other, 'Sign out all the same').click()
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await signIn(page.context())
  await page.goto(`${address()}/${reference}`)
  await note(page).waitFor()
  expect(await note(page).inputValue()).toBe('')
})

const showAgain = () => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))

it('the end of a session clears every tab of the desk', async () => {
  const reference = await store()
  const { page } = await open()
  await rows(page).waitFor()
  const other = await page.context().newPage()
  await other.goto(`${address()}/${reference}`)
  await other.getByRole('heading', { name: 'Asha Verma' }).waitFor()
  await signOut(page)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

it.each<[string, (page: Page) => Promise<unknown>]>([
  ['an answer', (page) => button(page, 'No reason').click()],
  ['coming back to the tab', comeBack],
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

it('two tabs tell each other apart from colleagues: a conflict names the other tab', async () => {
  await store()
  const { page } = await open()
  await rows(page).waitFor()
  const other = await page.context().newPage()
  await other.goto(address())
  await button(other, 'Mark contacted: Asha Verma').click()
  await toast(other, 'Asha Verma: Contacted').waitFor()
  await button(page, 'Mark contacted: Asha Verma').click()
  await toast(page, /Asha Verma, \S+-.*You, in another tab, at .* set to Contacted/).waitFor()
  expect(await rowOf(page, 'Asha Verma').innerText()).toContain('not changed')
})

it('rows stay where they are while others come and colleagues work; a press shows what is new', async () => {
  const second = await put({ name: 'Second visitor', mobile: '9876500002', receivedAt: hoursAgo(2) })
  await put({ name: 'First visitor', mobile: '9876500001', receivedAt: hoursAgo(3) })
  const { page } = await open()
  await rows(page).first().waitFor()
  const place = async () => (await rowOf(page, 'First visitor').boundingBox())?.y
  const before = await place()
  await store({ name: 'A newcomer' })
  await asRavi('setStatus', { references: [second], status: 'Contacted', was: 'New' })
  await comeBackFor(page, button(page, 'Show 1 new'))
  await expect.poll(() => statusOf(page, 'Second visitor')).toBe('Contacted')
  expect(Math.abs(((await place()) ?? 0) - (before ?? 0))).toBeLessThan(1)
  expect(await rows(page).count()).toBe(2)
  await expect.poll(() => page.title()).toMatch(/^2 new/)
  await button(page, 'Show 1 new').click()
  await rowOf(page, 'A newcomer').waitFor()
  await button(page, 'Show 1 new').waitFor({ state: 'detached' })
  expect(await rows(page).count()).toBe(2)
})

it('a list in which nothing is new offers what comes in', async () => {
  const { page } = await open()
  await page.getByText('Nothing new.').waitFor()
  await store({ name: 'A newcomer' })
  await comeBackFor(page, button(page, 'Show 1 new'))
  await button(page, 'Show 1 new').click()
  await rowOf(page, 'A newcomer').waitFor()
  await button(page, 'Show 1 new').waitFor({ state: 'detached' })
})

it('an answer that was asked for before a pulse, and comes after it, shows no older state', async () => {
  const reference = await store()
  const { page } = await open()
  await rows(page).waitFor()
  const isShown = Promise.withResolvers<void>()
  const isAnswered = Promise.withResolvers<void>()
  let times = 0
  await page.route('**/trpc/desk.show', async (route) => {
    if (times++ > 0) return route.continue()
    const response = await route.fetch()
    await asRavi('setStatus', { references: [reference], status: 'Contacted', was: 'New' })
    await isShown.promise
    await route.fulfill({ response }).catch(() => {}) // nobody waits for it any more
    isAnswered.resolve()
  })
  await page.getByRole('link', { name: 'Asha Verma', exact: true }).click()
  const status = page.locator('.whole-head .status')
  await comeBackFor(page, status.getByText('Contacted'))
  isShown.resolve()
  await isAnswered.promise
  await page.getByRole('heading', { name: 'History' }).waitFor()
  for (let passed = 0; passed < 1000; passed += 100) {
    expect(await status.innerText()).toBe('Contacted')
    await page.waitForTimeout(100)
  }
})

it('what waited and is stored while its page loads anew is shown as it is stored', async () => {
  const { page, reference } = await openOne()
  const restore = await intercept(page, '**/trpc/desk.setStatus', (route) => route.abort())
  await button(page, 'Mark contacted').click()
  await page.getByText('not stored yet').first().waitFor()
  let times = 0
  await page.route('**/trpc/desk.show', async (route) => {
    if (times++ > 0) return route.continue()
    const response = await route.fetch()
    await restore()
    await toast(page, 'Asha Verma: Contacted').waitFor()
    await new Promise((resolve) => setTimeout(resolve, 1000)) // longer than the pulse after it
    await route.fulfill({ response }).catch(() => {}) // nobody waits for it any more
  })
  await page.reload()
  await page.locator('.whole-head .status', { hasText: 'Contacted' }).waitFor() // sooner than the next pulse
  expect((await stored(reference)).status).toBe('Contacted')
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

it('an enquiry that was erased says so in place of its data, and paging goes on', async () => {
  const reference = await store()
  const { page } = await open()
  await rows(page).waitFor()
  await site().inspect((db) => db.enquiry.deleteMany())
  await comeBackFor(page, page.getByText(`${reference} was erased.`))
  expect(await page.content()).not.toContain('Asha Verma')
  await page.goto(`${address()}/${reference}`)
  await page.getByText('There is no such enquiry. Perhaps it was erased.').waitFor()
})

it('what cannot be read anew says so, and no longer once it can', async () => {
  await store()
  const { page } = await open()
  await rows(page).waitFor()
  const restore = await intercept(page, '**/trpc/desk.pulse', (route) => route.abort())
  await comeBack(page)
  await page.getByText('What is shown is of', { exact: false }).waitFor()
  expect(await statusOf(page)).toBe('New')
  await restore()
  await comeBack(page)
  await page.getByText('What is shown is of', { exact: false }).waitFor({ state: 'detached' })
})

it('ages go on, and three hours later the pulse has told the rest', async () => {
  await put({ receivedAt: hoursAgo(47) })
  const { page } = await open()
  await page.clock.install()
  await page.reload()
  await rowOf(page, 'Asha Verma').getByText('47 hours').waitFor()
  expect(await page.locator('[data-late]').count()).toBe(0)
  await page.clock.fastForward(3 * HOUR_MS)
  await rowOf(page, 'Asha Verma').getByText('waits 2 days').waitFor()
  await page.locator('.overview', { hasText: 'the oldest waits 2 days' }).waitFor()
  // Also of a list that was hidden meanwhile.
  await rows(page).getByRole('link', { name: 'Asha Verma', exact: true }).click()
  await page.locator('.whole').waitFor()
  await page.clock.pauseAt(new Date(Date.now() + 100 * HOUR_MS))
  await page.goBack()
  await rowOf(page, 'Asha Verma')
    .getByText(/^waits [67] days$/)
    .waitFor()
})
