// The log tells of stored enquiries without personal data, and nobody can cause lines in it without limit.
import { expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { anApp } from '../support/fixtures.ts'
import { startSite } from '../support/site.ts'

it('the log has levels, ISO times and stored enquiries, no personal data, and no line that anybody can cause without limit', async () => {
  const site = await startSite({ LOG_LEVEL: 'info' })
  try {
    const order = anOrder()
    const { reference } = await submit(site.url, order, { 'x-forwarded-for': '203.0.113.9' })
    expect((await submit(site.url, order, { 'x-forwarded-for': '203.0.113.10' })).reference).toBe(reference)
    const [asset] = /\/assets\/[\w.-]+/.exec(await (await fetch(`${site.url}/buy-now`)).text()) ?? []
    for (const path of ['/healthz', '/readyz', '/favicon.ico', asset, '/no-such-page', '/trpc/no.such'])
      await fetch(site.url + path)
    expect((await submit(site.url, {})).status).toBe(400)
    await site.server.stop()
    const text = site.server.stdout()
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    for (const { level, time } of lines) {
      expect(['info', 'warn']).toContain(level)
      expect(new Date(time).toISOString()).toBe(time)
    }
    expect(lines.filter(({ msg }) => msg === 'enquiry stored')).toEqual([expect.objectContaining({ reference })])
    const requests = lines.filter(({ msg }) => msg === 'request').map(({ method, route }) => `${method} ${route}`)
    expect(requests).toEqual(['POST order.submit', 'POST order.submit'])
    const warned = lines.filter(({ msg }) => msg.startsWith('X-Forwarded-For comes from 127.0.0.1'))
    expect(warned).toHaveLength(1)
    expect(warned[0].msg).toMatch(/set TRUST_PROXY=127\.0\.0\.1$/)
    for (const secret of [order.name, order.email, order.mobile, '203.0.113']) expect(text).not.toContain(secret)
  } finally {
    await site.close()
  }
})

it('of a proxy that TRUST_PROXY names it does not warn, also when a visitor is at that machine', async () => {
  const [named, unnamed] = [await anApp({ mails: false, trustProxy: ['127.0.0.1'] }), await anApp({ mails: false })]
  for (const { url } of [named, unnamed]) await submit(url, anOrder(), { 'x-forwarded-for': '127.0.0.1' })
  expect([named, unnamed].map((app) => app.countLogged('which TRUST_PROXY does not name'))).toEqual([0, 1])
})
