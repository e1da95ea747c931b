// Orders are taken only from the site's own pages, and the log warns where the site's own address is not configured.
import { expect, it } from 'vitest'
import { readEnv } from '../../../server/env.ts'
import { readStaticPages } from '../../../server/http/static-pages.ts'
import { anOrder } from '../../support/an-order.ts'
import { anApp } from '../../support/fixtures.ts'
import { sendAs } from '../../support/raw-request.ts'

/** How an order with these headers is answered. */
async function statusOf({ url }: { url: string }, headers: Record<string, string>): Promise<number> {
  const all = { host: new URL(url).host, 'content-type': 'application/json', ...headers }
  return (await sendAs(url, '/trpc/order.submit', all, JSON.stringify(anOrder()))).status
}

const WWW = { publicUrl: 'https://www.quvera.test', publicUrlAliases: ['https://quvera.test'] }
const LOCAL = { publicUrl: 'http://localhost:3000' }

it.each<[site: object, origin: string, host: string, status: number]>([
  [WWW, 'https://www.quvera.test', '127.0.0.1:3000', 200],
  [WWW, 'https://quvera.test', 'quvera.test', 200],
  [WWW, 'https://www.quvera.test.', 'www.quvera.test.', 200], // the root's dot
  [WWW, '', 'www.quvera.test', 200],
  [WWW, 'https://www.quvera.test.evil', 'www.quvera.test.evil', 403],
  [WWW, 'https://evil.test', 'evil.test', 403],
  [WWW, 'http://www.quvera.test', 'www.quvera.test', 403],
  [WWW, 'https://www.quvera.test:444', 'www.quvera.test:444', 403],
  [LOCAL, 'http://localhost:3000', 'localhost:3000', 200], // on this machine its other names are the same
  [LOCAL, 'http://127.0.0.1:3000', '127.0.0.1:3000', 200],
  [LOCAL, 'http://[::1]:3000', '[::1]:3000', 200],
  [LOCAL, 'http://127.0.0.1:4000', '127.0.0.1:4000', 403],
  [{ publicUrl: '' }, 'https://quvera.test', 'quvera.test', 200], // the host that was asked
  [{ publicUrl: '' }, 'https://evil.test', 'quvera.test', 403],
])('of %j an order from %s that asks for %s is answered %i', async (site, origin, host, status) => {
  const app = await anApp({ mails: false, ...site })
  expect(await statusOf(app, { host, ...(origin && { origin }) })).toBe(status)
  expect(await app.db.enquiry.count()).toBe(status === 200 ? 1 : 0)
})

it('an own address that is not configured is logged once, with its name', async () => {
  const app = await anApp({ mails: false, publicUrl: 'https://www.quvera.test' })
  const misled = { origin: 'https://quvera.test', host: 'site:3000', 'sec-fetch-site': 'same-origin' }
  expect(await statusOf(app, { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' })).toBe(403)
  expect(app.countLogged('Orders from')).toBe(0)
  expect([await statusOf(app, misled), await statusOf(app, misled)]).toEqual([403, 403])
  const warning = 'Orders from https://quvera.test are refused because PUBLIC_URL is https://www.quvera.test.'
  expect(app.countLogged(warning)).toBe(1)
})

it('the built pages say whether mails lead to the site', () => {
  for (const PUBLIC_URL of ['https://www.quvera.test', undefined]) {
    const home = readStaticPages('dist/client', readEnv({ PUBLIC_URL })).get('/')
    const said = /<html [^>]*data-mail-links="(.*?)"/.exec(String(home?.identity.body))
    expect(said?.[1]).toBe(PUBLIC_URL ? 'on' : 'off')
  }
})
