import { renderToStaticMarkup } from 'react-dom/server'
import { PUBLIC_URL_PLACEHOLDER, speculationRules } from '../shared/page-paths.ts'
import { Head } from './head.tsx'
import type { Page } from './pages/page.ts'
import { pages } from './pages/pages.ts'
import { renderBody } from './renderer.tsx'
import { structuredData } from './structured-data.ts'
import { hasWordmark } from './ui/logo.tsx'
import wordmark from './ui/wordmark.svg?raw'

export { pageAt } from './pages/pages.ts'
export { renderOutcome } from './renderer.tsx'

/** What the build writes, by file name: `buy-now.html` is the page `/buy-now`. */
export function renderSite(template: string): Map<string, string> {
  const listed = pages.filter((page) => !page.unlisted)
  const urls = listed.map(({ path }) => `<url><loc>${PUBLIC_URL_PLACEHOLDER}${path}</loc></url>\n`)
  const head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
  const files = new Map([
    ['sitemap.xml', `${head}${urls.join('')}</urlset>\n`],
    ['robots.txt', `User-agent: *\nDisallow: /trpc/\n\nSitemap: ${PUBLIC_URL_PLACEHOLDER}/sitemap.xml\n`],
  ])
  for (const page of pages)
    files.set(page.path === '/' ? 'index.html' : `${page.path.slice(1)}.html`, renderPage(template, page))
  return files
}

export function renderPage(template: string, page: Page): string {
  return template
    .replace('<!--head-->', () => renderToStaticMarkup(<Head page={page} />) + dataBlocks(page))
    .replace('<!--wordmark-->', () => (hasWordmark ? wordmark : ''))
    .replace('<!--app-->', () => renderBody(page))
}

/** JSON-LD is never run, so the content security policy lets it stand; the rules it names by their hash. */
function dataBlocks(page: Page) {
  const rules = `<script type="speculationrules">${speculationRules}</script>`
  const graph = structuredData(page)
  if (graph.length === 0) return rules
  const json = JSON.stringify({ '@context': 'https://schema.org', '@graph': graph }).replaceAll('<', '\\u003c')
  return `<script type="application/ld+json">${json}</script>${rules}`
}
