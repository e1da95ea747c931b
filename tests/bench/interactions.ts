import type { Browser, Page } from '@playwright/test'

const CPU_SLOWDOWN = 4

/** The most milliseconds from a touch to the next paint, as the browser's Event Timing counts them (in steps of 8). */
export async function measureInteractions(browser: Browser, url: string): Promise<Record<string, number>> {
  const form = await slowest(browser, `${url}/buy-now`, async (page) => {
    await page.locator('[name=name]').click()
    await page.keyboard.type('Asha Verma')
    await page.locator('[name=mobile]').click()
    await page.keyboard.type('9876543210')
    await page.getByRole('button', { name: /send/i }).click()
  })
  const other = await slowest(browser, `${url}/products/quvera-xt`, async (page) => {
    await page.getByRole('button', { name: /menu/i }).first().click()
    await page.keyboard.press('Escape')
    for (const each of await page.locator('#mechanism button[aria-pressed], .indication button').all())
      await each.click()
  })
  return { 'the form': form, 'anything else': other }
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
  await page.locator('html[data-ready]').waitFor()
  await act(page)
  await page.waitForTimeout(1000) // the browser tells of a touch some time after its paint
  const durations = await page.evaluate((): number[] => Object(window).durations)
  await context.close()
  return Math.max(0, ...durations)
}
