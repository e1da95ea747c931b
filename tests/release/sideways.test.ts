// No page scrolls sideways at any tested width, nor on a phone with text that is twice as large.
import type { Page } from '@playwright/test'
import { expect, it } from 'vitest'
import { PHONE, paths, siteForTests } from '../support/visit.ts'

const { visit } = siteForTests()
const HEIGHT = 800
/** Both sides of each width at which the layout changes, and steps between. */
const WIDTHS = [320, 360, 480, 599, 600, 768, 899, 900, 1024, 1280, 1440, 1920, 2560]

/** How far the page can be moved aside, and how much of it lies there. */
function moveAside(page: Page) {
  return page.evaluate(async () => {
    // Chromium draws one frame at a new width with lengths that were reckoned from the old one.
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame)
    scrollTo({ left: 2000, behavior: 'instant' })
    const turned = Math.round(scrollX)
    const aside = document.documentElement.scrollWidth - document.documentElement.clientWidth
    scrollTo({ left: 0, behavior: 'instant' })
    return { turned, aside }
  })
}

it.each([...paths, '/nowhere'])('%s does not scroll sideways at any width', async (path) => {
  const { page } = await visit(path, { reducedMotion: 'reduce', viewport: { width: 320, height: HEIGHT } })
  const found: unknown[] = []
  async function tryAll(when: string) {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT })
      const { turned, aside } = await moveAside(page)
      if (turned !== 0 || aside > 0) found.push({ when, width, turned, aside })
    }
  }
  await tryAll('at the top')
  await page.evaluate(async (step) => {
    for (let top = 0; top < document.body.scrollHeight; top += step) {
      scrollTo({ top, behavior: 'instant' })
      await new Promise((painted) => requestAnimationFrame(painted))
    }
  }, HEIGHT / 2)
  await tryAll('at the end')
  expect(found).toEqual([])
})

it.each(paths)('%s keeps to the screen when its text is twice as large', async (path) => {
  const { page } = await visit(path, PHONE)
  const session = await page.context().newCDPSession(page)
  await session.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
  await page.reload()
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('32px')
  const beyond = await page.evaluate(() => ({
    aside: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    fields: [...document.querySelectorAll('.field > *, .send')].filter(
      (part) => part.getBoundingClientRect().right > innerWidth,
    ).length,
  }))
  expect(beyond).toEqual({ aside: 0, fields: 0 })
})
