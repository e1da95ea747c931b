// Every answer carries the security headers, pages can be cached, and hostile paths find nothing.
// Too many forms are refused on a page that says so.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { home } from '../../client/content/home.ts'
import { anOrder } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { typedOrder } from '../support/fill-order.ts'
import { say } from '../support/raw-request.ts'
import { startSite } from '../support/site.ts'
import { paths } from '../support/visit.ts'

const PUBLIC_URL = 'https://www.quvera.example'
/** More than the orders of this file. */
const ORDERS_A_MINUTE = 10

let site: Awaited<ReturnType<typeof startSite>>
beforeAll(async () => {
  site = await startSite({ PUBLIC_URL, RATE_LIMIT_MAX: String(ORDERS_A_MINUTE), TRUST_PROXY: '127.0.0.1' })
})
afterAll(() => site?.close())

const raw = (request: string) => say(site.url, request)

it.each([...paths, '/nothing-here', '/healthz', '/readyz', '/robots.txt', '/trpc/order.submit', '/%zz'])(
  'every answer carries the security headers: %s',
  async (path) => {
    const { headers } = await fetch(site.url + path)
    const policy = headers.get('content-security-policy')
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-[\w+/=]+'; .*frame-ancestors 'none'; upgrade-insecure-requests$/,
    )
    expect(policy).not.toContain('unsafe')
    expect(Object.fromEntries(headers)).toMatchObject({
      'strict-transport-security': 'max-age=63072000',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
    })
    for (const absent of ['set-cookie', 'server', 'x-powered-by']) expect(headers.get(absent)).toBeNull()
  },
)

describe('pages', () => {
  it.each(paths)('%s names the public address, and loads one script and one style', async (path) => {
    const html = await (await fetch(site.url + path)).text()
    expect(html).toContain(`<link rel="canonical" href="${PUBLIC_URL}${path === '/' ? '/' : path}"`)
    expect(html).not.toContain('public-url.invalid')
    expect(html.match(/<script[^>]*src=[^>]*>|<link[^>]*rel="stylesheet"[^>]*>/g)).toHaveLength(2)
  })

  it.each(['br', 'gzip'])('go out compressed as %s and are not sent again while unchanged', async (encoding) => {
    const ask = () => fetch(site.url, { headers: { 'accept-encoding': encoding } })
    await eventually(async () => expect((await ask()).headers.get('content-encoding')).toBe(encoding))
    const first = await ask()
    expect(first.headers.get('cache-control')).toBe('no-cache')
    const etag = first.headers.get('etag') ?? ''
    const second = await fetch(site.url, { headers: { 'accept-encoding': encoding, 'if-none-match': etag } })
    expect([second.status, await second.text()]).toEqual([304, ''])
    expect(second.headers.get('etag')).toBe(etag)
  })

  it('go out as they are to those who take nothing else', async () => {
    const answer = await fetch(site.url, { headers: { 'accept-encoding': 'br;q=0, gzip;q=0' } })
    expect(answer.headers.get('content-encoding')).toBeNull()
    expect(await answer.text()).toContain(home.title)
  })

  it('answer HEAD without a body', async () => {
    const answer = await raw('HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(answer.endsWith('\r\n\r\n')).toBe(true)
  })

  it('have one address each: a slash at the end leads to it', async () => {
    const answer = await fetch(`${site.url}/buy-now/`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([308, '/buy-now'])
    const chosen = await fetch(`${site.url}/buy-now/?product=quvera-xt`, { redirect: 'manual' })
    expect(chosen.headers.get('location')).toBe('/buy-now?product=quvera-xt')
    expect((await fetch(`${site.url}//evil.example/`, { redirect: 'manual' })).status).toBe(404)
  })

  it('load files that may be kept for ever', async () => {
    const html = await (await fetch(site.url)).text()
    const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path)
    for (const kind of ['.js', '.css', '.woff2']) expect(files.join(' ')).toContain(kind)
    for (const path of files) {
      const answer = await fetch(site.url + path)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  it('are listed for search engines at the public address', async () => {
    const sitemap = await (await fetch(`${site.url}/sitemap.xml`)).text()
    for (const path of paths) expect(sitemap).toContain(`<loc>${PUBLIC_URL}${path}</loc>`)
    expect(await (await fetch(`${site.url}/robots.txt`)).text()).toContain(`Sitemap: ${PUBLIC_URL}/sitemap.xml`)
  })
})

describe('hostile requests', () => {
  it.each([
    '/../../etc/passwd',
    '/..%2f..%2fetc/passwd',
    '/%2e%2e/%2e%2e/package.json',
    '/.env',
    '/.git/config',
    '/assets/../../server/main.js',
    '/server/main.js',
    '/package.json',
    '/index.html.br',
  ])('%s finds nothing', async (path) => {
    const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1.1 404 /)
    expect(answer).not.toMatch(/root:|DATABASE_URL|"dependencies"/)
  })

  it.each([
    ['a host that is none', 'Host: a b<>', '', 200],
    ['an empty host', 'Host: ', '', 200],
    ['two lengths', 'Host: x', 'Transfer-Encoding: chunked\r\n', 400],
  ])('an order with %s is answered in words, and never with 500', async (_, host, header, status) => {
    const body = JSON.stringify(anOrder())
    const answer = await raw(
      `POST /trpc/order.submit HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\n${header}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  it('pages and health are never limited', async () => {
    for (let index = 0; index < 2 * ORDERS_A_MINUTE; index++) {
      expect((await fetch(`${site.url}/`)).status).toBe(200)
      expect((await fetch(`${site.url}/healthz`)).status).toBe(200)
    }
  })
})

it('too many forms are told on a page that says to go back', async () => {
  const send = () =>
    fetch(`${site.url}/buy-now`, {
      method: 'POST',
      headers: { 'x-forwarded-for': '203.0.113.1' },
      body: new URLSearchParams({ ...typedOrder, email: 'nobody' }),
    })
  for (let count = 0; count < ORDERS_A_MINUTE; count++) expect((await send()).status).toBe(400)
  const answer = await send()
  expect(answer.status).toBe(429)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  const html = await answer.text()
  expect(html).toContain('Too many enquiries')
  expect(html).toContain('Go back in your browser: what you typed is still there.')
})
