// An order is received once, also where scripts are missing or broken, the browser is old, or the network was away.
import { readdirSync, readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { subscribe } from '../../client/content/contact.ts'
import { scriptOffline } from '../../client/content/enquiry-form.ts'
import { MIN_FILL_MS } from '../../server/orders/storing.ts'
import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { anAddress, fillOrder, sendButton } from '../support/fill-order.ts'
import { siteForTests } from '../support/visit.ts'

const { newcomer, site, storedFrom } = siteForTests({ pictures: false })

/** A page on which something has gone wrong. */
async function openAfter(prepare: (page: Page) => Promise<unknown>, path = '/buy-now') {
  const visited = await newcomer()
  await prepare(visited.page)
  await visited.page.goto(site().url + path, { waitUntil: 'commit' })
  return visited
}

/** Slowly enough not to be suspected as a program. */
async function fillAsAPerson(page: Page, email: string) {
  await fillOrder(page, { email })
  await page.waitForFunction((ms) => performance.now() > ms, MIN_FILL_MS)
}

/** By script or as a form: what the visitor sees in the end, and what is stored. */
async function expectReceived(page: Page, email: string) {
  await page.getByText(messages.received).first().waitFor({ timeout: 50_000 })
  const [row, ...more] = await storedFrom(email)
  expect(more).toEqual([])
  expect(row?.suspectedSpam).toBe(false)
  expect(await page.locator('.reference').textContent()).toBe(row?.reference)
}

/** What the browsers we name do not all have. */
function removeNewerFunctions() {
  const lacking: [object, string[]][] = [
    [Promise, ['withResolvers', 'try']],
    [AbortSignal, ['any', 'timeout']],
    [URL, ['canParse', 'parse']],
    [Object, ['groupBy']],
    [Map, ['groupBy']],
    [Array, ['fromAsync']],
    [Array.prototype, ['toSorted', 'toReversed', 'toSpliced', 'with']],
    [Set.prototype, ['union', 'intersection', 'difference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom']],
    [String.prototype, ['isWellFormed', 'toWellFormed']],
    [Element.prototype, ['checkVisibility', 'moveBefore']],
    [HTMLElement.prototype, ['popover', 'showPopover', 'hidePopover', 'togglePopover']],
    [HTMLButtonElement.prototype, ['command', 'commandForElement', 'popoverTargetElement']],
    [Document.prototype, ['startViewTransition']],
    [window, ['scheduler', 'navigation', 'requestIdleCallback', 'reportError', 'Iterator']],
  ]
  for (const [owner, names] of lacking) for (const name of names) delete (owner as Record<string, unknown>)[name]
}

const abort = (files: string) => (page: Page) => page.route(files, (route) => route.abort())

it.each<[string, (page: Page) => Promise<unknown>]>([
  ['no script arrives', abort('**/assets/*.js')],
  [
    'the scripts after the first never come to an end',
    (page) => page.route('**/assets/{hydrate,order-form}-*.js', () => undefined),
  ],
  ['the script of the form does not arrive', abort('**/assets/order-form-*.js')],
  [
    'React fails',
    (page) =>
      page.route('**/assets/react-*.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: 'throw new Error("broken")' }),
      ),
  ],
  ['the browser is an old one', (page) => page.addInitScript(removeNewerFunctions)],
])('an order is received once when %s', async (_, prepare) => {
  const { page } = await openAfter(prepare)
  const email = anAddress()
  await fillAsAPerson(page, email)
  await sendButton(page).click({ clickCount: 3, noWaitAfter: true })
  await expectReceived(page, email)
})

it('without a network and without the scripts the visitor is told, and the order goes out when it is back', async () => {
  const { page } = await openAfter(abort('**/assets/hydrate-*.js'))
  const told: string[] = []
  page.on('dialog', (dialog) => {
    told.push(dialog.message())
    return dialog.dismiss()
  })
  const email = anAddress()
  await fillAsAPerson(page, email)
  await page.locator('html[data-ready]').waitFor() // without any script the browser says so in its own words
  await page.context().setOffline(true)
  await sendButton(page).click()
  await expect.poll(() => told).toEqual([scriptOffline])
  expect(await page.locator('#order-name').inputValue()).toBe('Asha Verma')
  expect(await storedFrom(email)).toEqual([])
  await page.context().setOffline(false)
  await sendButton(page).click()
  await expectReceived(page, email)
})

it('in an old browser the menus open, close and lead on, and the box in the footer subscribes, if there is one', async () => {
  const { page, problems } = await openAfter((visitor) => visitor.addInitScript(removeNewerFunctions), '/')
  await page.locator('html[data-ready]').waitFor()
  const button = page.getByRole('button', { name: 'Products' })
  for (const isExpanded of ['true', 'false']) {
    await button.click()
    expect(await button.getAttribute('aria-expanded')).toBe(isExpanded)
  }
  await page.setViewportSize({ width: 360, height: 740 })
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('dialog').getByRole('link', { name: products[1] }).click()
  await page.locator('.carousel, .segments').first().waitFor()
  if (brand.newsletter) {
    const email = anAddress()
    const box = page.getByRole('contentinfo')
    await box.getByLabel('Email address').fill(email)
    await box.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText(subscribe.done).first().waitFor() // in the box, or on the page that answers a post
    expect(await site().inspect((db) => db.subscriber.count({ where: { email } }))).toBe(1)
  }
  // Its property is gone, but the attribute still works here.
  expect(problems.filter((problem) => !problem.startsWith('A command attempted'))).toEqual([])
})

it('no script has a lookbehind: Safari before 16.4 would refuse the whole file', () => {
  const scripts = readdirSync('dist/client/assets').filter((name) => name.endsWith('.js'))
  expect(scripts.length).toBeGreaterThan(0)
  expect(scripts.filter((name) => /\(\?<[=!]/.test(readFileSync(`dist/client/assets/${name}`, 'utf8')))).toEqual([])
})
