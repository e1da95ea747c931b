// The order form says what to correct, keeps what was typed, and repeats an unanswered order under the same key.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import {
  anotherEnquiry,
  chosen,
  doubtTexts,
  enquiryReceived,
  receivedEarlier,
} from '../../client/content/enquiry-form.ts'
import {
  emailFieldError,
  emptyFieldError,
  notStored,
  notStoredRetry,
  progressTexts,
  uncertain,
} from '../../client/content/sending.ts'
import { OrderSection } from '../../client/enquiry/order-form.tsx'
import { sentReferences, startTry } from '../../client/enquiry/order-key.ts'
import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { messages } from '../../shared/order.ts'
import { network, received, refused } from '../support/fake-fetch.ts'
import { typedOrder } from '../support/fill-order.ts'
import { render } from '../support/render.tsx'

const filled = { ...typedOrder, email: 'asha@shop.example', quantity: '24', products: products[1] }
type Fields = Partial<typeof filled>

let form: HTMLFormElement
beforeEach(() => {
  // The page's own clock goes by itself only in tests that say so: `pass` moves it on.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true })
  network.reset()
  sessionStorage.clear()
  form = render(<OrderSection path="/buy-now" isPage />).querySelector('form') as HTMLFormElement
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Sends an order that gets these answers, while the clock stands, but for what is due at once. */
async function sendOnce(...answers: typeof network.answers) {
  network.answers.push(...answers)
  await fill(filled)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }) // from here on only `pass` moves it on
  await send()
  await expect
    .poll(async () => {
      await pass(0)
      return network.sent.length
    })
    .toBe(1)
}

/** Lets so much time pass in the page. */
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)

function field(name: string) {
  return form.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement
}

function values() {
  return Object.fromEntries(Object.keys(filled).map((name) => [name, field(name).value]))
}

async function fill(fields: Fields) {
  for (const [name, value] of Object.entries(fields)) {
    const input = field(name)
    if (input instanceof HTMLSelectElement) await userEvent.selectOptions(input, value)
    else await userEvent.fill(input, value)
  }
}

async function sendFilled(...answers: typeof network.answers) {
  network.answers.push(...answers)
  await fill(filled)
  await send()
}

const send = () => page.getByRole('button', { name: 'Send enquiry' }).click()
/** At once: a slow machine takes its time to find out where a pointer would have to go. */
async function stop() {
  const button = page.getByRole('button', { name: 'Stop' })
  await expect.element(button).toBeVisible()
  ;(button.element() as HTMLElement).click()
}
const toast = (text: string) =>
  expect.element(page.getByRole('region', { name: 'Messages' }).getByText(text, { exact: true })).toBeVisible()
const marked = () => [...form.querySelectorAll('[aria-invalid=true]')].map((input) => input.getAttribute('name'))

/** What the form says of its progress, one after the other. */
function watchProgress() {
  const said = new Set<string | null | undefined>()
  const watch = () => said.add(form.querySelector('[role=status]')?.textContent)
  new MutationObserver(watch).observe(form, { subtree: true, childList: true, characterData: true })
  return said
}

const fieldErrors = () => [...form.querySelectorAll('.field-error')].map((error) => error.textContent)

it('tells the first broken rule, marks every wrong field with its own, and keeps what was typed', async () => {
  await fill({ ...filled, name: '   ', email: 'nobody', mobile: '12ab', quantity: '3' })
  await send()
  await expect.element(page.getByRole('alert').getByText(messages.empty)).toBeVisible()
  expect(marked()).toEqual(['name', 'email', 'mobile'])
  expect(fieldErrors()).toEqual([emptyFieldError, emailFieldError, messages.digits])
  expect(values()).toMatchObject({ email: 'nobody', mobile: '12ab', quantity: '3' })

  await fill({ ...filled, email: 'nobody', mobile: '12ab' })
  await send()
  await toast(messages.email)
  expect(marked()).toEqual(['email', 'mobile'])
  expect(document.activeElement).toBe(field('email'))
  expect(form.querySelector(`#${field('email').getAttribute('aria-describedby')}`)?.textContent).toBe(emailFieldError)
  expect(network.sent).toEqual([])
})

it('a quantity that the browser cannot read is not an empty field', async () => {
  await fill({ ...filled, quantity: '' })
  await userEvent.type(field('quantity'), '1e')
  await send()
  await toast(messages.wholeQuantity)
  expect(fieldErrors()).toEqual([messages.wholeQuantity])
  expect(network.sent).toEqual([])
})

it('the error of a field goes as soon as the field is changed, and the toast with the last error', async () => {
  await fill({ ...filled, email: 'nobody', mobile: '12ab' })
  await send()
  await toast(messages.email)
  await fill({ email: filled.email })
  expect(marked()).toEqual(['mobile'])
  await toast(messages.email)
  await fill({ mobile: filled.mobile })
  await expect.element(page.getByText(messages.email)).not.toBeInTheDocument()
  expect(marked()).toEqual([])
})

it('an order received empties the form and shows the reference; the next one keeps who asks and has a new key', async () => {
  network.answers = [received('QV-7K3M9P')]
  await fill({ ...filled, mobile: '+91 98765-43210' })
  await send()
  await toast(messages.received)
  await expect.element(page.getByText('QV-7K3M9P')).toBeVisible()
  expect(new Set(Object.values(values()))).toEqual(new Set(['']))
  expect(field('name').checkVisibility()).toBe(false)
  // It is said once, by the heading that takes the focus.
  expect(document.activeElement?.textContent).toBe(enquiryReceived.heading)
  expect(page.getByRole('alert').elements()).toEqual([])
  expect(network.sent).toEqual([
    {
      ...filled,
      quantity: 24,
      productName: brand.name,
      website: '',
      submissionKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
      filledInMs: expect.any(Number),
    },
  ])

  await page.getByRole('button', { name: 'Send another enquiry' }).click()
  expect(values()).toEqual({ ...filled, quantity: '', products: products[0] })
  expect(document.activeElement).toBe(field('quantity'))
  await sendFilled()
  await expect.poll(() => network.sent.length).toBe(2)
  expect(network.sent[1]?.submissionKey).not.toBe(network.sent[0]?.submissionKey)
})

it('no network, and a gateway whose server is away, are no errors: the order is sent again under the same key', async () => {
  network.answers = [new TypeError('Failed to fetch'), new Response('<h1>Bad gateway</h1>', { status: 502 })]
  const said = watchProgress()
  await sendFilled()
  await expect.element(page.getByText(progressTexts.again(2))).toBeVisible()
  await pass(1)
  await expect.poll(() => network.sent.length).toBe(2)
  expect(values()).toEqual(filled)
  await expect.element(page.getByText(progressTexts.again(3))).toBeVisible()
  await pass(2)
  await toast(messages.received)
  expect([...said]).toEqual(['', progressTexts.again(2), progressTexts.again(3)])
  expect(new Set(network.sent.map((order) => order.submissionKey)).size).toBe(1)
  expect(network.sent).toHaveLength(3)
})

it('Stop ends the tries, keeps what was typed, and the next order has the same key', async () => {
  await sendOnce(new TypeError('Failed to fetch'))
  await stop()
  await expect.poll(() => document.activeElement?.textContent).toBe('Send enquiry')
  await expect.element(page.getByText(/^Stopped\./)).toBeVisible()
  await pass(60) // the next try would have been after one second
  expect(network.sent).toHaveLength(1)
  expect(values()).toEqual(filled)
  await send()
  await toast(messages.received)
  expect(network.sent[1]?.submissionKey).toBe(network.sent[0]?.submissionKey)
})

it('an order that was received before says when', async () => {
  await sendFilled(received('QV-7K3M9P', '2026-10-11T19:00:00Z'))
  await expect.element(page.getByRole('row', { name: 'Received 12 Oct 2026 00:30 IST' })).toBeVisible()
  await expect.element(page.getByText(receivedEarlier('12 Oct 2026 00:30 IST'))).toBeVisible()
})

it('a refusal is told at once and not repeated, and says that nothing is stored, unless an earlier try may be', async () => {
  network.answers = [refused(403, 'Not from here.'), refused(500, messages.failed), refused(403, 'Nor from there.')]
  const said = watchProgress()
  await fill(filled)
  for (const [told, note] of [
    ['Not from here.', notStoredRetry],
    [messages.failed, uncertain],
    ['Nor from there.', uncertain],
  ] as const) {
    await send()
    await toast(told) // each another: one that is on its way out is still seen
    await expect.element(page.getByText(note)).toBeVisible()
    await pass(60)
  }
  expect(network.sent).toHaveLength(3)
  expect([...said]).toEqual([''])
  expect(values()).toEqual(filled)
  expect(new Set(network.sent.map((order) => order.submissionKey)).size).toBe(1)
})

it('too many are sent once more after the time the server names, and then told; the limit of a day at once', async () => {
  const tooMany = () => refused(429, 'Too many enquiries.', { 'retry-after': '1' })
  await sendFilled(tooMany(), tooMany(), refused(429, messages.manyOrders, { 'retry-after': '80000' }))
  await expect.element(page.getByText(progressTexts.wait(1))).toBeVisible()
  await pass(1)
  await toast('Too many enquiries.')
  expect(network.sent).toHaveLength(2)
  await send()
  await toast(messages.manyOrders)
  await expect.element(page.getByText(notStored, { exact: true })).toBeVisible()
  expect(network.sent).toHaveLength(3)
})

it('tries without an answer end after a minute, with a word, and the values stay', async () => {
  await sendOnce(...Array.from({ length: 20 }, () => new TypeError('Failed to fetch')))
  for (let second = 0; second < 58; second++) await pass(1)
  await expect.element(page.getByRole('status').getByText(/\S/)).toBeVisible()
  for (let second = 0; second < 20; second++) await pass(1)
  await toast(messages.failed)
  const tries = network.sent.length
  expect(tries).toBeGreaterThanOrEqual(6)
  expect(tries).toBeLessThanOrEqual(10)
  expect(values()).toEqual(filled)
})

it('while an order is under way its fields are locked, leaving is warned of, and impatient clicks send nothing', async () => {
  const warned = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }))
  const isLocked = () => form.querySelector('.fields')?.hasAttribute('inert')
  const answer = Promise.withResolvers<Response>()
  network.answers = [answer.promise]
  await fill(filled)
  expect([isLocked(), warned()]).toEqual([false, false])
  field('quantity').focus()
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => network.sent.length).toBe(1)
  expect([isLocked(), warned()]).toEqual([true, true])
  expect(document.activeElement?.textContent).toBe('Sending…')
  for (let click = 0; click < 3; click++) form.requestSubmit()
  answer.resolve(received('QV-BBBBBB'))
  await toast(messages.received)
  expect(warned()).toBe(false)
  expect(network.sent).toHaveLength(1)
})

it('an order changed after a try without an answer goes out at once under a key of its own', async () => {
  await sendOnce(new TypeError('Failed to fetch'), refused(409, 'Sent already with other content.'))
  await stop()
  await fill({ quantity: '30' })
  await send()
  await toast(messages.received)
  const keys = network.sent.map((order) => order.submissionKey)
  expect(keys[1]).toBe(keys[0])
  expect(keys[2]).not.toBe(keys[0])
  expect(network.sent[2]?.quantity).toBe(30)
})

it('asks about a number on the way to the next field, and not on the way to the button', async () => {
  const asked = page.getByText(doubtTexts.mobile)
  await fill({ mobile: '0123456789' })
  form.querySelector<HTMLElement>('.send')?.focus()
  expect(asked.query()).toBeNull()
  field('mobile').focus()
  await userEvent.tab()
  await expect.element(asked).toBeVisible()
  expect(document.activeElement).toBe(field('quantity'))
  expect(network.sent).toEqual([])
})

it('asks about a number and an address when typing pauses, and sends them all the same at the first press', async () => {
  document.documentElement.dataset.mailLinks = 'on'
  await fill({ ...filled, mobile: '0000000000', email: 'meera@gmial.con' })
  await userEvent.unhover(document.body)
  form.querySelector<HTMLElement>('select')?.focus()
  const announced = () => [...form.querySelectorAll('.field [aria-live=polite]')].map((region) => region.textContent)
  await expect.poll(announced).toEqual([expect.stringContaining('meera@gmail.com'), doubtTexts.mobile])
  expect(marked()).toEqual([]) // no rule is broken
  await send()
  await toast(messages.received)
  expect(network.sent).toMatchObject([{ mobile: '0000000000', email: 'meera@gmial.con' }])
  await expect.element(page.getByText(/We will ring 00000 00000 and write to meera@gmial.con\./)).toBeVisible()
  expect(page.getByText(enquiryReceived.mailLeads).query()).toBeNull() // the mail there has no link
})

it('says how many digits the number has, until it is changed, and not beside an error', async () => {
  const asked = page.getByText(doubtTexts.digits(9))
  await fill({ ...filled, mobile: '987654321' })
  await expect.element(asked).toBeVisible()
  await send()
  await expect.poll(marked).toEqual(['mobile'])
  expect(asked.query()).toBeNull()
  await fill({ mobile: '98765432' })
  await expect.element(page.getByText(doubtTexts.digits(8))).toBeVisible()
  await fill({ mobile: filled.mobile })
  await expect.poll(() => form.querySelectorAll('.field-doubt, .field-error').length).toBe(0)
})

it('takes the address that was meant by one press', async () => {
  await fill({ ...filled, email: 'meera@gmial.con' })
  await page.getByRole('button', { name: 'meera@gmail.com' }).click()
  await expect.poll(() => form.querySelectorAll('.field-doubt, .submit-note').length).toBe(0)
  expect(document.activeElement).toBe(field('email'))
  await send()
  await toast(messages.received)
  expect(network.sent).toMatchObject([{ email: 'meera@gmail.com' }])
})

it.each(['on', 'off'])('says that the mail leads to the page only where mails have links: %s', async (mailLinks) => {
  document.documentElement.dataset.mailLinks = mailLinks
  await fill(filled)
  await send()
  await toast(messages.received)
  expect(page.getByText(enquiryReceived.mailLeads).elements()).toHaveLength(mailLinks === 'on' ? 1 : 0)
})

it('a database that is away is asked again under the same key for ten seconds, and then told of', async () => {
  await sendOnce(...Array.from({ length: 20 }, () => refused(503, messages.failed)))
  await expect.element(page.getByText(progressTexts.unavailable)).toBeVisible()
  for (let second = 0; second < 8; second++) await pass(1)
  expect(page.getByText(messages.failed).query()).toBeNull()
  for (let second = 0; second < 12; second++) await pass(1)
  await toast(messages.failed)
  await expect.element(page.getByText(uncertain)).toBeVisible()
  expect(network.sent).toHaveLength(5)
  expect(new Set(network.sent.map((order) => order.submissionKey)).size).toBe(1)
  expect(values()).toEqual(filled)
})

it('an order that may be stored is uncertain also after a reload and while it is edited', async () => {
  await sendOnce(new TypeError('Failed to fetch'))
  await stop()
  await fill({ quantity: '' })
  await expect.element(page.getByText(/^Stopped\./)).toBeVisible()
  await send()
  await expect.poll(marked).toEqual(['quantity'])
  await expect.element(page.getByText(/^Stopped\./)).toBeVisible()
  form = render(<OrderSection path="/buy-now" isPage />).querySelector('form') as HTMLFormElement
  await expect.element(page.elementLocator(form).getByText(uncertain)).toBeVisible()
})

it('a page that answers a post is uncertain too, and keeps what it refuses, while an earlier try may be stored', async () => {
  startTry(products[0])
  const answer = { values: {}, firstError: messages.empty, fieldErrors: { name: emptyFieldError }, note: undefined }
  form = render(<OrderSection path="/buy-now" answer={answer} isPage />).querySelector('form') as HTMLFormElement
  await expect.element(page.getByText(uncertain)).toBeVisible()
  expect(marked()).toEqual(['name'])
})

it('the time of the slip is the server’s', async () => {
  await sendFilled(received('QV-7K3M9P', undefined, { date: 'Sun, 11 Oct 2026 19:00:00 GMT' }))
  await expect.element(page.getByRole('row', { name: 'Received 12 Oct 2026 00:30 IST' })).toBeVisible()
  await expect.element(page.getByRole('row', { name: 'Quantity 24 packs' })).toBeVisible()
})

it('the same for the other product is one press, with a key of its own, and a lost answer doubles nothing', async () => {
  const same = page.getByRole('button', { name: `Also ask for 24 packs of ${products[0]}` })
  await sendOnce()
  await expect.element(same).toBeVisible()
  network.answers = [new TypeError('Failed to fetch'), refused(403, 'Not from here.'), received('QV-SECND2')]
  await pass(1)
  ;(same.element() as HTMLElement).click()
  await expect
    .poll(async () => {
      await pass(0.5)
      return network.sent.length
    })
    .toBe(3)
  await expect.element(page.getByText(uncertain)).toBeVisible()
  await expect.element(page.getByText('QV-000001')).toBeVisible()
  await same.click()
  await expect.element(page.getByText('QV-SECND2')).toBeVisible()
  await expect.poll(() => document.activeElement?.textContent).toBe(`For ${products[0]}: QV-SECND2`)
  const [first, ...second] = network.sent
  const { submissionKey: _, filledInMs, ...content } = first as (typeof network.sent)[number]
  expect(second).toMatchObject(Array.from({ length: 3 }, () => ({ ...content, products: products[0] })))
  expect(new Set(second.map((order) => order.submissionKey)).size).toBe(1)
  expect(second[0]?.submissionKey).not.toBe(first?.submissionKey)
  expect(second[0]?.filledInMs).toBeGreaterThan(filledInMs ?? 0)
  expect(sentReferences()).toEqual(['QV-000001', 'QV-SECND2'])
})

it('another quantity opens the form with the product that was sent, and another enquiry with the other one', async () => {
  await sendFilled()
  await page.getByRole('button', { name: `Another quantity of ${products[1]}` }).click()
  expect(values()).toEqual({ ...filled, quantity: '' })
  expect(document.activeElement).toBe(field('quantity'))
  await expect.element(page.getByText(`${products[1]}${chosen}`)).toBeVisible()
  await fill({ quantity: '7' })
  await send()
  await page.getByRole('button', { name: anotherEnquiry }).click()
  expect(values()).toEqual({ ...filled, quantity: '', products: products[0] })
})
