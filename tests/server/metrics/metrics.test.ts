// Prometheus reads orders, durations, mails and web vitals at a separate port, and implausible vitals are refused.
import { beforeEach, describe, expect, it } from 'vitest'
import { anOrder, call, postForm, submit } from '../../support/an-order.ts'
import { anApp } from '../../support/fixtures.ts'
import { freePort } from '../../support/server-process.ts'
import { hoursAgo, storeEnquiry } from '../../support/stored-enquiry.ts'

let port: number
let app: Awaited<ReturnType<typeof anApp>>
beforeEach(async () => {
  port = await freePort()
  app = await anApp({ mails: false, metricsPort: port, rateLimitMax: 10 })
})

const readMetrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
const json = { 'content-type': 'application/json' }

it('tells Prometheus of orders, durations by route and mails that wait, at a port of its own', async () => {
  const { submissionKey: _, ...fields } = anOrder({ quantity: 12 })
  await submit(app.url, anOrder())
  await submit(app.url, anOrder({ mobile: '12' }))
  await call(app.url, 'no.such', {})
  await postForm(app.url, fields)
  await call(app.url, 'subscription.subscribe', { email: 'a@shop.example' })
  await fetch(app.url, { method: 'POST', headers: json, body: '{}' }) // by a scanner
  await postForm(app.url, { name: 'x'.repeat(20_000) })
  await fetch(`${app.url}/somebody@example.com`)

  const text = await readMetrics()
  for (const line of [
    'quvera_orders_total{status="200"} 2',
    'quvera_orders_total{status="400"} 1',
    'quvera_orders_total{status="413"} 1',
    'quvera_orders_total{status="503"} 0',
    'quvera_request_seconds_count{route="order.submit",status="200"} 1',
    'quvera_request_seconds_count{route="/",status="415"} 1',
    'quvera_mails{state="pending"} 5',
    'quvera_database_up 1',
  ])
    expect(text.split('\n')).toContain(line)
  for (const name of ['process_cpu_seconds_total', 'quvera_mail_oldest_pending_seconds'])
    expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'))
  expect(text).not.toMatch(/no\.such|somebody/)
  expect((await fetch(`${app.url}/metrics`)).status).toBe(404)
})

it('counts mails by each state of which the runbook speaks, failed posts apart, and the age of the oldest New enquiry', async () => {
  const { db } = app
  const notices = ['Pending', 'Failed', 'Unknown', 'Bounced', 'Complained', 'Bounced', 'Sent', 'Withheld']
  for (const state of notices) await storeEnquiry(db, {}, { Notice: state })
  await storeEnquiry(db, { receivedAt: hoursAgo(100), status: 'Contacted' }, { Acknowledgement: 'Complained' })
  const reference = await storeEnquiry(db, { receivedAt: hoursAgo(30) })
  await db.mail.create({ data: { kind: 'Post', status: 'Failed', dueAt: null, enquiry: { connect: { reference } } } })
  const text = await readMetrics()
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

describe('web vitals', () => {
  const measured = { page: '/buy-now', LCP: 900.4, INP: 40, CLS: 0.003 }
  async function send(body: object, headers = {}) {
    const init = { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) }
    return (await fetch(`${app.url}/vitals`, init)).status
  }

  it('are counted by page, unless they are implausible', async () => {
    expect([await send(measured), await send({ page: '/', TTFB: 0 })]).toEqual([204, 204])
    for (const wrong of [{ LCP: -1 }, { INP: 1e9 }, { CLS: 1e3 }, { LCP: '12' }, { more: 1 }, { page: '/made-up' }])
      expect(await send({ ...measured, ...wrong })).toBe(400)
    expect(await send({ ...measured, more: 'x'.repeat(1000) })).toBe(413)
    expect(await send(measured, { 'content-type': 'text/plain' })).toBe(415)
    expect(await send(measured, { origin: 'https://elsewhere.example' })).toBe(403)
    expect((await readMetrics()).match(/^quvera_vitals_\w+_sum.*$/gm)?.sort()).toEqual([
      'quvera_vitals_seconds_sum{page="/",metric="TTFB"} 0',
      'quvera_vitals_seconds_sum{page="/buy-now",metric="INP"} 0.04',
      'quvera_vitals_seconds_sum{page="/buy-now",metric="LCP"} 0.9004',
      'quvera_vitals_shift_sum{page="/buy-now",metric="CLS"} 0.003',
    ])
  })

  it('have a limit that is not that of orders', async () => {
    const answers = await Promise.all(Array.from({ length: 70 }, () => send(measured)))
    expect(answers).toContain(429)
    expect((await submit(app.url, anOrder())).status).toBe(200)
  })
})
