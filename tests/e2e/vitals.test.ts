import { expect, it } from 'vitest'
import { productPath, products } from '../../shared/catalogue.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'
import { siteForTests } from '../support/visit.ts'

const port = String(await freePort())
const path = productPath(products[1])
const { site, visit } = siteForTests({ METRICS_PORT: port })

it('how fast a page was is told once, when somebody leaves it', async () => {
  const { page, problems, close } = await visit(path)
  await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => /vitals-/.test(name)))
  await page.locator('#composition summary').first().click()
  await page.waitForFunction(() => performance.getEntriesByType('first-input').length > 0) // it is painted, then timed
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
  await close()
})
