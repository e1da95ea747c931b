// Orders are taken only from the site's own pages, and the log warns where the site's own address is not configured.
import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { anOrder } from '../support/an-order.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const WARNING = /^Orders from https:\/\/quvera\.test are refused because PUBLIC_URL is https:\/\/www\.quvera\.test\./

let app: TestApp
afterEach(() => app?.close())

/** `fetch` writes the Host header itself. */
function statusOf(headers: Record<string, string>): Promise<number | undefined> {
  const body = JSON.stringify(anOrder())
  return new Promise((done, fail) => {
    const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
    const sent = request(`${app.url}/trpc/order.submit`, options, (answer) => done(answer.resume().statusCode))
    sent.once('error', fail)
    sent.end(body)
  })
}

const warnings = () =>
  app.logLines.map((line) => JSON.parse(line)).filter(({ level, msg }) => level === 40 && msg.startsWith('Orders from'))

describe('with PUBLIC_URL', () => {
  it('orders are taken from that origin and its aliases, whatever the Host header says', async () => {
    app = await startTestApp({
      mails: false,
      publicUrl: 'https://www.quvera.test',
      publicUrlAliases: ['https://quvera.test'],
    })
    expect(await statusOf({ origin: 'https://www.quvera.test', host: '127.0.0.1:3000' })).toBe(200)
    expect(await statusOf({ origin: 'https://quvera.test', host: 'quvera.test' })).toBe(200)
    expect(await statusOf({ origin: 'https://www.quvera.test.', host: 'www.quvera.test.' })).toBe(200) // the root's dot
    expect(await statusOf({ origin: 'https://www.quvera.test.evil', host: 'www.quvera.test.evil' })).toBe(403)
    expect(await statusOf({})).toBe(200)
    expect(await statusOf({ origin: 'https://evil.test', host: 'evil.test' })).toBe(403)
    expect(await statusOf({ origin: 'http://www.quvera.test', host: 'www.quvera.test' })).toBe(403)
    expect(await statusOf({ origin: 'https://www.quvera.test:444', host: 'www.quvera.test:444' })).toBe(403)
    expect(await app.db.enquiry.count()).toBe(4)
  })

  it('on this machine its other names are the same, at the same port', async () => {
    app = await startTestApp({ mails: false, publicUrl: 'http://localhost:3000' })
    for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000'])
      expect(await statusOf({ origin: `http://${host}`, host })).toBe(200)
    expect(await statusOf({ origin: 'http://127.0.0.1:4000', host: '127.0.0.1:4000' })).toBe(403)
  })

  it('an own address that is not configured is logged once, with its name', async () => {
    app = await startTestApp({ mails: false, publicUrl: 'https://www.quvera.test' })
    const misled = { origin: 'https://quvera.test', host: 'site:3000', 'sec-fetch-site': 'same-origin' }
    expect(await statusOf({ origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(warnings()).toEqual([])
    expect([await statusOf(misled), await statusOf(misled)]).toEqual([403, 403])
    expect(warnings()).toEqual([expect.objectContaining({ msg: expect.stringMatching(WARNING) })])
  })
})

it('without PUBLIC_URL orders are taken from the host that the visitor has asked', async () => {
  app = await startTestApp({ mails: false, publicUrl: '' })
  expect(await statusOf({ origin: 'https://quvera.test', host: 'quvera.test' })).toBe(200)
  expect(await statusOf({ origin: 'https://evil.test', host: 'quvera.test' })).toBe(403)
})
