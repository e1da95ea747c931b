import { afterEach, expect, it } from 'vitest'
import { anOrder, call, submit } from '../support/an-order.ts'
import { freePort, startServer } from '../support/server-process.ts'
import { createTestDatabase } from '../support/test-database.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action()
})

async function aServer(env: Record<string, string>) {
  const database = await createTestDatabase()
  const server = await startServer({ ...database.env, ...env })
  cleanUp.push(database.drop, () => server.stop('SIGKILL'))
  return server
}

it('tells Prometheus of orders, durations by route and mails that wait, at a port of its own', async () => {
  const port = String(await freePort())
  const server = await aServer({ METRICS_PORT: port })
  await submit(server.url, anOrder())
  await submit(server.url, anOrder({ mobile: '12' }))
  await call(server.url, 'no.such', {})
  await fetch(`${server.url}/somebody@example.com`)

  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  const text = await answer.text()
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  for (const line of [
    'quvera_orders_total{status="200"} 1',
    'quvera_orders_total{status="400"} 1',
    'quvera_request_seconds_count{route="order.submit",status="200"} 1',
    'quvera_mails{state="pending"} 2',
    'quvera_mails{state="failed"} 0',
    'quvera_database_up 1',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
  expect(text).toMatch(/^process_cpu_seconds_total \d/m)
  expect(text).toMatch(/^quvera_mail_oldest_pending_seconds \d/m)
  expect(text).not.toMatch(/no\.such|somebody/)
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
})
