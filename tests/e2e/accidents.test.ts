// An order is received once, also where scripts are missing or broken, the browser is old, or the network was away.
import { readdirSync, readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { describe, expect, it } from 'vitest'
import { subscribe } from '../../client/content/contact.ts'
import { scriptOffline } from '../../client/content/enquiry-form.ts'
import { MIN_FILL_MS } from '../../server/enquiries/insert-enquiries.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, sendButton } from '../support/fill-order.ts'
import { formPaths, isRelease, itBeforeRelease, siteForTests } from '../support/visit.ts'

const { newcomer, open, site, storedFrom } = siteForTests({ pictures: false })

async function prepared(prepare: (page: Page) => Promise<unknown>) {
  const visitor = await newcomer()
  await prepare(visitor.page)
  return visitor
}

/** Slowly enough not to be suspected as a program. */
async function fillAsAPerson(page: Page, email: string) {
  await fillOrder(page, { email })
  await page.waitForTimeout(MIN_FILL_MS)
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

function refuseStorage() {
  for (const name of ['sessionStorage', 'localStorage']) {
    const get = () => {
      throw new DOMException('Access is denied for this document.', 'SecurityError')
    }
    Object.defineProperty(window, name, { get })
  }
}

const withoutScripts = (page: Page) => page.route('**/assets/*.js', (route) => route.abort())

const accidents: [string, (page: Page) => Promise<unknown>][] = [
  ['no script arrives', withoutScripts],
  [
    'only the first script arrives',
    (page) => page.route('**/assets/{hydrate,order-form}-*.js', (route) => route.abort()),
  ],
  [
    'the script of the form does not arrive',
    (page) => page.route('**/assets/order-form-*.js', (route) => route.abort()),
  ],
  [
    'React fails',
    (page) =>
      page.route('**/assets/react-*.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: 'throw new Error("broken")' }),
      ),
  ],
  ['the browser is an old one', (page) => page.addInitScript(removeNewerFunctions)],
]

const rareAccidents: typeof accidents = [
  [
    'the scripts after the first never come to an end',
    (page) => page.route('**/assets/{hydrate,order-form}-*.js', () => undefined),
  ],
  ['storage is refused', (page) => page.addInitScript(refuseStorage)],
  ['the clock is years behind', (page) => page.clock.setSystemTime(new Date('2001-01-01T00:00:00Z'))],
  ['the clock is years ahead', (page) => page.clock.setSystemTime(new Date('2050-01-01T00:00:00Z'))],
]

async function expectReceivedOnce(path: string, prepare: (page: Page) => Promise<unknown>) {
  const { page, close } = await prepared(prepare)
  await page.goto(site().url + path, { waitUntil: 'commit' })
  const email = anAddress()
  await fillAsAPerson(page, email)
  await sendButton(page).dblclick({ noWaitAfter: true })
  await expectReceived(page, email)
  await close()
}

// The form and its scripts are the same on both pages: of the other one it is seen here that it has them.
it.skipIf(isRelease)('on / an order is received once without scripts', () => expectReceivedOnce('/', withoutScripts))

describe.each(formPaths)('on %s', (path) => {
  it.each(accidents)('an order is received once when %s', (_, prepare) => expectReceivedOnce(path, prepare))
  itBeforeRelease.each(rareAccidents)('an order is received once when %s', (_, prepare) =>
    expectReceivedOnce(path, prepare),
  )

  it('Enter in a field sends the order', async () => {
    const { page, close } = await open(path)
    const email = anAddress()
    await fillAsAPerson(page, email)
    await page.locator('#order-mobile').press('Enter')
    await expectReceived(page, email)
    await close()
  })

  it('without a network and without the scripts the visitor is told, and the order goes out when it is back', async () => {
    const { page, close } = await prepared((visitor) =>
      visitor.route('**/assets/hydrate-*.js', (route) => route.abort()),
    )
    const told: string[] = []
    page.on('dialog', (dialog) => {
      told.push(dialog.message())
      return dialog.dismiss()
    })
    await page.goto(site().url + path)
    const email = anAddress()
    await fillAsAPerson(page, email)
    await page.context().setOffline(true)
    await sendButton(page).click()
    await eventually(() => expect(told).toEqual([scriptOffline]))
    expect(await page.locator('#order-name').inputValue()).toBe('Asha Verma')
    expect(await storedFrom(email)).toEqual([])
    await page.context().setOffline(false)
    await sendButton(page).click()
    await expectReceived(page, email)
    await close()
  })
})

itBeforeRelease('in an old browser the menus open, close and lead on', async () => {
  const { page, problems, close } = await prepared((visitor) => visitor.addInitScript(removeNewerFunctions))
  await page.goto(site().url)
  await page.locator('html[data-ready]').waitFor()
  const button = page.getByRole('button', { name: 'Products' })
  expect(await button.getAttribute('aria-expanded')).toBe('false')
  await button.click()
  expect(await button.getAttribute('aria-expanded')).toBe('true')
  await button.click()
  expect(await button.getAttribute('aria-expanded')).toBe('false')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('dialog').getByRole('link', { name: products[1] }).click()
  await page.locator('.carousel, .segments').first().waitFor()
  // Its property is gone, but the attribute still works here.
  expect(problems.filter((problem) => !problem.startsWith('A command attempted'))).toEqual([])
  await close()
})

it('no script has a lookbehind: Safari before 16.4 would refuse the whole file', () => {
  const scripts = readdirSync('dist/client/assets').filter((name) => name.endsWith('.js'))
  expect(scripts.length).toBeGreaterThan(0)
  expect(scripts.filter((name) => /\(\?<[=!]/.test(readFileSync(`dist/client/assets/${name}`, 'utf8')))).toEqual([])
})

itBeforeRelease('in an old browser the subscribe box stores the address', async () => {
  const { page, close } = await prepared((visitor) => visitor.addInitScript(removeNewerFunctions))
  await page.goto(`${site().url}/privacy-policy`)
  const box = page.getByRole('contentinfo')
  const email = anAddress()
  await box.getByLabel('Email address').fill(email)
  await box.getByRole('button', { name: 'Subscribe' }).click()
  await box.getByText(subscribe.done).waitFor({ timeout: 30_000 })
  expect(await site().inspect((db) => db.subscriber.count({ where: { email } }))).toBe(1)
  await close()
})

itBeforeRelease(
  'a page that something has changed before React came is drawn anew, with all that never changes',
  async () => {
    const { page, close } = await newcomer()
    await page.route('**/products/*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replaceAll('>Subscribe<', '>Join<') })
    })
    const address = site().url + productPath(products[1])
    await page.goto(address)
    const before = await page.locator('main').innerText()
    expect(before).toContain('Keep out of reach of children.')
    await page.locator('footer [name=email]').focus() // React comes
    await page.getByRole('button', { name: 'Subscribe' }).waitFor()
    expect(await page.locator('main').innerText()).toBe(before)
    await close()
  },
)
