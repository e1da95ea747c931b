import { PUBLIC_URL_PLACEHOLDER } from '../shared/page-paths.ts'
import { renderHead } from './head.tsx'
import type { Page } from './pages/page.ts'
import { pages } from './pages/pages.ts'
import { renderBody } from './renderer.tsx'
import { hasWordmark } from './ui/logo.tsx'
import wordmark from './ui/wordmark.svg?raw'

export { pageAt } from './pages/pages.ts'

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

const SCRIPTS = /<script\b[^<>]*\bsrc=[^<>]*><\/script>|<link\b[^<>]*\brel="modulepreload"[^<>]*>/g

export function renderPage(template: string, page: Page): string {
  return (page.hasNoScripts ? template.replace(SCRIPTS, '') : template)
    .replace('<!--head-->', () => renderHead(page))
    .replace('<!--wordmark-->', () => (hasWordmark ? wordmark : ''))
    .replace('<!--app-->', () => renderBody(page))
}
