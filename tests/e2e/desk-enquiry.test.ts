// One enquiry at the desk: reaching its visitor, what came of it, taking it back, correcting, entering, erasing.
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { messages } from '../../shared/order.ts'
import { hold, intercept } from '../support/browser.ts'
import { button, comeBack, comeBackFor, deskForTests, PC, RAVI, rowOf, rows, toast } from '../support/desk-page.ts'
import { STAFF } from '../support/fake-resend.ts'
import { fillOrder, typedOrder } from '../support/fill-order.ts'
import { hoursAgo, storeEnquiries } from '../support/stored-enquiry.ts'

const { site, address, open, openOne, store, put, asRavi, stored } = deskForTests()

const statusOf = (page: Page) => page.locator('.whole-head .status').innerText()
const flag = (place: Page | Locator, text: string | RegExp) => place.locator('.flag', { hasText: text })
/** The enquiry that is opened, which on a PC stands beside the list. */
const opened = (page: Page) => page.getByRole('article')
const dialog = (page: Page) => page.locator('dialog[open]')

it('staff call, write and copy, and prepared texts are written already', async () => {
  const { page, problems, reference } = await openOne({ name: '<img src=x onerror=alert(1)> مريم' })
  await page.locator('.reply [href]').first().waitFor()
  const links = await page.locator('.contact a').evaluateAll((all) => all.map((each) => each.getAttribute('href')))
  const text = `Hello, thank you for your enquiry ${reference} about 24 × ${brand.name} 300.`
  expect(links.slice(0, 3)).toEqual([
    'tel:+919876543210',
    'https://wa.me/919876543210',
    `mailto:asha.verma@shop.example?subject=${encodeURIComponent(`${brand.name} enquiry ${reference}`)}`,
  ])
  expect(links[3]).toContain(`https://wa.me/919876543210?text=${encodeURIComponent(text)}`)
  expect(links[4]).toContain(`${links[2]}&body=${encodeURIComponent(text)}`)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await button(page, 'Copy number').click()
  await toast(page, 'The number is copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('9876543210')
  await button(page, 'Copy all').click()
  await toast(page, 'The enquiry is copied').waitFor()
  expect((await page.evaluate(() => navigator.clipboard.readText())).split('\n')).toEqual([
    ...[reference, '<img src=x onerror=alert(1)> مريم', '98765 43210', 'asha.verma@shop.example'],
    ...[`24 × ${brand.name} 300`, 'Retailer'],
  ])
  expect(await page.locator('h1 bdi').innerText()).toContain('<img src=x')
  expect(await page.locator('.whole img').count()).toBe(0)
  expect(problems).toEqual([])
})

it('whoever comes back from a call is asked once whether they reached anybody, and others see who rings', async () => {
  const reference = await store()
  const { page } = await open()
  await page.clock.install()
  await page.reload()
  const call = page.getByRole('link', { name: /^Call Asha Verma/ })
  await call.evaluate((link) => link.addEventListener('click', (event) => event.preventDefault()))
  await Promise.all([page.waitForResponse('**/trpc/desk.ring'), call.click()])
  await comeBack(page)
  expect(await page.getByText('Reached?').count()).toBe(0) // too soon
  const other = await open('', { email: RAVI })
  await flag(other.page, 'staff is ringing').waitFor()
  await page.clock.fastForward(16_000)
  await comeBack(page)
  await rowOf(page, 'Asha Verma').getByText('Reached?').waitFor()
  await button(page, 'Not now').click()
  await comeBack(page)
  expect(await page.getByText('Reached?').count()).toBe(0)
  await call.evaluate((link) => link.addEventListener('click', (event) => event.preventDefault()))
  await call.click()
  await page.clock.fastForward(16_000)
  await comeBack(page)
  await button(page, 'No answer').click()
  await flag(page, 'rang once').waitFor()
  expect((await stored(reference)).status).toBe('New')
})

it('whoever comes back from WhatsApp, a mail or a prepared text is asked, too', async () => {
  const { page } = await openOne()
  await page.clock.install()
  await page.reload()
  for (const name of ['WhatsApp', 'Write', 'Could not reach you, by WhatsApp']) {
    const link = page.getByRole('link', { name, exact: true })
    await link.evaluate((each) => each.addEventListener('click', (event) => event.preventDefault()))
    await link.click()
    await comeBack(page)
    expect(await page.getByText('Reached?').count(), name).toBe(0)
    await page.clock.fastForward(16_000)
    await comeBack(page)
    await page.getByText('Reached?').waitFor()
    await button(page, 'Not now').click()
    await comeBack(page)
    expect(await page.getByText('Reached?').count(), name).toBe(0)
  }
})

it('Contacted asks whether a day that is set still holds', async () => {
  const reference = await put({ remindOn: hoursAgo(-72) })
  const { page } = await open()
  await page.getByText('Nothing new. 1 to ring.').waitFor()
  await button(page, 'To ring 1 later').click()
  await button(page, 'Mark contacted: Asha Verma').click()
  await toast(page, /Contacted\. Still to be rung \w+/).waitFor()
  await page.getByText(/^Still ring .+\?$/).waitFor()
  await button(page, 'never').click()
  await expect.poll(async () => (await stored(reference)).remindOn).toBe(null)
})

it('of two at once each reads what the other did: at the row, and in one message', async () => {
  const reference = await store()
  const { page } = await open()
  const restore = await intercept(page, '**/desk.pulse', (route) => route.abort())
  await asRavi('setStatus', { references: [reference], status: 'Contacted', was: 'New' })
  await button(page, 'No answer: Asha Verma').click()
  const words = /ravi@quvera\.test at .+: set to Contacted \(was New\)\. Nothing was changed\./
  await toast(page, words).waitFor()
  await rowOf(page, 'Asha Verma').getByText(words).waitFor()
  await restore()
  await comeBackFor(page, button(page, 'Take back ravi’s: Asha Verma'))
  await button(page, 'Take back ravi’s: Asha Verma').click()
  await toast(page, 'taken back: set to Contacted (was New)').waitFor()
  expect(await page.locator('.Toastify__toast--success').count()).toBe(1)
  await page.getByRole('link', { name: 'Asha Verma', exact: true }).click()
  await page.locator('.whole').waitFor()
  await expect.poll(() => page.locator('.Toastify__toast--success').count()).toBe(0)
})

it('the tab tells how many are due, a row that it is overdue, and Contacted again ends it', async () => {
  const reference = await put({ status: 'Contacted', remindOn: hoursAgo(72) })
  await put({ name: 'Due later', remindOn: hoursAgo(-120) })
  const { page } = await open()
  await button(page, 'To ring 1 due').click()
  await flag(rowOf(page, 'Asha Verma'), /^overdue since \w{3} \d/).waitFor()
  expect(await page.locator('.enquiries h2').allInnerTexts()).toEqual(['Asha Verma', 'Later', 'Due later'])
  await button(page, 'Mark contacted: Asha Verma').click()
  await button(page, 'To ring 1 later').waitFor()
  expect(await stored(reference)).toMatchObject({ status: 'Contacted', remindOn: null })
})

it('no answer counts and sets a reminder, which chips change; To ring has what is due first', async () => {
  const reference = await store({ name: 'To be rung' })
  const due = await put({ name: 'Due today', receivedAt: hoursAgo(5), mobile: '9876500001' })
  const today = new Date(Date.now() + 5.5 * 3_600_000).toISOString().slice(0, 10)
  await asRavi('remind', { reference: due, on: today })
  const { page } = await open('', PC)
  await button(page, 'No answer: To be rung').click()
  await flag(page, 'rang once').waitFor()
  await toast(page, /To be rung: no answer\. Ring (tomorrow|Mon)/).waitFor()
  await rowOf(page, 'To be rung').getByRole('button', { name: 'Monday' }).click({ force: true })
  await flag(page, /ring (Mon|tomorrow)/).waitFor()
  await button(page, /^To ring/).click()
  await page.getByRole('heading', { name: 'Later' }).waitFor()
  expect(await page.locator('.enquiries h2').allInnerTexts()).toEqual(['Due today', 'Later', 'To be rung'])
  await page.getByRole('link', { name: 'To be rung', exact: true }).click()
  await page.locator('.whole [type=date]').fill('2099-01-02')
  await button(page, 'Set day').click()
  await flag(opened(page), 'ring Fri 2 Jan').waitFor()
  await button(page, 'never').click()
  await expect.poll(async () => (await stored(reference)).remindOn).toBe(null)
})

it('an enquiry is closed with its reason, and everything can be taken back and put back', async () => {
  const { page, reference } = await openOne()
  await button(page, 'Ordered').click()
  await expect.poll(() => statusOf(page)).toBe('Closed, Ordered')
  await page.locator('.progress').waitFor({ state: 'detached' })
  await page.locator('.outcome').getByRole('button', { name: 'Take back' }).click()
  await expect.poll(() => statusOf(page)).toBe('New')
  await button(page, 'Put back').click()
  await expect.poll(() => statusOf(page)).toBe('Closed, Ordered')
  expect((await stored(reference)).status).toBe('Closed')
  await page.locator('.lines', { hasText: 'set to Closed, Ordered (was New)' }).first().waitFor()
  await button(page, 'Not reached').click()
  await expect.poll(() => statusOf(page)).toBe('Closed, Not reached')
  await button(page, 'No reason').click()
  await expect.poll(async () => (await stored(reference)).closedAs).toBe(null)
})

it('notes are lines of their own, each with who and when, and each is taken back alone', async () => {
  const { page, reference } = await openOne()
  await asRavi('addNote', { reference, text: 'rings back on <b>Monday</b>' })
  await page.getByLabel(/^Add a line/).fill('wants a price')
  await button(page, 'Add note').click()
  const notes = page.locator('.note')
  await expect.poll(() => notes.count()).toBe(2)
  expect(await notes.first().innerText()).toMatch(/rings back on <b>Monday<\/b>[\s\S]*ravi@quvera\.test, \d\d:\d\d/)
  const scrolled = await page.evaluate(() => {
    document.querySelector('.note')?.scrollIntoView()
    return scrollY
  })
  await notes.first().getByRole('button', { name: 'Remove' }).click()
  await expect.poll(() => notes.count()).toBe(1)
  const [top = 0, focus] = await page.evaluate(() => [scrollY, document.activeElement?.tagName] as const)
  expect([focus, scrolled - top < 150]).toEqual(['SECTION', true]) // the line that went was as high
  await page.locator('section', { hasText: 'History' }).getByText('taken back: a note (removed)').waitFor()
  expect(await notes.innerText()).toContain('wants a price')
})

it('spam is released, the toast says to whom mails go, and taking it back in time sends nothing', async () => {
  await store({ website: 'filled in by a browser' })
  const { page } = await open()
  await page.getByText('Nothing new. Everybody has an answer.').waitFor()
  await button(page, /^Suspected spam/).click()
  await button(page, 'Not spam: Asha Verma').click()
  await toast(page, 'In 30 seconds mails go to staff and to asha.verma@shop.example').waitFor()
  await button(page, 'New 1').waitFor()
  const before = site().resend.mails.length
  await button(page, 'Take back: Asha Verma').click()
  await button(page, 'Not spam: Asha Verma').waitFor()
  await button(page, 'New 0').waitFor()
  expect(site().resend.mails.length).toBe(before)
})

it('"Not spam" after two days says who gets no mail', async () => {
  await put({ suspectedSpam: true, receivedAt: hoursAgo(50) })
  await site().inspect((db) => db.mail.deleteMany())
  const { page } = await open()
  await button(page, /^Suspected spam/).click()
  await button(page, 'Not spam: Asha Verma').click()
  const told = toast(page, 'In 30 seconds mails go to staff. asha.verma@shop.example gets no acknowledgement')
  await told.waitFor()
  await told.getByRole('button', { name: 'Take back' }).click()
  await button(page, 'Suspected spam 1').waitFor()
})

it('what is surely spam is closed, one or all that are shown', async () => {
  for (const name of ['One bot', 'Two bots', 'Three bots']) await store({ name, website: 'x' })
  const { page } = await open()
  await button(page, /^Suspected spam/).click()
  await button(page, 'Surely spam: One bot').click()
  await toast(page, 'One bot: Closed').waitFor()
  await button(page, 'Surely spam: all 2 shown').click()
  await button(page, 'Yes, close 2 as spam').click()
  await toast(page, '2 enquiries: Closed').waitFor()
  await button(page, 'Suspected spam 0').waitFor()
  await toast(page, '2 enquiries: Closed').getByRole('button', { name: 'Take back' }).click()
  await button(page, 'Suspected spam 2').waitFor()
})

it('of more than a hundred suspected the first hundred are closed at once', async () => {
  await site().inspect(async (db) => {
    await storeEnquiries(db, 110, hoursAgo(1))
    await db.enquiry.updateMany({ data: { suspectedSpam: true } })
  })
  const { page } = await open()
  await button(page, /^Suspected spam/).click()
  for (const shown of [50, 75, 100, 110]) {
    await button(page, 'Load more').click()
    await expect.poll(() => rows(page).count()).toBe(shown)
  }
  await button(page, 'Surely spam: the first 100 shown').click()
  await button(page, 'Yes, close 100 as spam').click()
  await button(page, 'Suspected spam 10').waitFor()
})

it('a correction is checked by the form’s own rules, stored, and taken back; a proposal is accepted by one press', async () => {
  const { page, reference } = await openOne()
  await button(page, 'Correct').click()
  await dialog(page).getByLabel('Mobile').fill('98765')
  await dialog(page).getByLabel('Email').fill('')
  await button(page, 'Store').click()
  await dialog(page).getByText(messages.tenDigits).waitFor()
  await dialog(page).getByText(messages.empty).waitFor()
  await dialog(page).getByLabel('Mobile').fill('+91 99711 12345')
  await dialog(page).getByLabel('Email').fill('asha@shop.example')
  await button(page, 'Store').click()
  await expect.poll(() => dialog(page).count()).toBe(0)
  await page.locator('.mobile', { hasText: '99711 12345' }).waitFor()
  expect(await stored(reference)).toMatchObject({
    mobile: '9971112345',
    email: 'asha@shop.example',
    name: 'Asha Verma',
  })
  await page.locator('.outcome').getByRole('button', { name: 'Take back' }).click()
  await page.locator('.mobile', { hasText: '98765 43210' }).waitFor()
  await expect.poll(async () => (await stored(reference)).mobile).toBe('9876543210')
  await site().inspect(
    (db) => db.$executeRaw`INSERT INTO "Quvera_History" ("EnquiryId", "ByVisitor", "Key", "What", "After")
      SELECT "Id", TRUE, gen_random_uuid(), 'Proposal', '{"Mobile": "9971154321"}' FROM "Quvera_Form"`,
  )
  await comeBackFor(page, page.getByText('The visitor proposes 99711 54321.'))
  const restore = await intercept(page, '**/trpc/desk.accept', (route) => route.abort())
  await button(page, 'Accept').click()
  await page.getByText('not stored yet').first().waitFor()
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain('9971154321')
  await page.reload() // it waits in the browser, by the key of the proposal
  await restore()
  await page.locator('.mobile', { hasText: '99711 54321' }).waitFor()
  await page.getByText('The visitor proposes').waitFor({ state: 'detached' })
  await expect.poll(async () => (await stored(reference)).mobile).toBe('9971154321')
})

it('an enquiry by phone is entered by the same form, may have no address, and begins as Contacted without mails', async () => {
  const { page } = await open()
  await button(page, 'Add one by phone').click()
  await button(page, 'Store').click()
  const needed = Object.entries(typedOrder).filter(([name, value]) => name !== 'email' && value !== '')
  await expect.poll(() => dialog(page).getByText(messages.empty).count()).toBe(needed.length)
  await fillOrder(page, { name: 'Kavya Menon', email: '', mobile: '098765 00098' }, 'dialog')
  expect(await dialog(page).getByText(messages.empty).count()).toBe(0)
  await dialog(page).getByLabel(/^Note/).fill('x'.repeat(501))
  await button(page, 'Store').click()
  await dialog(page).getByText('A note has at most 500 characters.').waitFor()
  await dialog(page).getByLabel(/^Note/).fill('wants a price')
  await button(page, 'Store').click()
  await toast(page, 'Kavya Menon: entered, as Contacted. No mails go out').waitFor()
  await page.getByRole('heading', { name: 'Kavya Menon' }).waitFor()
  await page.locator('.note', { hasText: 'wants a price' }).waitFor()
  expect(await statusOf(page)).toBe('Contacted')
  await page.locator('section', { hasText: 'Mails' }).getByText('None.').waitFor()
  await page.getByRole('link', { name: 'All enquiries' }).click()
  await button(page, 'Contacted 1').waitFor()
})

it('what we hold of a person is ticked, shown and printed in words, and saved with all columns', async () => {
  const other = await store({ name: 'Her Brother', quantity: 3 })
  const { page, reference } = await openOne()
  await asRavi('addNote', { reference, text: 'wants a <b>price</b>' })
  const mistaken = crypto.randomUUID()
  await asRavi('addCall', { key: mistaken, reference })
  await asRavi('takeBack', { of: mistaken })
  await asRavi('addCall', { reference })
  await button(page, 'What we hold').click()
  await page.locator('.held').waitFor()
  const texts = ['9876543210', 'note: wants a <b>price</b>', 'rang, no answer', /the acknowledgement \w+/]
  for (const text of texts) await page.locator('.held section').getByText(text).waitFor()
  expect(await page.locator('.held section').getByText('rang, no answer').count()).toBe(1)
  // The number is shared: only what has her name is ticked.
  expect(await page.locator('.held section').count()).toBe(1)
  await page.getByLabel('Her Brother').check()
  await page.locator('.held section', { hasText: other }).waitFor()
  await page.getByLabel('Her Brother').uncheck()
  await page.evaluate(() => {
    window.print = () => document.body.classList.add('printed')
  })
  await button(page, 'Print or save as PDF').click()
  await page.locator('.printed').waitFor()
  await page.emulateMedia({ media: 'print' })
  const printed = page.locator('body *').filter({ visible: true })
  expect((await printed.allInnerTexts()).join()).not.toMatch(/Her Brother|Mark contacted|Print or save/)
  await page.emulateMedia({ media: 'screen' })
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Save all columns (JSON)').click()])
  expect(download.suggestedFilename()).toBe(`${reference}-what-we-hold.json`)
  const held = JSON.parse(await readFile(await download.path(), 'utf8'))
  expect(held.enquiries).toMatchObject([{ Reference: reference, Name: 'Asha Verma', Mails: expect.anything() }])
})

it('nothing more is done to an enquiry before what was taken back is', async () => {
  const { page } = await openOne()
  await button(page, 'Mark contacted').click()
  await expect.poll(() => statusOf(page)).toBe('Contacted')
  await page.locator('.progress').waitFor({ state: 'detached' })
  const release = await hold(page, '**/desk.takeBack')
  await page.locator('.outcome').getByRole('button', { name: 'Take back' }).click()
  await expect.poll(() => button(page, 'No answer').getAttribute('aria-disabled')).toBe('true')
  release()
  await expect.poll(() => button(page, 'No answer').getAttribute('aria-disabled')).toBe('false')
  await button(page, 'No answer').click()
  await flag(page, 'rang once').waitFor()
  expect(await statusOf(page)).toBe('New')
})

it('what we hold is printed on as many sheets as it takes', async () => {
  for (let index = 0; index < 12; index++) await put({ receivedAt: hoursAgo(index) })
  const { page } = await openOne()
  await button(page, 'What we hold').click()
  await page.locator('.held section').nth(12).waitFor()
  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
  expect(pdf.match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(1)
})

it('erasing is ticked one by one, seen by all for a day, and taken back', async () => {
  const earlier = await put({ name: 'Asha’s sister', receivedAt: hoursAgo(30) })
  const { page, reference } = await openOne()
  await button(page, 'Erase').click()
  await expect.poll(() => dialog(page).getByRole('checkbox').count()).toBe(2)
  expect(await dialog(page).getByRole('checkbox', { checked: true }).count()).toBe(1)
  await button(page, 'Erase 1 enquiry in a day').click()
  await page.getByText('It will be erased', { exact: false }).waitFor()
  expect((await stored(reference)).eraseAt).not.toBe(null)
  expect((await stored(earlier)).eraseAt).toBe(null)
  const colleague = await open(`/${reference}`, { email: RAVI })
  await colleague.page.getByText('It will be erased', { exact: false }).waitFor()
  await colleague.page.locator('.outcome .notice').getByRole('button', { name: 'Take back' }).click()
  await expect.poll(async () => (await stored(reference)).eraseAt).toBe(null)
})

it('a mail that failed is sent again', async () => {
  const reference = await put({}, { Notice: ['Failed', '422 Invalid to field'] })
  const { page } = await open(`/${reference}`)
  await button(page, /^Send again/).click()
  await toast(page, 'the mail is sent again').waitFor()
  await expect.poll(() => site().resend.mails.some(({ to }) => String(to).includes(STAFF))).toBe(true)
})

it('the page of an enquiry shows at once what its row knows; Back, Next and links keep their place', async () => {
  for (let index = 0; index < 20; index++)
    await put({ name: `Visitor ${index}.`, receivedAt: hoursAgo(index + 1), mobile: `98765000${10 + index}` })
  const { page } = await open()
  await rows(page).first().waitFor()
  const link = page.getByRole('link', { name: 'Visitor 15.', exact: true })
  await link.scrollIntoViewIfNeeded()
  const place = await page.evaluate(() => scrollY)
  const release = await hold(page, '**/trpc/desk.show')
  await link.click()
  await page.getByRole('heading', { name: 'Visitor 15.' }).waitFor()
  await page.getByRole('link', { name: 'Next' }).click()
  await page.getByRole('heading', { name: 'Visitor 16.' }).waitFor()
  release()
  await page.goBack()
  await rows(page).first().waitFor()
  expect(page.url()).toBe(address())
  expect(Math.abs((await page.evaluate(() => scrollY)) - place)).toBeLessThan(5)
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toMatch(/^Visitor 1[56]\.$/)
  const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click({ modifiers: ['ControlOrMeta'] })])
  await tab.getByRole('heading', { name: 'Visitor 15.' }).waitFor()
  await tab.getByRole('link', { name: 'All enquiries' }).click()
  await rows(tab).first().waitFor()
})
