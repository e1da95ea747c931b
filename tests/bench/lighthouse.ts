/** `npm run bench:pages`: Lighthouse (mobile) three times a page, beside an empty page, and how fast pages answer a touch. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from '@playwright/test'
import lighthouse from 'lighthouse'
import { pagePaths } from '../../shared/page-paths.ts'
import { CHROMIUM_FLAGS, chromiumPath, installedChromium } from '../support/browser.ts'
import { listen } from '../support/listen.ts'
import { freePort, startServer } from '../support/server-process.ts'
import { measureInteractions } from './interactions.ts'
import { finish, median, report } from './report.ts'

const RUNS = 3
const VISITS = 5
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const
type Category = (typeof CATEGORIES)[number]
type Figures = Record<Category | 'lcpMs' | 'cls' | 'blockingMs', number>
const EMPTY = '<!doctype html><html lang="en"><title>Empty</title><p>Empty</p></html>'

const folder = await mkdtemp(join(tmpdir(), 'quvera-pages-'))
const site = await startServer({ DATA_DIR: folder, LOG_LEVEL: 'warn', RATE_LIMIT_MAX: '0' })
const emptySite = await listen(
  createServer((_, response) => response.setHeader('content-type', 'text/html').end(EMPTY)),
)
const debuggingPort = await freePort()
const browser = await chromium.launch({
  executablePath: installedChromium || (await chromiumPath()), // an installed one is nearer to what visitors have
  args: [...CHROMIUM_FLAGS, `--remote-debugging-port=${debuggingPort}`],
})
try {
  const empty = await audit(emptySite.url)
  report('an empty page: LCP', empty.lcpMs, 'ms')
  report('an empty page: blocking time', empty.blockingMs, 'ms')
  for (const path of pagePaths) {
    const page = await audit(site.url + path)
    for (const category of CATEGORIES) report(`${path}: ${category}`, page[category], 'of 100', { atLeast: 100 })
    report(`${path}: LCP, more than an empty page`, page.lcpMs - empty.lcpMs, 'ms', { atMost: 600 })
    report(`${path}: CLS`, page.cls, '', { atMost: 0.02 })
    report(`${path}: blocking time, more than an empty page`, page.blockingMs - empty.blockingMs, 'ms', { atMost: 20 })
  }
  console.log(`\nFrom touch to next paint under 4 × CPU throttling, the slowest of a visit, medians of ${VISITS}\n`)
  const visits: Record<string, number>[] = []
  for (let visit = 0; visit < VISITS; visit++) visits.push(await measureInteractions(browser, site.url))
  for (const what of Object.keys(visits[0] ?? {}))
    report(what, median(visits.map((visit) => visit[what] ?? Number.NaN)), 'ms', { atMost: 100 })
} finally {
  await browser.close()
  await emptySite.close()
  await site.stop('SIGKILL')
  await rm(folder, { recursive: true, force: true })
}
finish()

/** The median of each figure by itself. */
async function audit(url: string): Promise<Figures> {
  const runs: Figures[] = []
  for (let run = 0; run < RUNS; run++) runs.push(await auditOnce(url))
  const names = Object.keys(runs[0] ?? {}) as (keyof Figures)[]
  return Object.fromEntries(names.map((name) => [name, median(runs.map((run) => run[name]))])) as Figures
}

async function auditOnce(url: string): Promise<Figures> {
  const result = await lighthouse(url, { port: debuggingPort, logLevel: 'error', onlyCategories: [...CATEGORIES] })
  if (!result) throw new Error(`Lighthouse has no result for ${url}`)
  const { audits, categories } = result.lhr
  const value = (name: string) => audits[name]?.numericValue ?? Number.NaN
  const scores = CATEGORIES.map((name) => [name, Math.round((categories[name]?.score ?? 0) * 100)])
  return {
    ...(Object.fromEntries(scores) as Record<Category, number>),
    lcpMs: value('largest-contentful-paint'),
    cls: value('cumulative-layout-shift'),
    blockingMs: value('total-blocking-time'),
  }
}
