// The router answers as tRPC's own plugin does, so that tRPC's own client works with it.
import { createTRPCClient, httpLink } from '@trpc/client'
import { initTRPC } from '@trpc/server'
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify from 'fastify'
import { afterAll, expect, it } from 'vitest'
import type { DeskRouter } from '../../../server/desk/procedures.ts'
import { createNewsletterRouter } from '../../../server/newsletter/procedure.ts'
import { createOrderRouter, type OrderRouter } from '../../../server/orders/procedure.ts'
import { messages } from '../../../shared/order.ts'
import { anOrder, submit } from '../../support/an-order.ts'
import { enterDesk } from '../../support/desk.ts'
import { theApp } from '../../support/fixtures.ts'

const app = await theApp({ mails: false })
const plugin = Fastify({ forceCloseConnections: true })
const subscribers = { subscribe: async () => ({ subscribed: true as const }) }
const { mergeRouters } = initTRPC.create()
const router = mergeRouters(createOrderRouter(app.orders), createNewsletterRouter(subscribers))
plugin.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions: { router } })
const theirs = await plugin.listen({ host: '127.0.0.1', port: 0 })
afterAll(() => plugin.close())

const json = { 'content-type': 'application/json' }
const post = (body: unknown, headers = json): RequestInit => ({ method: 'POST', headers, body: JSON.stringify(body) })
const order = anOrder()

/** What the answer tells a client. The texts of errors apart: ours are the visitor's, and tRPC's are not. */
async function answer(base: string, path: string, init: RequestInit) {
  const response = await fetch(`${base}/trpc/${path}`, init)
  const { result, error } = await response.json()
  return { status: response.status, ...(result ? { result } : { code: error.code, data: error.data.code }) }
}

it.each<[string, string, RequestInit]>([
  ['a mutation', 'subscription.subscribe', post({ email: 'news@shop.example' })],
  ['a mutation whose input is refused', 'order.submit', post({ ...order, quantity: 0 })],
  ['a mutation without body', 'order.submit', { method: 'POST', headers: json }],
  ['a mutation whose body is no JSON', 'order.submit', { ...post(''), body: '{broken' }],
  ['a content type it does not take', 'order.submit', post('x', { 'content-type': 'text/plain' })],
  ['an unknown path', 'no.such', post(1)],
  ['the name of a router', 'order', {}],
  ['a member of every object', 'constructor', {}],
  ['a mutation by GET', 'order.submit', {}],
])('%s is answered as by tRPC’s own plugin', async (_name, path, init) => {
  expect(await answer(app.url, path, init)).toMatchObject(await answer(theirs, path, init))
})

it('tRPC’s own client stores an order, and is told of a conflict', async () => {
  const client = createTRPCClient<OrderRouter>({ links: [httpLink({ url: `${app.url}/trpc` })] })
  const { reference, page } = await client.order.submit.mutate(order)
  expect(await client.order.submit.mutate(order)).toEqual({ reference, page })
  await expect(client.order.submit.mutate({ ...order, quantity: 3 })).rejects.toMatchObject({
    message: messages.conflict,
    data: { code: 'CONFLICT', httpStatus: 409 },
  })
})

it('it works at the desk, whose queries go by POST', async () => {
  const headers = { origin: app.url, cookie: await enterDesk(app) }
  const link = httpLink({ url: `${app.url}/trpc`, methodOverride: 'POST', headers })
  const client = createTRPCClient<DeskRouter>({ links: [link] })
  const { reference = '' } = await submit(app.url, anOrder())
  expect(await client.desk.list.query({ state: 'new' })).toMatchObject({ enquiries: [{ reference }] })
  const close = () =>
    client.desk.setStatus.mutate({ key: crypto.randomUUID(), references: [reference], status: 'Closed', was: 'New' })
  expect(await close()).toMatchObject([{ reference, status: 'Closed' }])
  await expect(close()).rejects.toMatchObject({ data: { code: 'CONFLICT', httpStatus: 409 } })
})
