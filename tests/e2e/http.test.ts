// Every answer carries the security headers, pages can be cached, and hostile paths find nothing.
import { expect, it } from 'vitest'
import { home } from '../../client/content/home.ts'
import { productPath, productSlug, products } from '../../shared/catalogue.ts'
import { eventually } from '../support/eventually.ts'
import { say } from '../support/raw-request.ts'
import { ownSiteForTests, paths } from '../support/visit.ts'

const PUBLIC_URL = 'https://www.quvera.example'

const { site, fetch: ask, html } = ownSiteForTests({ PUBLIC_URL })
const raw = (request: string) => say(site().url, `${request}\r\nConnection: close\r\n\r\n`)

it.each([...paths, '/nothing-here', '/healthz', '/readyz', '/robots.txt', '/trpc/order.submit', '/%zz'])(
  'every answer carries the security headers: %s',
  async (path) => {
    const { headers } = await ask(path)
    const policy = headers.get('content-security-policy')
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-[\w+/=]+'; .*frame-ancestors 'none'; upgrade-insecure-requests$/,
    )
    expect(policy).not.toContain('unsafe')
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': expect.stringMatching(/^no-(?:cache|store)$/),
      'strict-transport-security': 'max-age=63072000',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
    })
    for (const absent of ['set-cookie', 'server', 'x-powered-by', 'access-control-allow-origin'])
      expect(headers.get(absent)).toBeNull()
  },
)

it.each(['br', 'gzip'])('pages go out compressed as %s and are not sent again while unchanged', async (encoding) => {
  const get = (headers = {}) => ask('/', { headers: { 'accept-encoding': encoding, ...headers } })
  await eventually(async () => expect((await get()).headers.get('content-encoding')).toBe(encoding))
  const first = await get()
  expect(first.headers.get('cache-control')).toBe('no-cache')
  const again = await get({ 'if-none-match': first.headers.get('etag') })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

it('pages go out as they are to those who take nothing else, and answer HEAD without a body', async () => {
  const answer = await ask('/', { headers: { 'accept-encoding': 'br;q=0, gzip;q=0' } })
  expect(answer.headers.get('content-encoding')).toBeNull()
  expect(await answer.text()).toContain(home.title)
  const head = await raw('HEAD / HTTP/1.1\r\nHost: x')
  expect(head).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  expect(head.endsWith('\r\n\r\n')).toBe(true)
})

it('pages have one address each: a slash at the end leads to it', async () => {
  const lead = async (path: string) => {
    const { status, headers } = await ask(path, { redirect: 'manual' })
    return [status, headers.get('location')]
  }
  expect(await lead('/buy-now/?product=x')).toEqual([308, '/buy-now?product=x'])
  expect(await lead('//evil.example/')).toEqual([404, null])
})

it.each([
  ['/Buy-Now', '/buy-now'],
  ['/BUY-NOW/?product=X&for=', '/buy-now?product=X&for='],
  [productPath(products[1]).toUpperCase(), productPath(products[1])],
  [`/${productSlug(products[1])}?x=//evil.example`, `${productPath(products[1])}?x=//evil.example`],
  [`/${productSlug(products[0]).toUpperCase()}/`, productPath(products[0])],
  ['/Staff', '/staff'],
  ['/STAFF/Enter?token=aB', '/staff/enter?token=aB'],
  ['/Staff//Evil.example', '/staff//evil.example'],
])('an address as people print and type it leads to the page: %s', async (path, page) => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await ask(path, { method, redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([308, page])
  }
  expect((await ask(path, { method: 'POST' })).status).toBe(404)
})

it.each([
  '//Evil.example/Staff',
  '/\\Evil.example/Buy-Now',
  '/Assets/Style.css',
  '/Desk/Desk',
  '/Nowhere',
  '/staffed',
  '/Staff%2fenter',
])('no address leads to another site, or to where there is no page: %s', async (path) => {
  const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: x`)
  expect(answer).toMatch(/^HTTP\/1.1 404 /)
  expect(answer).not.toMatch(/^location:/im)
})

it('an address that is not ours answers 404, with a way home', async () => {
  const answer = await ask('/nowhere')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([404, expect.stringMatching(/^text\/html/)])
  expect(await answer.text()).toMatch(/Page not found[\s\S]*href="\/"[\s\S]*Back to the home page/)
})

it('pages load one script and one style, and only files that may be kept for ever', async () => {
  const page = await html('/')
  expect(page.match(/<script[^>]*src=[^>]*>|<link[^>]*rel="stylesheet"[^>]*>/g)).toHaveLength(2)
  const files = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  for (const kind of ['.js', '.css', '.woff2']) expect(files.join(' ')).toContain(kind)
  for (const path of files) {
    const { status, headers } = await ask(path)
    expect([status, headers.get('x-content-type-options')]).toEqual([200, 'nosniff'])
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  }
})

it.each(['/favicon.ico', '/apple-touch-icon.png', '/icon-512.png'])('the icon %s is there', async (icon) => {
  const answer = await ask(icon)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^image\//)])
})

it('pages name the public address, at which they are listed for search engines', async () => {
  const sitemap = await html('/sitemap.xml')
  for (const path of paths) {
    expect(await html(path)).toContain(`<link rel="canonical" href="${PUBLIC_URL}${path}"`)
    expect(sitemap).toContain(`<loc>${PUBLIC_URL}${path}</loc>`)
  }
  expect(await html('/robots.txt')).toContain(`Sitemap: ${PUBLIC_URL}/sitemap.xml`)
})

it.each([
  '/../../etc/passwd',
  '/..%2f..%2fetc/passwd',
  '/%2e%2e/%2e%2e/package.json',
  '/.env',
  '/assets/../../server/main.js',
  '/index.html.br',
])('the hostile path %s finds nothing', async (path) => {
  const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: x`)
  expect(answer).toMatch(/^HTTP\/1.1 404 /)
  expect(answer).not.toMatch(/root:|DATABASE_URL|"dependencies"/)
})
