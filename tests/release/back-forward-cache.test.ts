// A page that one comes back to is as it was left: nothing keeps it out of the browser's cache.
// Not in `npm test`: the Chromium that npm installs has no such cache.
import { expect, it } from 'vitest'
import { buyNow } from '../../client/content/enquiry-form.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { installedChromium, launchBrowser } from '../support/browser.ts'
import { PHONE, siteForTests } from '../support/visit.ts'

const { site } = siteForTests()

it.runIf(installedChromium)('a product page comes back with the tab that was pressed', async () => {
  const options = { executablePath: installedChromium, ignoreDefaultArgs: ['--disable-back-forward-cache'] }
  const browser = await launchBrowser(options)
  const page = await browser.newPage(PHONE)
  await page.goto(`${site().url}${productPath(products[0])}`)
  await page.locator('html[data-ready]').waitFor()
  const tab = page.getByRole('button', { name: 'Lycopene', exact: true })
  await tab.click()
  await page.getByRole('main').getByRole('link', { name: buyNow.title }).first().click()
  await page.waitForURL(/\/buy-now/)
  await page.goBack({ waitUntil: 'commit' })
  await expect.poll(() => tab.getAttribute('aria-pressed'), { timeout: 30_000 }).toBe('true')
  await browser.close()
})
