// An order sent in the browser is stored once, through lost answers, a lost network, reloads and repeated clicks.
import type { Page } from '@playwright/test'
import { describe, expect, it } from 'vitest'
import { progressTexts, stoppedText } from '../../client/content/sending.ts'
import { RECEIVED_PATH } from '../../shared/form-outcome.ts'
import { messages } from '../../shared/order.ts'
import { eventually } from '../support/eventually.ts'
import { anAddress, fillOrder, sendButton, toastOf } from '../support/fill-order.ts'
import { formPaths, isRelease, siteForTests } from '../support/visit.ts'

const { newcomer, open, site, storedFrom } = siteForTests({ pictures: false })
const SUBMIT = '**/trpc/order.submit'
const received = (page: Page) => toastOf(page, messages.received).waitFor()

/** The request reaches the server, its answer never reaches the page. */
async function cutAnswers(page: Page, times: number) {
  await page.route(
    SUBMIT,
    async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    },
    { times },
  )
}

async function sendFromNewPage(page: Page, email: string) {
  await page.goto(`${site().url}/buy-now`)
  await fillOrder(page, { email })
  await sendButton(page).click()
  await received(page)
}

/** Somebody on the form whose page's clock the test moves on. */
async function onOurClock() {
  const { page, close } = await newcomer()
  await page.clock.install()
  await page.goto(`${site().url}/buy-now`)
  return { page, close }
}

describe('one order', () => {
  it('clicks before the code has arrived are one order', async () => {
    const email = anAddress()
    const { page, close } = await newcomer()
    const clicked = Promise.withResolvers<void>()
    await page.route('**/assets/hydrate-*.js', async (route) => {
      await clicked.promise
      await route.continue()
    })
    await page.goto(`${site().url}/buy-now`, { waitUntil: 'commit' })
    await fillOrder(page, { email })
    await sendButton(page).click({ clickCount: 3, noWaitAfter: true, force: true }) // at once: the form does not wait for long
    clicked.resolve()
    await page.getByText(messages.received).first().waitFor() // by the code, or as a form where it takes too long
    expect(await storedFrom(email)).toHaveLength(1)
    await close()
  })

  it.each(formPaths)(
    'an order whose answer is lost twice is sent a third time by itself, and is one order, on %s',
    async (path) => {
      const email = anAddress()
      const { page, close } = await open(path)
      const isChecked = Promise.withResolvers<void>()
      await page.route(SUBMIT, async (route) => {
        await isChecked.promise
        await route.continue()
      })
      await cutAnswers(page, 2)
      await fillOrder(page, { email })
      await sendButton(page).click()
      await page.getByText(progressTexts.again(3)).waitFor()
      expect(await page.locator('#order [name=name]').inputValue()).toBe('Asha Verma')
      isChecked.resolve()
      await received(page)
      const rows = await storedFrom(email)
      expect(rows).toHaveLength(1)
      expect(await page.locator('main').textContent()).toContain(rows[0]?.reference)
      await close()
    },
  )

  it.each(formPaths)('without a network %s says so, and the order is sent by itself when it is back', async (path) => {
    const email = anAddress()
    const { page, close } = await newcomer()
    await page.clock.install()
    await page.goto(site().url + path)
    await page.clock.runFor(1000)
    await page.locator('html[data-ready]').waitFor() // so that the first touch of the form is seen
    await fillOrder(page, { email })
    await page.locator('[data-island=order][data-hydrated]').waitFor()
    await page.context().setOffline(true)
    await sendButton(page).click()
    await page.getByText(progressTexts.offline).waitFor()
    await page.clock.runFor(60_000)
    expect(await page.locator('#order [name=name]').inputValue()).toBe('Asha Verma')
    expect(await storedFrom(email)).toHaveLength(0)
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))).not.toMatch(
      /Asha|9876543210/,
    )
    await page.context().setOffline(false)
    await received(page)
    expect(await storedFrom(email)).toHaveLength(1)
    await close()
  })

  it('tries without an answer end after a minute, with a word, and the values stay', async () => {
    const email = anAddress()
    const { page, close } = await onOurClock()
    let tries = 0
    let failed = 0
    page.on('requestfailed', () => failed++)
    await page.route(SUBMIT, (route) => {
      tries++
      return route.abort('connectionreset')
    })
    await page.clock.runFor(1000)
    await page.locator('html[data-ready]').waitFor()
    await fillOrder(page, { email })
    await page.locator('[data-island=order][data-hydrated]').waitFor()
    await page.clock.pauseAt(Date.now() + 60_000) // from here on it goes only where the test moves it
    await sendButton(page).click()
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        await page.clock.runFor(1000)
        await page.waitForTimeout(10) // the network is not on that clock
        await eventually(() => expect(failed).toBe(tries))
      }
    }
    await pass(58)
    expect(await toastOf(page, messages.failed).count()).toBe(0)
    await pass(20)
    await toastOf(page, messages.failed).waitFor()
    expect(tries).toBeGreaterThanOrEqual(6)
    expect(tries).toBeLessThanOrEqual(10)
    expect(await page.locator('#order [name=name]').inputValue()).toBe('Asha Verma')
    await close()
  })

  it.each([
    [503, JSON.stringify({ error: { message: messages.failed, code: -32603, data: { httpStatus: 503 } } })],
    [500, JSON.stringify({ error: { message: messages.failed, code: -32603, data: { httpStatus: 500 } } })],
    [403, '<h1>Forbidden</h1>'],
    [403, ''],
  ])('an answered refusal with %i is told at once, and nothing is said of another try', async (status, body) => {
    const { page, close } = await open('/buy-now')
    let tries = 0
    await page.route(SUBMIT, (route) => {
      tries++
      return route.fulfill({ status, body })
    })
    await fillOrder(page, { email: anAddress() })
    await page.locator('[data-island=order][data-hydrated]').waitFor()
    await page.evaluate(() => {
      const said: string[] = []
      Object.assign(window, { said })
      const note = () => said.push(document.querySelector('.submit-progress')?.textContent ?? '')
      new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true })
    })
    await sendButton(page).click()
    await toastOf(page, messages.failed).waitFor()
    const said = await page.evaluate(() => (window as unknown as { said: string[] }).said)
    expect(said.length).toBeGreaterThan(0)
    expect(said.filter(Boolean)).toEqual([])
    expect(tries).toBe(1)
    await close()
  })

  it('an order that the browser has begun to post is left to it, also when the code comes after all', async () => {
    const email = anAddress()
    const { page, close } = await newcomer()
    const isPosted = Promise.withResolvers<void>()
    let posts = 0
    let sentByCode = 0
    page.on('request', (request) => request.url().includes('order.submit') && sentByCode++)
    await page.route('**/assets/order-form-*.js', async (route) => {
      await isPosted.promise
      await route.continue()
    })
    await page.route('**/buy-now', async (route) => {
      if (route.request().method() === 'POST' && posts++ === 0)
        isPosted.resolve() // it gets no answer
      else await route.continue()
    })
    await page.goto(`${site().url}/buy-now`)
    await fillOrder(page, { email })
    await page.locator('#order').evaluate((form) => {
      const pressAgain = () => setTimeout(() => (form as HTMLFormElement).requestSubmit(), 1500)
      form.addEventListener('submit', pressAgain, { once: true })
    })
    const code = page.waitForResponse('**/assets/order-form-*.js')
    await sendButton(page).click({ noWaitAfter: true })
    await code
    await page.locator('.reference').waitFor()
    expect([posts, sentByCode]).toEqual([2, 0])
    expect(await storedFrom(email)).toHaveLength(1)
    await close()
  })

  it('a repeat by itself keeps its key, also a day later', async () => {
    const email = anAddress()
    const { page, close } = await onOurClock()
    await page.clock.runFor(1000)
    await page.locator('html[data-ready]').waitFor()
    await cutAnswers(page, 1)
    await fillOrder(page, { email })
    await page.context().setOffline(false)
    await sendButton(page).click()
    await eventually(async () => expect(await storedFrom(email)).toHaveLength(1))
    await page.clock.setSystemTime(Date.now() + 25 * 60 * 60_000) // the lid was closed
    await page.clock.runFor(5000)
    await received(page)
    expect(await storedFrom(email)).toHaveLength(1)
    await close()
  })

  it('what is typed while an order is being sent cannot get lost: its fields are locked', async () => {
    const { page, close } = await open('/buy-now')
    const isSent = Promise.withResolvers<void>()
    await page.route(SUBMIT, async (route) => {
      await isSent.promise
      await route.abort('connectionreset')
    })
    await fillOrder(page, { email: anAddress() })
    await page.locator('[data-island=order][data-hydrated]').waitFor()
    await page.locator('#order [name=quantity]').press('Enter')
    await page.locator('#order .fields[inert]').waitFor({ state: 'attached' })
    expect(await page.locator('.send').evaluate((button) => button === document.activeElement)).toBe(true)
    isSent.resolve()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('#order .fields:not([inert])').waitFor()
    await close()
  })

  const neverComing = isRelease ? ['hydrate never comes'] : []
  it.each(['all code comes', 'order-form never comes', ...neverComing])(
    'the same order after a lost answer and a reload in which %s is the same order',
    async (what) => {
      const email = anAddress()
      const { page, close } = await open('/buy-now')
      await cutAnswers(page, Number.POSITIVE_INFINITY)
      await fillOrder(page, { email })
      await sendButton(page).click()
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByText(stoppedText).waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      const isWhole = what.startsWith('all')
      if (!isWhole) await page.route(`**/assets/${what.split(' ')[0]}-*.js`, (route) => route.abort())
      await page.reload()
      await fillOrder(page, { email })
      await sendButton(page).click()
      if (isWhole) await received(page)
      else await page.waitForURL(`**${RECEIVED_PATH}?*`)
      const rows = await storedFrom(email)
      expect(rows).toHaveLength(1)
      expect(await page.locator('main').textContent()).toContain(rows[0]?.reference)
      await close()
    },
  )

  it.each([
    ['with a field that the server does not know', { colour: 'amber' }],
    ['without a field that the server wants', { quantity: undefined }],
  ])('an order of a page of another version, %s, is posted by the browser', async (_, changes) => {
    const email = anAddress()
    const { page, close } = await open('/buy-now')
    let sentKey: string | undefined
    await page.route(SUBMIT, async (route) => {
      const order = route.request().postDataJSON()
      sentKey = order.submissionKey
      await route.continue({ postData: { ...order, ...changes } })
    })
    await fillOrder(page, { email })
    for (const name of Object.keys(changes))
      await page.locator('#order').evaluate((form, name) => {
        const input = Object.assign(document.createElement('input'), { type: 'hidden', name, value: 'amber' })
        if (!form.querySelector(`[name=${name}]`)) form.append(input)
      }, name)
    await sendButton(page).click({ noWaitAfter: true })
    await page.waitForURL(`**${RECEIVED_PATH}?*`)
    expect((await storedFrom(email)).map(({ submissionKey }) => submissionKey)).toEqual([sentKey])
    await close()
  })

  it('an equal order after one that was sent from the page of a refusal is a new order, also posted by the browser', async () => {
    const email = anAddress()
    const { page, close } = await newcomer()
    await page.route('**/assets/order-form-*.js', (route) => route.abort())
    await page.goto(`${site().url}/buy-now`)
    await fillOrder(page, { email, quantity: '0' })
    const posted = page.waitForRequest((request) => request.method() === 'POST')
    await sendButton(page).click({ noWaitAfter: true })
    await posted
    await page.unrouteAll({ behavior: 'wait' })
    await page.locator('[name=submissionKey]').waitFor({ state: 'attached' }) // the page of the refusal has the order's key
    await page.locator('html[data-ready]').waitFor()
    await page.locator('#order [name=quantity]').fill('2')
    await page.locator('[data-island=order][data-hydrated]').waitFor()
    await sendButton(page).click()
    await received(page)
    await site().inspect(
      (db) => db.$executeRaw`
        UPDATE "Quvera_Form" SET "ReceivedAt" = now() - make_interval(mins => 11) WHERE "Email" = ${email}`,
    )
    await page.getByRole('button', { name: 'Send another enquiry' }).press('Enter')
    await fillOrder(page, { email, quantity: '2' })
    await page.route(SUBMIT, (route) =>
      route.continue({ postData: { ...route.request().postDataJSON(), colour: 'amber' } }),
    )
    await sendButton(page).click({ noWaitAfter: true }) // a page of another version: the browser posts it
    await page.waitForURL(`**${RECEIVED_PATH}?*`)
    expect(await storedFrom(email)).toHaveLength(2)
    await close()
  })

  it('a form sent by the browser whose answer is lost, and then sent by the code, is one order', async () => {
    const email = anAddress()
    const { page, close } = await newcomer()
    await page.route('**/assets/order-form-*.js', (route) => route.abort())
    await page.goto(`${site().url}/buy-now`)
    await page.route('**/buy-now', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await fillOrder(page, { email })
    const posted = page.waitForEvent('requestfailed', (request) => request.method() === 'POST')
    await sendButton(page).click({ noWaitAfter: true })
    await posted
    await page.unrouteAll({ behavior: 'wait' })
    await sendFromNewPage(page, email)
    expect(await storedFrom(email)).toHaveLength(1)
    await close()
  })

  it('an order sent by the browser is a repeat for ten minutes, and then a new order', async () => {
    const email = anAddress()
    const { page, close } = await newcomer()
    await page.clock.install()
    await page.route('**/assets/order-form-*.js', (route) => route.abort())
    for (const [minutes, count] of [
      [0, 1],
      [5, 1],
      [11, 2],
    ] as const) {
      await site().inspect(
        (db) => db.$executeRaw`
          UPDATE "Quvera_Form" SET "ReceivedAt" = now() - make_interval(mins => ${minutes}::int) WHERE "Email" = ${email}`,
      )
      await page.goto(`${site().url}/buy-now`)
      await page.clock.runFor(1000)
      await fillOrder(page, { email })
      await sendButton(page).click({ noWaitAfter: true })
      await page.clock.runFor(1000)
      await page.waitForURL(`**${RECEIVED_PATH}?*`)
      await page.clock.runFor(100)
      expect(await storedFrom(email)).toHaveLength(count)
    }
    await close()
  })

  it('an order whose answer was lost is one order also after the page of another reference', async () => {
    const email = anAddress()
    const { page, close } = await open('/buy-now')
    await cutAnswers(page, 1)
    await fillOrder(page, { email })
    await sendButton(page).click()
    await page.getByText(progressTexts.again(2)).waitFor()
    const [row] = await storedFrom(email)
    await page.goto(`${site().url}${RECEIVED_PATH}?reference=${row?.reference}`)
    await sendFromNewPage(page, email)
    expect(await storedFrom(email)).toHaveLength(1)
    await close()
  })

  it('going away and back before an order keeps all that was filled in, also where the browser kept no page', async () => {
    const email = anAddress()
    const { page, close } = await open('/buy-now')
    await fillOrder(page, { email })
    await page.goto(`${site().url}/privacy-policy`)
    await page.goBack()
    await sendButton(page).click()
    await received(page)
    expect(await storedFrom(email)).toHaveLength(1)
    await close()
  })

  it('going away and back after an order shows an empty form and sends nothing', async () => {
    const email = anAddress()
    const { page, close } = await open('/buy-now')
    await fillOrder(page, { email })
    await sendButton(page).click()
    await received(page)
    await page.goto(`${site().url}/privacy-policy`)
    await page.goBack()
    await page.waitForTimeout(500)
    expect(await page.locator('[name=name]').inputValue()).toBe('')
    expect(await storedFrom(email)).toHaveLength(1)
    await close()
  })
})
