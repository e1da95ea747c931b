// Prometheus reads orders, durations, mails and web vitals at a separate port, and implausible vitals are refused.
import { expect, it } from 'vitest'
import { readEnv } from '../../server/env.ts'
import { readStaticPages } from '../../server/http/static-pages.ts'
import { anOrder, call, submit } from '../support/an-order.ts'
import { typedOrder } from '../support/fill-order.ts'
import { anApp as anyApp } from '../support/fixtures.ts'
import { freePort } from '../support/server-process.ts'
import { hoursAgo, storeEnquiry } from '../support/stored-enquiry.ts'

/** In this process, without a key, and with a port for those who read its figures. */
async function anApp(options: Parameters<typeof anyApp>[0] = {}) {
  const port = await freePort()
  const { url, db } = await anyApp({ mails: false, metricsPort: port, ...options })
  return { port, url, db }
}

it('tells Prometheus of orders, durations by route and mails that wait, at a port of its own', async () => {
  const { port, ...server } = await anApp()
  await submit(server.url, anOrder())
  await submit(server.url, anOrder({ mobile: '12' }))
  await call(server.url, 'no.such', {})
  const form = new URLSearchParams({ ...typedOrder, quantity: '12' })
  await fetch(`${server.url}/buy-now`, { method: 'POST', body: form, redirect: 'manual' })
  await fetch(server.url, {
    method: 'POST',
    body: new URLSearchParams({ email: 'a@shop.example' }),
    redirect: 'manual',
  })
  await fetch(server.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }) // by a scanner
  await fetch(`${server.url}/buy-now`, { method: 'POST', body: new URLSearchParams({ name: 'x'.repeat(20_000) }) })
  await fetch(`${server.url}/somebody@example.com`)

  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  const text = await answer.text()
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  for (const line of [
    'quvera_orders_total{status="200"} 2',
    'quvera_orders_total{status="400"} 1',
    'quvera_orders_total{status="413"} 1',
    'quvera_orders_total{status="415"} 0',
    'quvera_orders_total{status="503"} 0',
    'quvera_request_seconds_count{route="order.submit",status="200"} 1',
    'quvera_request_seconds_count{route="/",status="415"} 1',
    'quvera_mails{state="pending"} 5',
    'quvera_mails{state="failed"} 0',
    'quvera_database_up 1',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
  expect(text).toMatch(/^process_cpu_seconds_total \d/m)
  expect(text).toMatch(/^quvera_mail_oldest_pending_seconds \d/m)
  expect(text).toMatch(/^quvera_enquiry_oldest_new_seconds \d/m)
  expect(text).not.toMatch(/no\.such|somebody/)
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
})

it('counts web vitals, and refuses implausible ones', async () => {
  const { port, ...server } = await anApp({ rateLimitMax: 1 })
  const measured = { page: '/buy-now', LCP: 900.4, INP: 40, TTFB: 12, CLS: 0.003 }
  const send = async (body: unknown, headers = {}) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
    return (await fetch(`${server.url}/vitals`, { ...init, body: JSON.stringify(body) })).status
  }
  expect(await send(measured)).toBe(204)
  expect(await send({ page: '/', TTFB: 0 })).toBe(204) // all that some browsers can measure
  for (const wrong of [{ LCP: Number.NaN }, { LCP: -1 }, { INP: 1e9 }, { CLS: 1e3 }, { TTFB: '12' }, { more: 1 }])
    expect(await send({ ...measured, ...wrong })).toBe(400)
  expect(await send({ ...measured, page: '/made-up' })).toBe(400)
  expect(await send({ ...measured, more: 'x'.repeat(1000) })).toBe(413)
  expect(await send(measured, { 'content-type': 'text/plain' })).toBe(415)
  expect(await send(measured, { origin: 'https://elsewhere.example' })).toBe(403)

  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const counts = text.match(/^quvera_vitals_\w+_(sum|count).*$/gm)?.sort()
  expect(counts).toEqual([
    'quvera_vitals_seconds_count{page="/",metric="TTFB"} 1',
    'quvera_vitals_seconds_count{page="/buy-now",metric="INP"} 1',
    'quvera_vitals_seconds_count{page="/buy-now",metric="LCP"} 1',
    'quvera_vitals_seconds_count{page="/buy-now",metric="TTFB"} 1',
    'quvera_vitals_seconds_sum{page="/",metric="TTFB"} 0',
    'quvera_vitals_seconds_sum{page="/buy-now",metric="INP"} 0.04',
    'quvera_vitals_seconds_sum{page="/buy-now",metric="LCP"} 0.9004',
    'quvera_vitals_seconds_sum{page="/buy-now",metric="TTFB"} 0.012',
    'quvera_vitals_shift_count{page="/buy-now",metric="CLS"} 1',
    'quvera_vitals_shift_sum{page="/buy-now",metric="CLS"} 0.003',
  ])

  const answers = await Promise.all(Array.from({ length: 70 }, () => send(measured)))
  expect(answers.filter((status) => status === 429).length).toBeGreaterThan(0)
  expect((await submit(server.url, anOrder())).status).toBe(200) // its limit of one is another
})

it('without METRICS_PORT takes no web vitals, and pages send none', async () => {
  const pages = async (metricsPort?: number) => {
    const pages = readStaticPages('dist/client', { ...readEnv({}), METRICS_PORT: metricsPort ?? 0 })
    const server = await anApp({ pages, metricsPort })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"page":"/"}' }
    const { status } = await fetch(`${server.url}/vitals`, init)
    return [status, /data-vitals="\w+"/.exec(await (await fetch(server.url)).text())?.[0]]
  }
  expect(await pages(0)).toEqual([404, 'data-vitals="off"'])
  expect(await pages(await freePort())).toEqual([204, 'data-vitals="on"'])
})

it('counts mails by each state of which the runbook speaks, failed posts apart, and the age of the oldest New enquiry', async () => {
  const { port, db } = await anApp()
  const notices = ['Pending', 'Failed', 'Unknown', 'Bounced', 'Complained', 'Bounced', 'Sent', 'Withheld']
  for (const state of notices) await storeEnquiry(db, {}, { Notice: state })
  await storeEnquiry(db, { receivedAt: hoursAgo(100), status: 'Contacted' }, { Acknowledgement: 'Complained' })
  const reference = await storeEnquiry(db, { receivedAt: hoursAgo(30) })
  const { id: enquiryId } = await db.enquiry.findUniqueOrThrow({ where: { reference } })
  await db.mail.create({ data: { kind: 'Post', status: 'Failed', dueAt: null, enquiryId, lastError: 'HTTP 410' } })
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(text.match(/^quvera_(mails|posts)\{.*$/gm)?.sort()).toEqual([
    'quvera_mails{state="bounced"} 2',
    'quvera_mails{state="complained"} 2',
    'quvera_mails{state="failed"} 1',
    'quvera_mails{state="pending"} 1',
    'quvera_mails{state="unknown"} 1',
    'quvera_posts{state="failed"} 1',
    'quvera_posts{state="pending"} 0',
  ])
  const hours = Number(/^quvera_enquiry_oldest_new_seconds (\d+)$/m.exec(text)?.[1]) / 3600
  expect(hours).toBeCloseTo(30, 1)
})
