// The forms and the product page say the same while a translation tool changes them, and a choice is sent as it is.
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { progressTexts, uncertain } from '../../client/content/sending.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, typedOrder } from '../support/fill-order.ts'
import { PHONE, siteForTests } from '../support/visit.ts'

const { newcomer, site, storedFrom, visit } = siteForTests({ pictures: false })

/*
 * Translation tools change the page under React, again and again: as Chrome does it, each text goes into an element of
 * its own; others put new texts in the place of the old ones, or join neighbours. Each walk is made once without a tool,
 * and then has to show the same words with each of them.
 */

type Tool = 'wraps' | 'replaces' | 'merges'
type Moment = 'before React comes' | 'once React is there'
const CASES = (['wraps', 'replaces', 'merges'] as const).flatMap((tool) =>
  (['before React comes', 'once React is there'] as const).map((moment): [Tool, Moment] => [tool, moment]),
)

/** In the page: what changes later is changed again. */
function work(tool: Tool) {
  const seen = new WeakSet<Node>()
  function change() {
    watch.disconnect()
    if (tool === 'merges') {
      const comments = document.createTreeWalker(document.body, NodeFilter.SHOW_COMMENT)
      const all: Comment[] = []
      while (comments.nextNode()) all.push(comments.currentNode as Comment)
      for (const comment of all) comment.remove()
      document.body.normalize()
    }
    const texts: Text[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) texts.push(walker.currentNode as Text)
    for (const text of tool === 'merges' ? [] : texts) {
      if (seen.has(text) || !text.data.trim() || text.parentElement?.closest('script, style, svg')) continue
      if (text.parentElement?.localName === 'option') {
        if (tool === 'replaces') text.data = text.data.toUpperCase()
        seen.add(text)
        continue
      }
      const outer = document.createElement('font')
      const inner = outer.appendChild(document.createElement('font'))
      const shown = tool === 'wraps' ? text : new Text(text.data.toUpperCase())
      text.replaceWith(outer)
      inner.append(shown)
      seen.add(shown)
    }
    watch.observe(document.body, { subtree: true, childList: true, characterData: true })
  }
  const watch = new MutationObserver(change)
  change()
  document.documentElement.dataset.translated = tool
}

interface Visit {
  page: Page
  /** Writes down what stands there, once it holds `words`. */
  see(selector: string, words: string | RegExp): Promise<void>
}

/** Where visitors go, and what they do there. `typing` is done before React comes. */
interface Walk {
  path: string
  options?: object
  typing?: (page: Page) => Promise<unknown>
  steps: (visit: Visit) => Promise<void>
}

/** What stands there after each step, on a page on which one of the tools works from one of the moments on. */
async function walk({ path, options, typing, steps }: Walk, tool?: Tool, moment?: Moment) {
  const { page, problems, close } = await newcomer(options)
  const ready = Promise.withResolvers<void>()
  await page.route('**/assets/{index,hydrate}-*.js', async (route) => {
    await ready.promise
    await route.continue()
  })
  await page.goto(site().url + path, { waitUntil: 'commit' })
  await page.locator('footer').waitFor()
  await typing?.(page)
  const isEarly = moment === 'before React comes'
  if (tool && isEarly) await page.evaluate(work, tool)
  ready.resolve()
  await page.locator('html[data-ready]').waitFor()
  if (tool && !isEarly) await page.evaluate(work, tool)
  const seen: string[] = []
  /** Without toasts, which come and go. */
  async function read(selector: string) {
    const text = await page
      .locator(selector)
      .first()
      .evaluate(async (element: HTMLElement) => {
        for (const _ of [1, 2]) await new Promise(requestAnimationFrame) // the tool has changed what is new
        const toasts = element.querySelector<HTMLElement>('.Toastify')
        toasts?.toggleAttribute('hidden', true)
        const words = element.innerText
        toasts?.toggleAttribute('hidden', false)
        return words
      })
    return text
      .toLowerCase()
      .replace(/\s+/g, ' ')
      .replace(/qv-\w{6}/g, 'reference')
      .replace(/\d\d:\d\d ist/g, 'time')
      .replace(/[\w-]+@shop/g, 'visitor@shop')
  }
  await steps({
    page,
    async see(selector, words) {
      await page.locator(selector).filter({ hasText: words }).first().waitFor()
      let shown = ''
      await eventually(async () => {
        const before = shown
        shown = await read(selector)
        return shown === before
      })
      seen.push(shown)
    },
  })
  // Of a page that was changed before, React says that it draws it anew.
  expect(problems.filter((problem) => !/#418|Failed to load resource/.test(problem))).toEqual([])
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
  await close()
  return seen
}

const refusal = (status: number, message: string) => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify({ error: { code: -32000, message, data: { code: 'REFUSED', httpStatus: status } } }),
})

/** Through every state of the order form. */
async function order({ page, see }: Visit) {
  const form = () =>
    page.locator('#order').evaluate((element) => [...new FormData(element as HTMLFormElement).entries()])
  const typed = Object.fromEntries(await form())
  expect(typed).toMatchObject({ name: 'Asha V', mobile: '98765', products: products[1] })
  await page.locator('#order-name').press('Shift') // a touch: until React is there, the browser would post the form
  await page.locator('[data-island=order][data-hydrated]').waitFor()
  const send = () => page.locator('.send').click()
  await send()
  await see('main', messages.empty)
  const email = anAddress()
  await fillOrder(page, { email })
  const answers = [
    refusal(403, 'Not from here.'),
    refusal(503, messages.failed),
    'abort' as const,
    undefined,
    'abort' as const,
  ]
  await page.route('**/trpc/order.submit', async (route) => {
    const answer = answers.shift()
    if (answer === 'abort') await route.abort('connectionreset')
    else if (answer) await route.fulfill(answer)
    else await route.continue()
  })
  await send()
  await see('main', 'Not from here.')
  await send()
  await see('main', uncertain)
  await send()
  await page.getByText(progressTexts.again(2)).waitFor()
  await see('main', messages.received)
  const [row] = await storedFrom(email)
  expect(await page.locator('.reference').innerText()).toBe(row?.reference)
  await page.getByRole('button', { name: /send another enquiry/i }).click()
  await page.locator('#order-name').waitFor()
  await see('main', 'What happens next')
  await fillOrder(page, { email: anAddress() })
  await send()
  await page.getByText(progressTexts.again(2)).waitFor()
  await page.getByRole('button', { name: /stop/i }).click()
  await see('#order', 'stopped')
}

async function openIndication(page: Page, index: number) {
  const button = page.locator('.indication button').nth(index)
  const body = await button.getAttribute('aria-controls') // the open one may move to the first place
  await button.click()
  await page.locator(`.indication[data-open=true] [aria-controls=${body}]`).waitFor()
}

async function mechanism({ page, see }: Visit) {
  await page.locator('.mechanism').scrollIntoViewIfNeeded()
  await page.locator('.segments .pill').nth(1).click()
  await see('.mechanism', /./)
  const more = page.locator('.slide[data-active=true] .read-more button').first()
  for (const words of ['read less', 'read more']) {
    await more.click()
    await see('.mechanism', words)
  }
  await openIndication(page, 2)
  await see('.indications', /./)
  await page.locator('.menu-button').first().click()
  await see('.menu', /./)
  await page.locator('.menu .menu-button').click()
  await see('header', /./)
}

async function carousel({ page, see }: Visit) {
  const products = page.locator('.products-button')
  await products.click()
  await see('#products-menu', /./)
  await page.keyboard.press('Escape')
  await page.locator('.mechanism').scrollIntoViewIfNeeded()
  await page.locator('.carousel').waitFor()
  await page.locator('.play-button').click()
  await see('.slide-index', 'play')
  for (const count of ['2 / 5', '3 / 5']) {
    await page.locator('.slick-active [data-way=slickNext]').click()
    await see('.slide-index', count)
    await see('.slick-active', /./)
  }
  await page.locator('.slick-active .read-more button').first().click()
  await see('.slick-active', 'read less')
  await page.setViewportSize({ width: 700, height: 900 })
  await page.locator('.segments').waitFor()
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.locator('.carousel').waitFor()
  await openIndication(page, 3)
  await see('.indications', /./)
}

async function subscription({ page, see }: Visit) {
  const box = page.locator('#subscribe-email')
  expect(await box.inputValue()).toBe('nobody')
  await box.press('Shift') // a touch: until React is there, the browser would post the form
  await page.locator('[data-island=subscribe][data-hydrated]').waitFor()
  const send = () => page.locator('#subscribe button').click()
  await send()
  await see('#subscribe', messages.email)
  await box.fill(anAddress())
  await see('#subscribe', /^(?!.*please enter)/i)
  await send()
  await see('#subscribe', 'look into your inbox')
}

const walks: [what: string, walk: Walk][] = [
  [
    'the order form',
    {
      path: '/buy-now',
      async typing(page) {
        await page.locator('#order-products').selectOption(products[1])
        await page.locator('#order-name').fill('Asha V')
        await page.locator('#order-mobile').fill('98765')
      },
      steps: order,
    },
  ],
  ['a product page on a phone', { path: productPath(products[1]), options: PHONE, steps: mechanism }],
  ['a product page on a wide screen', { path: productPath(products[1]), steps: carousel }],
  [
    'the box in the footer',
    {
      path: '/privacy-policy',
      typing: (page) => page.locator('#subscribe-email').fill('nobody'),
      steps: subscription,
    },
  ],
]

it.each(walks)('%s says the same whichever tool changes its texts, and whenever', async (_, visitor) => {
  const wanted = await walk(visitor)
  for (const [tool, moment] of CASES) expect(await walk(visitor, tool, moment), `${tool}, ${moment}`).toEqual(wanted)
})

it('a choice is sent as it is, whatever a tool has made of its words', async () => {
  const { page } = await visit('/buy-now')
  await page.evaluate(work, 'replaces' as const)
  const email = anAddress()
  const { products: product, retailerSelfUse } = typedOrder
  for (const name of ['name', 'mobile', 'quantity'] as const)
    await page.locator(`#order-${name}`).fill(typedOrder[name])
  await page.locator('#order-email').fill(email)
  await page.locator('#order-products').selectOption({ index: 1 })
  await page.locator('#order-retailerSelfUse').selectOption({ index: 1 })
  await page.locator('.send').click()
  await page.locator('.reference').waitFor()
  expect(await storedFrom(email)).toMatchObject([{ products: product.replace(' ', ''), retailerSelfUse }])
})
