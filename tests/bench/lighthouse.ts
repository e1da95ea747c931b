/** `npm run bench:pages`: Lighthouse (mobile) three times a page, and how fast the pages answer a touch. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from '@playwright/test'
import lighthouse from 'lighthouse'
import { CHROMIUM_FLAGS, chromiumPath, installedChromium } from '../support/browser.ts'
import { freePort, startServer } from '../support/server-process.ts'
import { measureInteractions } from './interactions.ts'
import { median, missed, report } from './report.ts'

const PAGES = ['/', '/products/quvera-300', '/products/quvera-xt', '/buy-now', '/privacy-policy']
const RUNS = 3
const VISITS = 5
const budget = { score: 100, lcpMs: 1200, cls: 0.02, tbtMs: 20, interactionMs: 100 }
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const

interface PageResult {
  scores: number[]
  lcpMs: number
  cls: number
  tbtMs: number
}

const folder = await mkdtemp(join(tmpdir(), 'quvera-pages-'))
const site = await startServer({ DATA_DIR: folder, LOG_LEVEL: 'warn', RATE_LIMIT_MAX: '0' })
const debuggingPort = await freePort()
const browser = await chromium.launch({
  executablePath: installedChromium || (await chromiumPath()), // an installed one is nearer to what visitors have
  args: [...CHROMIUM_FLAGS, `--remote-debugging-port=${debuggingPort}`],
})
const pages: Record<string, PageResult> = {}
try {
  console.log(`\nLighthouse mobile, medians of ${RUNS}\n`)
  console.log(`| page | ${CATEGORIES.join(' / ')} | LCP | CLS | TBT |\n|---|---|---|---|---|`)
  for (const page of PAGES) {
    const results: PageResult[] = []
    for (let run = 0; run < RUNS; run++) results.push(await audit(site.url + page))
    const result = medianOf(results)
    console.log(
      `| ${page} | ${result.scores.join(' / ')} | ${Math.round(result.lcpMs)} ms | ${result.cls.toFixed(3)} | ${Math.round(result.tbtMs)} ms |`,
    )
    pages[page] = result
  }
  console.log(`\nFrom touch to next paint under 4 × CPU throttling, the slowest of a visit, medians of ${VISITS}\n`)
  const visits: Record<string, number>[] = []
  for (let visit = 0; visit < VISITS; visit++) visits.push(await measureInteractions(browser, site.url))
  for (const what of Object.keys(visits[0] ?? {})) {
    const ms = median(visits.map((visit) => visit[what] ?? Number.NaN))
    report(what, ms, 'ms', { atMost: budget.interactionMs })
  }
} finally {
  await browser.close()
  await site.stop('SIGKILL')
  await rm(folder, { recursive: true, force: true })
}
console.log()
for (const [page, { scores, lcpMs, cls, tbtMs }] of Object.entries(pages)) {
  report(`${page}: lowest score`, Math.min(...scores), 'of 100', { atLeast: budget.score })
  report(`${page}: LCP`, lcpMs, 'ms', { atMost: budget.lcpMs })
  report(`${page}: CLS`, cls, '', { atMost: budget.cls })
  report(`${page}: TBT`, tbtMs, 'ms', { atMost: budget.tbtMs })
}
process.exit(missed.length ? 1 : 0)

async function audit(url: string): Promise<PageResult> {
  const result = await lighthouse(url, { port: debuggingPort, logLevel: 'error', onlyCategories: [...CATEGORIES] })
  if (!result) throw new Error(`Lighthouse has no result for ${url}`)
  const { audits, categories } = result.lhr
  return {
    scores: CATEGORIES.map((name) => Math.round((categories[name]?.score ?? 0) * 100)),
    lcpMs: audits['largest-contentful-paint']?.numericValue ?? Number.NaN,
    cls: audits['cumulative-layout-shift']?.numericValue ?? Number.NaN,
    tbtMs: audits['total-blocking-time']?.numericValue ?? Number.NaN,
  }
}

/** The median of each figure by itself. */
function medianOf(results: PageResult[]): PageResult {
  const middle = (pick: (result: PageResult) => number) => median(results.map(pick))
  return {
    scores: CATEGORIES.map((_, index) => middle((result) => result.scores[index] ?? 0)),
    lcpMs: middle((result) => result.lcpMs),
    cls: middle((result) => result.cls),
    tbtMs: middle((result) => result.tbtMs),
  }
}
