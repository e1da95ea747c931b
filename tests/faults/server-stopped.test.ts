// SIGTERM under load ends the server within ten seconds and loses no answered order.
// Requests that trickle in are cut within 15 seconds and do not hold up orders.
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { aUniqueOrder, sendOrders } from '../support/load.ts'

const { setUp } = createFaultFixtures()

it('SIGTERM under load ends with 0 within ten seconds, with nothing stored that was not answered', async () => {
  const fixture = await setUp()
  const server = await fixture.start()
  let seconds = Number.NaN
  async function end() {
    const start = performance.now()
    await server.stop()
    seconds = (performance.now() - start) / 1000
  }
  const load = await sendOrders({ url: () => server.url, orders: 4000, retry: false, at: { 500: end } })
  await fixture.start()
  const result = await fixture.inspect((db) => audit(db, load, fixture.resend))
  report('SIGTERM under load', { ...result, seconds, storedUnanswered: result.stored - result.acknowledged })
  expect((await server.exited).code).toBe(0)
  expect(seconds).toBeLessThan(10)
  expect(result.stored - result.acknowledged).toBeLessThanOrEqual(2)
  expectNothingLost(result)
})

it('300 requests that trickle in do not hold up orders, and are all cut within 15 seconds', async () => {
  const fixture = await setUp()
  const server = await fixture.start()
  const port = Number(new URL(server.url).port)
  const head = 'POST /trpc/order.submit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  let cut = 0
  for (let index = 0; index < 300; index++) {
    // Half of them never finish their headers, the others never their body.
    const [begin, drop] = index % 2 ? [head, 'x'] : [`${head}Content-Length: 1000\r\n\r\n{`, ' ']
    const socket = connect(port, '127.0.0.1', () => socket.write(begin))
    const drip = setInterval(() => socket.write(drop), 500)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(drip)
      cut++
    })
    atEnd(() => socket.destroy())
  }
  const start = performance.now()
  let slowestMs = 0
  await eventually(async () => {
    const before = performance.now()
    expect((await submit(server.url, aUniqueOrder())).status).toBe(200)
    slowestMs = Math.max(slowestMs, performance.now() - before)
    expect(cut).toBe(300)
  }, 20_000)
  const seconds = (performance.now() - start) / 1000
  report('300 half-open requests', { cutAfterSeconds: seconds, slowestOrderMs: Math.round(slowestMs) })
  expect(seconds).toBeLessThan(15)
  expect(slowestMs).toBeLessThan(1000)
})
