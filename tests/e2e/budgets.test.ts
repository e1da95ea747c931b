// Every page keeps to its size limits for scripts, styles, fonts and HTML, before and after a form is touched.
import { readdir, readFile, stat } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { brand } from '../../shared/brand.ts'
import { orderPaths } from '../../shared/page-paths.ts'
import { freePort } from '../support/server-process.ts'
import { ownSiteForTests, PHONE, paths } from '../support/visit.ts'

const { newcomer, html, site } = ownSiteForTests({ METRICS_PORT: String(await freePort()) })
const KB = 1024
const LIMITS = {
  beforeLoad: 8 * KB,
  reader: 10 * KB,
  vitals: 3 * KB,
  touched: 82 * KB,
  /** Once the order form is touched: its own scripts in addition. */
  form: 24 * KB,
  carousel: 18 * KB,
  css: 11 * KB,
  html: 13 * KB,
  fonts: 30 * KB,
  /** What five connections at once bring of one file in two round trips on slow 4G: a third delays the largest paint. */
  firstPicture: 11_680,
}

/**
 * Scripts loaded so far, in bytes of their gzip form: more than most browsers are sent, which is brotli. `preload`: also
 * those that were only fetched.
 */
async function loadedScripts(page: Page, { preload = true, pattern = /\.js$/ } = {}) {
  const entries = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => ({
      path: new URL(name).pathname,
      isPreloaded: [...document.querySelectorAll('link')].some(
        ({ href, rel }) => rel === 'modulepreload' && href === name,
      ),
    })),
  )
  const files = entries.filter(({ path, isPreloaded }) => pattern.test(path) && (preload || !isPreloaded))
  const sizes = await Promise.all(files.map(async ({ path }) => (await stat(`dist/client${path}.gz`)).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** React's scripts report to this hook when they are executed. */
function markReact() {
  const inject = () => document.documentElement.toggleAttribute('data-react', true)
  Object.assign(window, { __REACT_DEVTOOLS_GLOBAL_HOOK__: { supportsFiber: true, inject } })
}

const VITALS = /\/web-vitals-.*\.js$/
const isFetched = (part: string) => performance.getEntriesByType('resource').some(({ name }) => name.includes(part))

it.each(paths)('%s stays light, before and after its form is touched', async (path) => {
  const { page } = await newcomer(PHONE)
  await page.addInitScript(markReact)
  await page.goto(site().url + path)
  const source = await html(path)
  const [entry = ''] = /\/assets\/index-[^"]+\.js/.exec(source) ?? []
  expect((await stat(`dist/client${entry}.gz`)).size).toBeLessThanOrEqual(LIMITS.beforeLoad)
  // It needs no other file: that would be another round trip before the page counts as shown.
  expect(await readFile(`dist/client${entry}`, 'utf8')).not.toMatch(/(?:^|;)import[\s"'{*]/)
  await page.locator('html[data-ready]').waitFor()
  await page.waitForFunction(isFetched, '/web-vitals-')
  const hasOrderForm = orderPaths.includes(path)
  if (hasOrderForm) await page.waitForFunction(isFetched, '/react-')
  await page.evaluate(async () => {
    for (let top = 0; top < document.body.scrollHeight; top += innerHeight) {
      scrollTo(0, top)
      await new Promise(requestAnimationFrame)
    }
  })
  const vitals = await loadedScripts(page, { pattern: VITALS })
  expect(vitals).toBeLessThanOrEqual(LIMITS.vitals) // where the server measures
  expect((await loadedScripts(page, { preload: false })) - vitals).toBeLessThanOrEqual(LIMITS.reader)
  const hasReactRun = () => page.evaluate(() => document.documentElement.hasAttribute('data-react'))
  expect(await hasReactRun()).toBe(false)
  expect(await page.evaluate(isFetched, '/react-')).toBe(hasOrderForm)
  const forms = [brand.newsletter && 'subscribe', hasOrderForm && 'order'].filter((form) => form !== false)
  for (const form of forms) {
    await page.locator(`#${form} input`).first().focus()
    await page.locator(`[data-island=${form}][data-hydrated]`).waitFor()
  }
  expect(await hasReactRun()).toBe(forms.length > 0)
  expect((await loadedScripts(page)) - vitals).toBeLessThanOrEqual(LIMITS.touched + (hasOrderForm ? LIMITS.form : 0))
  expect(gzipSync(source, { level: 9 }).length).toBeLessThanOrEqual(LIMITS.html)
})

const withPicture = paths.filter((path) => path === '/' || path.startsWith('/products/'))

it.each(withPicture)('%s has its first picture on a common phone within two round trips', async (path) => {
  const { page } = await newcomer({ ...PHONE, viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75 })
  await page.goto(site().url + path)
  const source = await page.locator('img[fetchpriority=high]').evaluate((image) => Object(image).currentSrc)
  const response = await fetch(source)
  const head = [...response.headers].join('\r\n').length
  expect(head + (await response.arrayBuffer()).byteLength).toBeLessThanOrEqual(LIMITS.firstPicture)
})

it('the carousel, the styles and the fonts keep to their sizes', async () => {
  const names = await readdir('dist/client/assets')
  const total = async (pattern: RegExp, zip: boolean) => {
    const files = names.filter((name) => pattern.test(name)).map((name) => `dist/client/assets/${name}`)
    expect(files.length).toBeGreaterThan(0)
    const sizes = files.map(async (file) =>
      zip ? gzipSync(await readFile(file), { level: 9 }).length : (await stat(file)).size,
    )
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size)
  }
  expect(await total(/^carousel-.*\.js$/, true)).toBeLessThanOrEqual(LIMITS.carousel)
  expect(await total(/^style-.*\.css$/, true)).toBeLessThanOrEqual(LIMITS.css)
  expect(await total(/\.woff2$/, false)).toBeLessThanOrEqual(LIMITS.fonts)
})
