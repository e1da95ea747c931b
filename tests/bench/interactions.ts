import type { Browser, Page } from '@playwright/test'

const CPU_SLOWDOWN = 4

/** Milliseconds from each touch to the next paint, as the browser's Event Timing counts them (in steps of 8). */
export async function measureInteractions(browser: Browser, url: string): Promise<Record<string, number>> {
  return {
    form: await slowest(browser, `${url}/buy-now`, async (page) => {
      await page.locator('[name=name]').click()
      await page.keyboard.type('Asha Verma')
      await page.locator('[name=mobile]').click()
      await page.keyboard.type('9876543210')
      await page.getByRole('button', { name: /send/i }).click()
    }),
    menu: await slowest(browser, url, async (page) => {
      await page.getByRole('button', { name: /menu/i }).first().click()
      await page.keyboard.press('Escape')
    }),
    'mechanism tabs': await slowest(browser, `${url}/products/quvera-xt`, async (page) => {
      const tabs = page.locator('#mechanism [role=tab], #mechanism button[aria-pressed]')
      for (let index = 0; index < Math.min(5, await tabs.count()); index++) await tabs.nth(index).click()
    }),
    indications: await slowest(browser, `${url}/products/quvera-xt`, async (page) => {
      const cards = page.locator('.indication button')
      for (let index = 0; index < (await cards.count()); index++) await cards.nth(index).click()
    }),
  }
}

async function slowest(browser: Browser, url: string, act: (page: Page) => Promise<void>): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true })
  const page = await context.newPage()
  await page.addInitScript(() => {
    const durations: number[] = []
    Object.assign(window, { durations })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (Object(entry).interactionId) durations.push(entry.duration)
    }).observe({ type: 'event', durationThreshold: 16, buffered: true } as PerformanceObserverInit)
  })
  await page.goto(url)
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN })
  await page.waitForTimeout(1500)
  await act(page)
  await page.waitForTimeout(1000)
  const durations = await page.evaluate((): number[] => Object(window).durations)
  await context.close()
  return Math.max(0, ...durations)
}
