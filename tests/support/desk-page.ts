import type { BrowserContext, Locator, Page } from '@playwright/test'
import { beforeEach, expect } from 'vitest'
import { anOrder, submit } from './an-order.ts'
import { callDesk, enterDesk } from './desk.ts'
import { eventually } from './eventually.ts'
import { STAFF } from './fake-resend.ts'
import { storeEnquiry } from './stored-enquiry.ts'
import { ownSiteForTests, PHONE } from './visit.ts'

/* The desk in a browser. */

export const RAVI = 'ravi@quvera.test'
export const PC = { viewport: { width: 1440, height: 900 } }

type Options = Parameters<ReturnType<typeof ownSiteForTests>['newcomer']>[0] & { email?: string }

/** A site with two of staff, an empty desk before each test, and pages of those who are signed in. */
export function deskForTests() {
  const visits = ownSiteForTests({ STAFF_EMAILS: `${STAFF},${RAVI}` })
  const { site, newcomer } = visits
  const address = () => `${site().url}/staff`

  beforeEach(() =>
    site().inspect(async (db) => {
      await db.session.deleteMany()
      await db.enquiry.deleteMany()
    }),
  )

  /** Gives a browser the session that a link would. */
  async function signIn(context: BrowserContext, email = STAFF) {
    const cookie = await site().inspect((db) => enterDesk({ url: site().url, db }, { email }))
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, url: site().url }])
    return cookie
  }

  /** The page of somebody who is signed in, once its first pulse has come. */
  async function open(path = '', { email = STAFF, ...options }: Options = {}) {
    const visited = await newcomer({ ...PHONE, ...options })
    const cookie = await signIn(visited.page.context(), email)
    await visited.page.goto(address() + path)
    await visited.page.waitForFunction(() => /^[\d,]+ new/.test(document.title)) // no pulse is under way
    return { ...visited, cookie }
  }

  /** By the visitors' form. */
  async function store(changes: Record<string, unknown> = {}): Promise<string> {
    return (await submit(site().url, anOrder(changes))).reference ?? ''
  }

  /** As it stands in the table, received at any time. */
  function put(fields: Parameters<typeof storeEnquiry>[1] = {}, mails?: Parameters<typeof storeEnquiry>[2]) {
    return site().inspect((db) => storeEnquiry(db, fields, mails))
  }

  /** The page of a new enquiry. */
  async function openOne(changes: Record<string, unknown> = {}, options: Options = {}) {
    const reference = await store(changes)
    const visited = await open(`/${reference}`, options)
    await visited.page.locator('.whole').waitFor()
    return { ...visited, reference }
  }

  return {
    ...visits,
    address,
    signIn,
    open,
    openOne,
    store,
    put,
    /** What a colleague does meanwhile. */
    async asRavi(name: string, input: object) {
      const cookie = await site().inspect((db) => enterDesk({ url: site().url, db }, { email: RAVI }))
      const { data, message } = await callDesk(site().url, cookie, name, { key: crypto.randomUUID(), ...input })
      if (message) throw new Error(message)
      return data
    },
    stored: (reference: string) => site().inspect((db) => db.enquiry.findUniqueOrThrow({ where: { reference } })),
  }
}

export const rows = (page: Page) => page.locator('.enquiry')
export const rowOf = (page: Page, name: string) => page.locator('.enquiry', { hasText: name })
export const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })
export const toast = (page: Page, text: string | RegExp) => page.locator('.Toastify__toast', { hasText: text })
/** The element that has the focus, in words. */
export const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: element } = document
    return element === document.body ? 'body' : (element?.getAttribute('aria-label') ?? element?.textContent ?? '')
  })
/** As when one comes back to the tab. */
export const comeBack = (page: Page) => page.evaluate(() => void dispatchEvent(new Event('visibilitychange')))

/** Until it is seen: a pulse that is under way is not asked for again, and may not know of it yet. */
export async function comeBackFor(page: Page, seen: Locator): Promise<void> {
  await eventually(async () => {
    await comeBack(page)
    expect(await seen.isVisible()).toBe(true)
  })
}
