// SIGTERM under load ends the server within ten seconds and loses no answered order.
// Requests that trickle in are cut within 15 seconds and do not hold up orders.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { submit } from '../support/an-order.ts'
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
  let open = 0
  const start = performance.now()
  const sockets = Array.from({ length: 300 }, (_, index) => {
    const socket = connect(port, '127.0.0.1', () => {
      open++
      // Half of them never finish their headers, the others never their body.
      const head = 'POST /trpc/order.submit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
      socket.write(index % 2 ? head : `${head}Content-Length: 1000\r\n\r\n{`)
    })
    const drip = setInterval(() => socket.write(index % 2 ? 'x' : ' '), 500)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(drip)
      open--
    })
    return socket
  })
  await eventually(() => expect(open).toBe(300))
  let slowest = 0
  while (open > 0 && performance.now() - start < 20_000) {
    const before = performance.now()
    expect((await submit(server.url, aUniqueOrder())).status).toBe(200)
    slowest = Math.max(slowest, performance.now() - before)
    await sleep(250)
  }
  const seconds = (performance.now() - start) / 1000
  report('300 half-open requests', { cutAfterSeconds: seconds, slowestOrderMs: Math.round(slowest) })
  for (const socket of sockets) socket.destroy()
  expect(seconds).toBeLessThan(15)
  expect(slowest).toBeLessThan(1000)
})
