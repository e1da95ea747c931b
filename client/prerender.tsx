import { renderToStaticMarkup } from 'react-dom/server'
import { PUBLIC_URL_PLACEHOLDER, speculationRules } from '../shared/page-paths.ts'
import { Head } from './head.tsx'
import { builtPaths, loadPage } from './pages/load-page.ts'
import { notFoundPage } from './pages/not-found-page.tsx'
import type { Page } from './pages/page.ts'
import { renderBody } from './renderer.tsx'
import { structuredData } from './structured-data.ts'
import { hasWordmark } from './ui/logo.tsx'
import wordmark from './ui/wordmark.svg?raw'

/** Each page's path and the file it is written to. */
export const pageFiles = new Map<string, string>([
  ...builtPaths().map((path): [string, string] => [path, `${path.slice(1)}/index.html`.replace(/^\//, '')]),
  [notFoundPage.path, '404.html'],
])

export async function isPage(path: string) {
  return (await loadPage(path)) !== notFoundPage
}

export { renderOutcome } from './renderer.tsx'

export async function renderPage(template: string, path: string) {
  const page = await loadPage(path)
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

/** What else the build writes, by file name. */
export const files = new Map<string, string>([
  [
    'sitemap.xml',
    `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${(
      await Promise.all(builtPaths().map((path) => loadPage(path)))
    )
      .filter((page) => !page.unlisted)
      .map((page) => `<url><loc>${PUBLIC_URL_PLACEHOLDER}${page.path}</loc></url>\n`)
      .join('')}</urlset>\n`,
  ],
  ['robots.txt', `User-agent: *\nDisallow: /trpc/\n\nSitemap: ${PUBLIC_URL_PLACEHOLDER}/sitemap.xml\n`],
])
