import type { Browser, BrowserContextOptions } from '@playwright/test'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { pagePaths } from '../../shared/page-paths.ts'
import { CHROMIUM_FLAGS, launchBrowser, openPage } from './browser.ts'
import { joinSharedSite, startSite } from './site.ts'

export const paths = pagePaths
export const PHONE = { viewport: { width: 360, height: 740 } }

/**
 * The shared site and one browser for a file of tests; without pictures a page costs less time. What a test opens is closed
 * at its end, so no two tests of the file may run beside each other.
 */
export function siteForTests({ pictures = true } = {}) {
  return visitorsOf(async () => joinSharedSite(), pictures)
}

/** The same with a site that only this file uses. */
export function ownSiteForTests(env: Record<string, string> = {}, { pictures = true } = {}) {
  return visitorsOf(() => startSite(env), pictures)
}

function visitorsOf<Site extends ReturnType<typeof joinSharedSite>>(openSite: () => Promise<Site>, pictures: boolean) {
  const args = pictures ? CHROMIUM_FLAGS : [...CHROMIUM_FLAGS, '--blink-settings=imagesEnabled=false']
  let site: Site
  let browser: Promise<Browser> | undefined // some files ask without one
  const opened: (() => Promise<void>)[] = []
  async function openHere(url: string | undefined, options?: BrowserContextOptions) {
    browser ??= launchBrowser({ args })
    const visited = await openPage(await browser, url, options)
    opened.push(visited.close)
    return visited
  }
  beforeAll(async () => {
    site = await openSite()
  })
  afterEach(async () => {
    for (const close of opened.splice(0)) await close()
  })
  afterAll(async () => {
    await (await browser)?.close()
    await site?.close()
  })
  return {
    site: () => site,
    fetch: (path: string, init?: RequestInit) => fetch(site.url + path, init),
    /** The enquiries of one visitor, where several files share the site. */
    storedFrom: (email: string) =>
      site.inspect((db) => db.enquiry.findMany({ where: { email }, orderBy: { receivedAt: 'asc' } })),
    /** Not on a kept connection, which the server closes while a check of seconds blocks this process. */
    html: async (path: string) => (await fetch(site.url + path, { headers: { connection: 'close' } })).text(),
    /** A page whose controls are ready, unless scripts are off. */
    async visit(path: string, options: BrowserContextOptions = {}) {
      const visited = await openHere(site.url + path, options)
      if (options.javaScriptEnabled !== false) await visited.page.locator('html[data-ready]').waitFor()
      return visited
    },
    /** A browser that has loaded nothing of the site yet. */
    newcomer: (options?: BrowserContextOptions) => openHere(undefined, options),
    open: (path: string, options?: BrowserContextOptions) => openHere(site.url + path, options),
  }
}
