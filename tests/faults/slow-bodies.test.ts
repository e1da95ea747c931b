// Bodies that never come whole stop nobody: 2,000 of them at each kind of route, one kind after the other, while orders,
// events and the desk are answered and memory stays bounded.
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { createLink } from '../../server/desk/sessions.ts'
import { brand } from '../../shared/brand.ts'
import { submit } from '../support/an-order.ts'
import { callDesk, cookieOf, postStaff } from '../support/desk.ts'
import { STAFF } from '../support/fake-resend.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { aUniqueOrder, sendOrders } from '../support/load.ts'
import { deliveryEvent, sendEvent, WEBHOOK_SECRET } from '../support/resend-events.ts'

const { setUp } = createFaultFixtures()
const CONNECTIONS = 2000
const GROWTH_MAX_MB = 120
const FORM = 'application/x-www-form-urlencoded'

it('2,000 unfinished bodies at each kind of route hold up no order, event or colleague', async () => {
  const fixture = await setUp()
  const settings = {
    RATE_LIMIT_MAX: '0',
    RESEND_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STAFF_EMAILS: STAFF,
    METRICS_PORT: '0',
  }
  const server = await fixture.start(settings)
  const port = Number(new URL(server.url).port)
  const token = await fixture.inspect((db) => createLink(db, { email: STAFF, leadsTo: '/staff' }))
  const cookie = cookieOf(await postStaff(server.url, 'enter', { token }))
  const memory = async () => {
    const status = await readFile(`/proc/${server.process.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  }
  // So that what any flood of orders warms up is in memory already.
  await sendOrders({ url: () => server.url, orders: 3000, retry: false })
  const before = await memory()

  const own = `Host: 127.0.0.1:${port}\r\nOrigin: ${server.url}\r\n`
  const signed = 'svix-id: 1\r\nsvix-timestamp: 1\r\nsvix-signature: v1,x\r\n'
  const kinds = {
    ...(brand.newsletter ? { 'one-click link': ['/subscription?token=x', FORM, own, 1024] as const } : {}),
    form: ['/buy-now', FORM, own, 16_384],
    'order by script': ['/trpc/order.submit', 'application/json', own, 16_384],
    event: ['/webhooks/resend', 'application/json', `${own}${signed}`, 16_384],
    'sign-in': ['/staff/sign-in', FORM, own, 1024],
    'desk without a session': ['/trpc/desk.list', 'application/json', own, 16_384],
    'desk with one': ['/trpc/desk.list', 'application/json', `${own}Cookie: ${cookie}\r\n`, 16_384],
  } as const
  const seen: Record<string, object> = {}
  for (const [kind, [path, type, headers, length]] of Object.entries(kinds)) {
    const head = `POST ${path} HTTP/1.1\r\n${headers}Content-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`
    const sockets = Array.from({ length: CONNECTIONS }, () =>
      connect(port, '127.0.0.1', function begun(this: ReturnType<typeof connect>) {
        this.write(head + 'x'.repeat(length - 1))
      }).on('error', () => {}),
    )
    const statuses = new Set<number>()
    let most = 0
    for (let round = 0; round < 8; round++) {
      statuses.add((await submit(server.url, aUniqueOrder())).status)
      statuses.add((await sendEvent(server.url, deliveryEvent('delivered', crypto.randomUUID()))).status)
      statuses.add((await callDesk(server.url, cookie, 'list', { state: 'new' })).status)
      most = Math.max(most, await memory())
    }
    for (const socket of sockets) socket.destroy()
    seen[kind] = { statuses: [...statuses], grewMB: Math.round(most - before) }
    expect.soft([kind, ...statuses]).toEqual([kind, 200])
    expect.soft(most - before).toBeLessThan(GROWTH_MAX_MB)
  }
  report('2,000 unfinished bodies', seen)
})
