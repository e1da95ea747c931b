// The metrics count once how fast a page was for a visitor, and no cookie is set for that.
import { expect, it } from 'vitest'
import { productPath, products } from '../../shared/catalogue.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'
import { ownSiteForTests } from '../support/visit.ts'

const port = String(await freePort())
const path = productPath(products[1])
const { site, visit } = ownSiteForTests({ METRICS_PORT: port })

it('how fast a page was is told once, when somebody leaves it', async () => {
  const { page, problems } = await visit(path)
  await page.waitForFunction(() =>
    performance.getEntriesByType('resource').some(({ name }) => /web-vitals-/.test(name)),
  )
  const isTimed = (type: string) =>
    page.evaluate(
      (to) => new Promise((seen) => new PerformanceObserver(seen).observe({ type: to, buffered: true })),
      type,
    )
  await isTimed('largest-contentful-paint') // a click ends it
  // What is answered within 40 ms is told of nobody.
  await page.evaluate(() =>
    addEventListener('click', () => {
      for (const end = performance.now() + 100; performance.now() < end; );
    }),
  )
  await page.locator('#composition summary').first().click()
  // It is painted, then timed, and then counted when the page is idle.
  await isTimed('first-input')
  for (const _ of ['timed', 'counted'])
    await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle, { timeout: 2000 })))
  await page.goto(`${site().url}/received`) // a page of which nothing is told
  await page.goto('about:blank')
  await eventually(async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    expect(text.match(/^quvera_vitals_\w+_count.*$/gm)?.sort()).toEqual([
      `quvera_vitals_seconds_count{page="${path}",metric="INP"} 1`,
      `quvera_vitals_seconds_count{page="${path}",metric="LCP"} 1`,
      `quvera_vitals_seconds_count{page="${path}",metric="TTFB"} 1`,
      `quvera_vitals_shift_count{page="${path}",metric="CLS"} 1`,
    ])
  })
  expect(await page.context().cookies()).toEqual([])
  expect(problems.filter((problem) => !problem.includes('404'))).toEqual([])
})
