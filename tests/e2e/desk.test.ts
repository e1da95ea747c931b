// A day at the desk, in a browser: signing in by mail, the list, finding, filtering, downloading, at every width.
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { violations } from '../support/axe.ts'
import { hold } from '../support/browser.ts'
import {
  button,
  comeBack,
  comeBackFor,
  deskForTests,
  focused,
  PC,
  RAVI,
  rowOf,
  rows,
  toast,
} from '../support/desk-page.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { hoursAgo, storeEnquiries } from '../support/stored-enquiry.ts'
import { translate } from '../support/translate.ts'
import { current, faultsOf } from '../support/valid-html.ts'
import { PHONE, paths } from '../support/visit.ts'

const { site, newcomer, html, address, open, store, put, asRavi, signIn, stored } = deskForTests()

const MAX_BYTES = 115 * 1024

it('a day at the desk begins with a link by mail, which leads to what was asked for', async () => {
  const reference = await store()
  const { page, problems } = await newcomer(PHONE)
  await page.goto(`${address()}/${reference}`)
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
  const told = (text: string) =>
    page.getByRole('status').filter({ hasText: text }).first().waitFor({ state: 'attached' })
  await told('2 enquiries shown')
  const requests = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
  expect(requests.filter((each) => each.endsWith('desk.list'))).toEqual([]) // the page comes with it
  await button(page, 'Mark contacted: Asha Verma').dblclick()
  await toast(page, 'Asha Verma: Contacted').waitFor()
  await told('Asha Verma: Contacted') // who does not see
  // It stays where it is: otherwise the second click would meet the next row.
  expect(await statuses()).toEqual(['Contacted', 'New'])
  expect(await page.locator('[data-done]').innerText()).toContain('Asha Verma')
  expect(await site().inspect((db) => db.enquiry.count({ where: { status: 'Contacted' } }))).toBe(1)
  await button(page, 'New 1').waitFor()
  await button(page, 'Take back: Asha Verma').click()
  await expect.poll(statuses).toEqual(['New', 'New'])
  await expect.poll(() => site().inspect((db) => db.enquiry.count({ where: { status: 'New' } }))).toBe(2)
})

it('search looks at everything while one types, and one comes back to what was found', async () => {
  const contacted = await store({ name: 'José Fernandes', mobile: '9971112345' })
  await asRavi('setStatus', { references: [contacted], status: 'Contacted', was: 'New' })
  await store()
  const { page } = await open()
  await rows(page).first().waitFor()
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('desk.list')) asked.push(request.postDataJSON().text)
  })
  const search = page.getByRole('searchbox')
  await search.pressSequentially('+91 99711')
  await expect.poll(() => rows(page).locator('.status').allInnerTexts()).toEqual(['Contacted']) // stands in its row
  expect(asked.length).toBeLessThan(4)
  await page.getByRole('link', { name: 'José Fernandes', exact: true }).click()
  await page.getByRole('heading', { name: 'José Fernandes' }).waitFor()
  await page.getByRole('link', { name: 'All enquiries' }).click()
  await rows(page).waitFor()
  expect(await search.inputValue()).toBe('+91 99711')
  expect(page.url()).toBe(address())
  await page.reload()
  await expect.poll(() => search.inputValue()).toBe('+91 99711')
  await search.fill('nobody at all')
  await page.getByText('Nothing found for “nobody at all”.').waitFor()
  await search.fill('')
  await rowOf(page, 'Asha Verma').waitFor()
  expect(await rows(page).count()).toBe(1) // of New again
})

it('Next leads on in the list that is shown, and a note leaves the mark where it is', async () => {
  await store({ name: 'Kavya Menon', mobile: '9811111111' })
  const [first, second] = [await store({ name: 'First' }), await store({ name: 'Second', mobile: '9822222222' })]
  await asRavi('setStatus', { references: [first, second], status: 'Contacted', was: 'New' })
  const { page } = await open('', PC)
  await page.getByRole('searchbox').fill('menon')
  await expect.poll(() => rows(page).count()).toBe(1)
  await page.getByRole('searchbox').fill('')
  await button(page, /^Contacted/).click()
  await page.getByRole('link', { name: 'Second', exact: true }).click()
  await page.locator('.whole textarea').fill('a note')
  await button(page, 'Add note').click()
  await toast(page, 'Second: note stored').waitFor()
  expect(await page.locator('[data-next]').count()).toBe(0) // none of the list is New
  await page.getByRole('link', { name: 'All enquiries' }).click()
  await button(page, /^New/).click()
  await page.getByRole('link', { name: 'Kavya Menon', exact: true }).click()
  await page.locator('.whole textarea').fill('a note')
  await button(page, 'Add note').click()
  await toast(page, 'Kavya Menon: note stored').waitFor()
  await page.goBack()
  await button(page, 'Mark contacted: Kavya Menon').waitFor()
})

it('what is refused after signing out does not take its place', async () => {
  const reference = await store()
  const { page } = await open()
  const release = await hold(page, '**/staff/sign-out')
  const isPressed = page.waitForRequest('**/staff/sign-out')
  await page.route('**/trpc/desk.show', async (route) => {
    await isPressed
    await route.fulfill({ status: 401, json: { error: { message: '', code: -32001, data: { httpStatus: 401 } } } })
    setTimeout(release, 500)
  })
  await rows(page).getByRole('link', { name: 'Asha Verma', exact: true }).click()
  await page.locator('.whole').waitFor()
  await button(page, 'Sign out').click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  await signIn(page.context(), RAVI)
  await page.unrouteAll({ behavior: 'wait' })
  await page.goBack()
  await page.locator('.whole').waitFor()
  expect(page.url()).toContain(reference)
})

it('a sign-out whose answer is stopped leaves no empty page', async () => {
  await store()
  const { page } = await open()
  await page.clock.install()
  await page.reload()
  await rows(page).waitFor()
  const isOut = Promise.withResolvers<void>()
  await page.route('**/staff/sign-out', async (route) => {
    await route.fetch({ maxRedirects: 0 })
    await route.fulfill({ status: 204 }) // the browser stays where it is
    isOut.resolve()
  })
  await button(page, 'Sign out').click()
  await isOut.promise
  await eventually(async () => {
    await comeBack(page)
    expect(await page.locator('body').innerHTML()).toBe('')
  })
  await page.clock.runFor(10_000)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(new URL(page.url()).searchParams.has('over')).toBe(false) // which tells of notes that are kept
})

it('whoever signs in next in the same tab finds nothing that was searched for', async () => {
  await store()
  const { page } = await open()
  await page.getByRole('searchbox').fill('verma')
  await rows(page).getByRole('link', { name: 'Asha Verma', exact: true }).click()
  await page.locator('.whole').waitFor()
  await button(page, 'Sign out').click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([])
  await signIn(page.context(), RAVI)
  await page.goBack()
  await page.goBack()
  await rows(page).waitFor()
  expect(await page.getByRole('searchbox').inputValue()).toBe('')
  expect(await page.evaluate(() => JSON.stringify(history.state))).not.toContain('verma')
})

it('filters hold for the list and for the download', async () => {
  await put({ name: 'Of last month', receivedAt: hoursAgo(40 * 24), mobile: '9876500001' })
  await store({ name: 'For a shop', retailerSelfUse: 'Retailer', products: products[1] })
  await store({ name: 'For herself', retailerSelfUse: 'Self Use' })
  const { page } = await open('', PC)
  const names = () => rows(page).locator('h2').allInnerTexts()
  await expect.poll(names).toEqual(['For herself', 'For a shop', 'Of last month'])
  await page.getByLabel('Received').selectOption('Received in the last 7 days')
  await expect.poll(names).toEqual(['For herself', 'For a shop'])
  await page.getByLabel('Product').selectOption(products[1])
  await expect.poll(names).toEqual(['For a shop'])
  const label = /^Download CSV, received from \w{3} \d+ \w{3}$/
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, label).click()])
  expect(download.suggestedFilename()).toMatch(/^enquiries-new-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/)
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
  expect(lines).toEqual([expect.any(String), expect.stringContaining('For a shop')])
  await page.reload()
  await expect.poll(names).toEqual(['For a shop'])
  await page.getByLabel('Product').selectOption('All products')
  await page.getByLabel('Buying for').selectOption('Self Use')
  await expect.poll(names).toEqual(['For herself'])
  await page.getByLabel('Buying for').selectOption('Retailer')
  await page.getByRole('searchbox').fill('herself')
  await page.getByText('Nothing found for “herself” with these filters.').waitFor()
  await button(page, 'Search without filters').click()
  await expect.poll(names).toEqual(['For herself'])
  expect(await page.locator('.chip').count()).toBe(0)
  expect(await page.getByLabel('Received').inputValue()).toBe('')
})

it('tells what one of staff did on a day, and how many were closed as Ordered', async () => {
  const [first, second] = [await store({ name: 'By Ravi' }), await store({ name: 'By Asha' })]
  await put({ name: 'Long ago', receivedAt: hoursAgo(40 * 24), mobile: '9876500001' })
  await asRavi('setStatus', { references: [first], status: 'Closed', closedAs: 'Ordered', was: 'New' })
  const { page } = await open('', PC)
  await button(page, 'Mark contacted: By Asha').click()
  await expect.poll(async () => (await stored(second)).status).toBe('Contacted')
  const names = () => rows(page).locator('h2').allInnerTexts()
  await button(page, /^All/).click()
  await page.getByLabel('By', { exact: true }).selectOption('By ravi')
  await page.getByLabel('Done').selectOption('Done today')
  await expect.poll(names).toEqual(['By Ravi'])
  await page.getByText('1 enquiry shown').waitFor()
  await page.getByLabel('By', { exact: true }).selectOption('By staff')
  await expect.poll(names).toEqual(['By Asha'])
  await button(page, /^Remove: by/).click()
  await page.getByLabel('Closed as').selectOption('Ordered')
  await expect.poll(names).toEqual(['By Ravi'])
  await page.getByLabel('Closed as').selectOption('No interest')
  await page.getByText('Nothing with these filters.').waitFor()
  await button(page, /^New/).click()
  await button(page, 'Remove: No interest').waitFor({ state: 'detached' }) // there is no reason
  await button(page, /^All/).click()
  await page.getByText('Nothing with these filters.').waitFor()
  await page.getByLabel('Done').selectOption('Done from … to …')
  await button(page, 'End the filters').click()
  await expect.poll(names).toHaveLength(3)
  expect(await page.getByLabel('Received').inputValue()).toBe('')
})

it('letters do what a row offers, and no more: nothing is suspected and contacted, or closed and rung', async () => {
  await put({ name: 'A bot', suspectedSpam: true, mobile: '9876500001' })
  const closed = await store({ name: 'Closed one' })
  await asRavi('setStatus', { references: [closed], status: 'Closed', closedAs: 'Ordered', was: 'New' })
  const { page } = await open('', PC)
  await button(page, /^All/).click()
  for (const name of ['A bot', 'Closed one']) {
    await rowOf(page, name).getByRole('link', { name, exact: true }).focus()
    for (const key of ['c', 'n']) await page.keyboard.press(key)
    expect(await button(page, `No answer: ${name}`).count()).toBe(0)
  }
  expect(await rowOf(page, 'A bot').locator('.status').innerText()).toBe('New')
  expect(await page.locator('.progress').count()).toBe(0)
  expect(await stored(closed)).toMatchObject({ status: 'Closed', closedAs: 'Ordered', remindOn: null })
  await button(page, 'New again: Closed one').click()
  await expect.poll(async () => (await stored(closed)).status).toBe('New')
})

it('what is to be erased is counted for all, found, and kept by a press at its row', async () => {
  const reference = await store()
  await asRavi('erase', { references: [reference] })
  const { page } = await open('', PC)
  await page.getByLabel('Buying for').selectOption('Retailer')
  await page.getByRole('searchbox').fill('menon')
  await page.getByText('Nothing found', { exact: false }).waitFor()
  await button(page, '1 to be erased').click()
  await page.waitForTimeout(1000) // a search waits for 300 ms
  expect(await page.getByRole('searchbox').inputValue()).toBe('to be erased')
  await rowOf(page, 'Asha Verma').getByRole('link', { name: 'Asha Verma', exact: true }).focus()
  await page.keyboard.press('c') // no letter contacts it
  await button(page, 'Keep it: Asha Verma').click()
  await expect.poll(async () => (await stored(reference)).eraseAt).toBeNull()
  expect((await stored(reference)).status).toBe('New')
  await button(page, '1 to be erased').waitFor({ state: 'detached' })
})

it.each([360, 1440])('at %i px no row moves when the last new one is answered', async (width) => {
  await store()
  const { page } = await open('', { viewport: { width, height: 800 } })
  const top = async () => (await rows(page).boundingBox())?.y
  const before = await top()
  await button(page, 'Mark contacted: Asha Verma').click()
  await page.waitForFunction(() => document.title.startsWith('0 new'))
  expect(await top()).toBe(before)
})

it('"Ring me on Monday" is a press more at the row, on a phone; on a PC no row moves', async () => {
  const reference = await store()
  const { page } = await open()
  await button(page, 'Mark contacted: Asha Verma').click()
  const monday = rowOf(page, 'Asha Verma').getByRole('button', { name: 'Monday', exact: true })
  const topOf = async (shown: typeof monday) => (await shown.boundingBox())?.y ?? 0
  expect(await topOf(monday)).toBeGreaterThan(await topOf(button(page, 'Take back: Asha Verma'))) // which stays in its place
  await monday.click()
  await expect.poll(async () => (await stored(reference)).remindOn).not.toBeNull()
  expect(await focused(page)).toBe('Monday')
  expect((await stored(reference)).status).toBe('Contacted')
  const second = await store({ name: 'Kavya Menon', mobile: '9876500098' })
  const { page: pc } = await open('', PC)
  await button(pc, 'Mark contacted: Kavya Menon').click()
  await expect.poll(async () => (await stored(second)).status).toBe('Contacted')
  expect(await rowOf(pc, 'Kavya Menon').getByRole('button', { name: 'Monday', exact: true }).count()).toBe(0)
})

it('whoever rings back after No answer is marked as contacted at the row', async () => {
  const reference = await store()
  const { page } = await open('', PC)
  await button(page, 'No answer: Asha Verma').click()
  await rowOf(page, 'Asha Verma').locator('.flag', { hasText: 'rang once' }).waitFor()
  await button(page, 'Mark contacted: Asha Verma').click()
  await expect.poll(async () => (await stored(reference)).status).toBe('Contacted')
})

it('order and filters that are kept are seen, on a phone too, and ended by a press', async () => {
  await put({ name: 'The older one', receivedAt: hoursAgo(2), mobile: '9876500001' })
  await store({ name: 'The newer one', retailerSelfUse: 'Self Use' })
  const { page } = await open()
  await button(page, 'Filters').click()
  await page.getByLabel('Order').selectOption('Oldest first')
  await page.getByLabel('Buying for').selectOption('Self Use')
  await page.getByLabel('Received').selectOption('Received today')
  await page.reload()
  const names = () => rows(page).locator('h2').allInnerTexts()
  await expect.poll(names).toEqual(['The newer one'])
  expect(await page.locator('.filters').isVisible()).toBe(false)
  await button(page, 'Remove: Oldest first').waitFor()
  await button(page, 'Remove: Self Use').click()
  await button(page, 'Remove: received today').click()
  await expect.poll(names).toEqual(['The older one', 'The newer one'])
  await button(page, 'Remove: Oldest first').click()
  await expect.poll(names).toEqual(['The newer one', 'The older one'])
  await expect.poll(() => focused(page)).not.toBe('body')
  expect(await page.locator('.chip').count()).toBe(0)
})

it('a list loads more, 25 at a time, in both orders, also when its last row was erased', async () => {
  await site().inspect((db) => storeEnquiries(db, 26, hoursAgo(1)))
  await store({ name: 'Last visitor' })
  const { page } = await open('', PC)
  await expect.poll(() => rows(page).count()).toBe(25)
  expect(await rows(page).first().innerText()).toContain('Last visitor')
  await page.getByLabel('Order').selectOption('Oldest first')
  await expect.poll(() => rows(page).first().innerText()).not.toContain('Last visitor')
  const last = (await rows(page).last().getAttribute('data-row')) ?? ''
  await site().inspect((db) => db.enquiry.delete({ where: { reference: last } }))
  await button(page, 'Load more').click()
  await expect.poll(() => rows(page).count()).toBe(27)
  expect(await rows(page).last().innerText()).toContain('Last visitor')
  expect(await button(page, 'Load more').count()).toBe(0)
})

it('the head tells what there is to do: problems first, how many are new, since when, and who is signed in where', async () => {
  await put({ receivedAt: hoursAgo(72) })
  await store({ products: products[1] })
  await site().inspect(
    (db) => db.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Bounced', "DueAt" = NULL, "SentAt" = now()
    WHERE "To" = ${RAVI}`,
  )
  await open() // another browser
  const { page } = await open()
  await page.getByRole('heading', { name: 'To mend' }).waitFor()
  expect(await page.locator('.problems').innerText()).toContain(`The last mail to ${RAVI} did not arrive.`)
  expect(await page.locator('.overview').innerText()).toMatch(
    new RegExp(`2 new[^]*the oldest waits 3 days[^]*1 ${products[1]}`),
  )
  expect(await page.title()).toMatch(/^2 new \| /)
  expect(await page.locator('[data-late]').count()).toBe(1)
  await page.locator('summary', { hasText: STAFF }).click()
  await page.getByText('You are signed in with 2 browsers.').waitFor()
  await button(page, 'Sign out in the others').click()
  await page.locator('summary').click()
  await page.getByText('You are signed in with this browser only.').waitFor()
})

it('on a PC an enquiry is one line, its number is text, and marking it stands before all else', async () => {
  await store()
  const { page } = await open('', PC)
  await rows(page).waitFor()
  expect((await rows(page).boundingBox())?.height).toBeLessThan(60)
  expect(await rows(page).locator('.number').innerText()).toBe('98765 43210')
  expect(await rows(page).locator('.row-actions').innerText()).toMatch(/^Mark contacted/)
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await rows(page).locator('.row-actions').innerText()).toMatch(/^Call/)
})

it('a newer server is met at the next opening, not in the middle of work', async () => {
  await store()
  const { page } = await open()
  await rows(page).waitFor()
  await page.route('**/trpc/desk.pulse', async (route) => {
    const answer = await route.fetch()
    const { result } = await answer.json()
    const data = { ...result.data, version: 'a newer one', problems: ['a pulse of the newer one'] }
    await route.fulfill({ json: { result: { data } } })
  })
  await page.evaluate(() => Object.assign(window, { isOldPage: true }))
  await comeBackFor(page, page.getByText('a pulse of the newer one'))
  expect(await page.evaluate(() => 'isOldPage' in window)).toBe(true)
  await page.getByRole('link', { name: 'Asha Verma', exact: true }).click()
  await page.locator('.whole').waitFor()
  expect(await page.evaluate(() => 'isOldPage' in window)).toBe(false)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

it('axe finds nothing, HTML is valid, nothing is wider than the screen, and targets are 44 px, at every width', async () => {
  const reference = await store({ name: 'A name of two hundred characters '.repeat(6).trim() })
  await store({ name: 'प्रिया नायर' })
  await store({ website: 'x' })
  await asRavi('addNote', { reference, text: 'x'.repeat(300) })
  await asRavi('addCall', { reference })
  await asRavi('erase', { references: [reference] })
  await site().inspect(
    (db) => db.$executeRaw`UPDATE "Quvera_Mail" SET "Status" = 'Failed', "DueAt" = NULL, "FirstTriedAt" = now(),
    "LastError" = '422 validation_error: Invalid to field'`,
  )
  const { page } = await open('', { reducedMotion: 'reduce' })
  for (const path of ['', `/${reference}`, '/QV-NOTHNG', '/sign-in?sent', '/enter?token=x']) {
    await page.goto('about:blank') // elsewhere: a desk without a session leads to its sign-in page by itself
    if (path === '/sign-in?sent') await page.context().clearCookies()
    await page.goto(address() + path)
    if (path === '') {
      await rows(page).first().waitFor()
      expect((await page.locator('.tabs').boundingBox())?.height).toBeLessThan(60) // one row
    }
    if (path === `/${reference}`) await page.getByRole('heading', { name: 'History' }).waitFor()
    expect(await faultsOf(await current(page)), path).toEqual([])
    for (const width of [360, 768, 1440]) {
      await page.setViewportSize({ width, height: 800 })
      const at = `${path} at ${width} px`
      // Colours are the same at every width; the desk itself has columns at the widest.
      const searchedIn: Record<number, ('light' | 'dark')[]> = {
        360: ['light', 'dark'],
        1440: path.includes('?') ? [] : ['light'],
      }
      for (const colorScheme of searchedIn[width] ?? []) {
        await page.emulateMedia({ colorScheme })
        expect(await violations(page), `${at}, ${colorScheme}`).toEqual([])
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth), at).toBeLessThanOrEqual(width)
      const small = await page
        .locator('button, input:not([type=hidden]), select, textarea, summary, .row-actions a, .buttons a')
        .evaluateAll((all) =>
          all
            .map((each) => ({ height: each.getBoundingClientRect().height, html: each.outerHTML }))
            .filter(({ height }) => height > 0 && height < 43.9)
            .map((each) => each.html),
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

it('axe finds nothing in the dialogs, and they give the focus back', async () => {
  const reference = await store()
  const { page } = await open(`/${reference}`, { reducedMotion: 'reduce' })
  for (const name of ['Correct', 'What we hold', 'Erase']) {
    await button(page, name).click()
    await page.locator('dialog[open] :is(.field, .held, .ticks)').first().waitFor()
    expect(await violations(page), name).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page)).toBe(name)
  }
})

it('the keyboard alone is enough, and keeps its place; letters act only inside a row', async () => {
  await store()
  const { page } = await open('', PC)
  await rows(page).waitFor()
  const tabTo = async (text: string) => {
    for (let times = 0; times < 40 && (await focused(page)) !== text; times++) await page.keyboard.press('Tab')
    await expect.poll(() => focused(page)).toBe(text)
  }
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('Skip to the enquiries')
  await page.keyboard.press('c')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('Asha Verma')
  expect(await rows(page).locator('.status').innerText()).toBe('New')
  await page.keyboard.press('c')
  await expect.poll(() => rows(page).locator('.status').innerText()).toBe('Contacted')
  await page.locator('.progress').waitFor({ state: 'detached' })
  await page.keyboard.press('u')
  await expect.poll(() => rows(page).locator('.status').innerText()).toBe('New')
  await page.locator('.progress').waitFor({ state: 'detached' })
  await page.keyboard.press('n')
  await page.locator('.flag', { hasText: 'rang once' }).waitFor()
  await expect.poll(() => focused(page)).toBe('Asha Verma')
  await page.keyboard.press('Enter')
  await page.locator('.whole').waitFor()
  await expect.poll(() => focused(page)).toBe('Asha Verma') // its title
  await tabTo('No answer')
  await page.keyboard.press('Space')
  await page.getByRole('article').locator('.flag', { hasText: 'rang twice' }).waitFor()
  await expect.poll(() => focused(page)).toBe('No answer')
  await page.goBack()
  await rows(page).waitFor()
  await expect.poll(() => focused(page)).toBe('Asha Verma')
})

it('arrow keys move the focus between rows, with the focus inside one only', async () => {
  for (const name of ['Third', 'Second', 'First']) await store({ name })
  const { page } = await open('', PC)
  await rows(page).first().waitFor()
  await page.keyboard.press('ArrowDown')
  expect(await focused(page)).toBe('body')
  await button(page, 'No answer: First').focus()
  const after = async (key: string) => {
    await page.keyboard.press(key)
    return focused(page)
  }
  expect(await after('ArrowDown')).toBe('Second')
  expect(await after('ArrowDown')).toBe('Third')
  expect(await after('ArrowDown')).toBe('Third')
  expect(await after('ArrowUp')).toBe('Second')
  expect((await stored((await rows(page).first().getAttribute('data-row')) ?? '')).status).toBe('New')
})

it('a page that the browser translates stays right', async () => {
  const reference = await store()
  const { page, problems } = await open('', PC)
  await rows(page).waitFor()
  await page.evaluate(translate)
  await page.getByText('MARK CONTACTED').click()
  await page.getByText('ASHA VERMA: CONTACTED').waitFor() // the toast
  await rowOf(page, 'ASHA VERMA')
    .locator('.status', { hasText: /^CONTACTED$/ })
    .waitFor()
  await page.locator('.tabs').getByText('CONTACTED', { exact: true }).click()
  await page.locator('.overview', { hasText: '0 NEW' }).waitFor()
  await page.locator('.name a').click()
  await page.getByLabel(/ADD A LINE/).fill('wants a price')
  await page.getByText('ADD NOTE').click()
  await page.locator('.note', { hasText: 'WANTS A PRICE' }).waitFor()
  await page.getByText('ALL ENQUIRIES').click()
  await rowOf(page, 'ASHA VERMA').waitFor()
  expect((await stored(reference)).status).toBe('Contacted')
  expect(problems).toEqual([])
})

it('the focus stays in the row that is worked on, and each change is announced', async () => {
  await store()
  const { page } = await open('', PC)
  await rows(page).waitFor()
  await button(page, 'Mark contacted: Asha Verma').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('status').filter({ hasText: 'Asha Verma: Contacted' }).first().waitFor({ state: 'attached' })
  await expect.poll(() => focused(page)).toBe('Take back: Asha Verma')
  await page.keyboard.press('Enter')
  await button(page, 'Mark contacted: Asha Verma').waitFor()
  await expect.poll(() => focused(page)).not.toBe('body')
  await button(page, 'Mark contacted: Asha Verma').click()
  await toast(page, 'Asha Verma: Contacted').getByRole('button', { name: 'Take back' }).press('Enter')
  await expect.poll(() => rows(page).locator('.status').innerText()).toBe('New')
  await expect.poll(() => focused(page)).toBe('Asha Verma')
})

it('the home screen has an icon and a name for the desk, without a session', async () => {
  const { page } = await open()
  const path = await page.locator('link[rel=manifest]').getAttribute('href')
  const manifest = JSON.parse(await html(String(path)))
  expect(manifest).toMatchObject({ name: `${brand.name} desk`, start_url: '/staff', display: 'standalone' })
  expect((await fetch(site().url + manifest.icons[0].src)).status).toBe(200)
})

it('the desk loads at most 115 kB of scripts and styles, React included, and no visitor loads any of it', async () => {
  const { page } = await newcomer(PHONE)
  await signIn(page.context())
  await page.goto(address())
  await page.locator('.desk-head').waitFor()
  const assets = [...(await page.content()).matchAll(/\/assets\/[\w.-]+\.(?:js|css)/g)].map(([path]) => path)
  expect(assets.length).toBeGreaterThanOrEqual(2)
  let bytes = 0
  for (const asset of assets) bytes += gzipSync(await html(asset)).length
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
  for (const path of paths) {
    const text = await html(path)
    expect(
      [...assets, '/staff'].filter((each) => text.includes(each)),
      path,
    ).toEqual([])
  }
  expect(await html('/sitemap.xml')).not.toContain('staff')
})
