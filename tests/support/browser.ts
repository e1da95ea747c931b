import { existsSync } from 'node:fs'
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
  type Page,
  type Route,
} from '@playwright/test'

/**
 * Debian's Chromium refuses root without the first flag; the next ones keep it from calling home. Without smooth
 * scrolling it does not paint the frames between two places: they took a third of a visit's processor, and no test reads
 * them.
 */
export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-smooth-scrolling',
]

/**
 * The Chromium that comes as an npm package, the same on every machine; it is headless only, and a visit takes a third of
 * the CPU time of an installed one (0.5 and 1.5 s). CHROMIUM names another.
 */
export async function chromiumPath(): Promise<string> {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  // Makes the package unpack the libraries that Chromium needs and add them to LD_LIBRARY_PATH, as on a host without them.
  process.env.AWS_LAMBDA_JS_RUNTIME ??= 'nodejs24.x'
  const { default: bundled } = await import('@sparticuz/chromium')
  return bundled.executablePath()
}

/** A full browser: the bundled headless one has no back/forward cache. */
export const installedChromium = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync) ?? ''

export async function launchBrowser(options: LaunchOptions = {}): Promise<Browser> {
  return chromium.launch({ executablePath: await chromiumPath(), args: CHROMIUM_FLAGS, ...options })
}

/** A page on which every problem the browser reports is collected: a test ends by expecting none. */
export async function openPage(
  browser: Browser,
  url: string | undefined,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[]; close(): Promise<void> }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  if (url) await page.goto(url)
  return { page, problems, close: () => context.close() }
}

/**
 * Answers what is asked of these addresses in the server's place, until the function that is returned is called: it waits for what is
 * under way. Not by `unroute`: with its last route a page ends the interception of all its requests, and Chromium then loses
 * those that are under way, such as the scripts of a page that is being loaded.
 */
export async function intercept(page: Page, addresses: string, handle: (route: Route) => Promise<unknown>) {
  let isOver = false
  const underWay = new Set<Promise<unknown>>()
  await page.route(addresses, (route) => {
    if (isOver) return route.fallback()
    const handled = handle(route).finally(() => underWay.delete(handled))
    underWay.add(handled)
    return handled
  })
  return async () => {
    isOver = true
    await Promise.allSettled(underWay)
  }
}

/** Lets nothing that is asked of these addresses reach the server before the function that is returned is called. */
export async function hold(page: Page, addresses: string | RegExp): Promise<() => void> {
  const isReleased = Promise.withResolvers<void>()
  await page.route(addresses, async (route) => {
    await isReleased.promise
    await route.continue()
  })
  return isReleased.resolve
}
