// The router answers as tRPC's own plugin does, so that tRPC's own client works with it.
import { createTRPCClient, httpLink } from '@trpc/client'
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Context } from '../../server/http/context.ts'
import { type AppRouter, appRouter } from '../../server/http/router.ts'
import { messages } from '../../shared/order.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { enterDesk } from '../support/desk.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let app: TestApp
let plugin: FastifyInstance
let theirs = ''
beforeAll(async () => {
  app = await startTestApp({ mails: false })
  plugin = Fastify({ bodyLimit: 64 * 1024, forceCloseConnections: true })
  const subscribers = { subscribe: async () => ({ subscribed: true }) }
  const createContext = () => ({ orders: app.orders, subscribers }) as unknown as Context
  const trpcOptions = { router: appRouter, createContext, allowBatching: false }
  plugin.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions })
  theirs = await plugin.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await plugin.close()
  await app.close()
})
beforeEach(() => app.db.enquiry.deleteMany())

/** The texts of errors apart: ours are the visitor's, and tRPC's are not. */
async function answer(base: string, path: string, init: RequestInit) {
  const response = await fetch(`${base}/trpc/${path}`, init)
  const text = await response.text()
  const { result, error } = text === '' ? {} : JSON.parse(text)
  return {
    status: response.status,
    result,
    ...(error && { code: error.code, data: [error.data.code, error.data.httpStatus], message: typeof error.message }),
  }
}

const json = { 'content-type': 'application/json' }
const post = (body: unknown, headers: Record<string, string> = json): RequestInit => ({
  method: 'POST',
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const order = anOrder()

describe('answers what tRPC’s own plugin answers', () => {
  it.each<[string, string, RequestInit]>([
    ['a mutation', 'subscription.subscribe', post({ email: 'news@shop.example' })],
    ['a mutation whose input is refused', 'order.submit', post({ ...order, quantity: 0 })],
    ['a mutation without body', 'order.submit', { method: 'POST', headers: json }],
    ['a mutation whose body is no JSON', 'order.submit', post('{broken')],
    ['a content type it does not take', 'order.submit', post('x', { 'content-type': 'text/plain' })],
    ['an unknown path', 'no.such', {}],
    ['an unknown path by POST', 'no.such', post(1)],
    ['the name of a router', 'order', {}],
    ['a member of every object', 'constructor', {}],
    ['a mutation by GET', 'order.submit', {}],
    ['a mutation by DELETE', 'order.submit', { ...post(order), method: 'DELETE' }],
    ['a batch', 'order.submit,order.submit?batch=1', post({ 0: order, 1: order })],
  ])('%s', async (_name, path, init) => {
    const { result, ...error } = await answer(theirs, path, init)
    expect(await answer(app.url, path, init)).toMatchObject(result ? { result } : error)
  })

  it('to its own client', async () => {
    for (const url of [app.url, theirs]) {
      const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: `${url}/trpc` })] })
      expect(await client.subscription.subscribe.mutate({ email: 'news@shop.example' })).toEqual({ subscribed: true })
      const { reference } = await client.order.submit.mutate(order)
      expect(await client.order.submit.mutate(order)).toEqual({ reference })
    }
    const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: `${app.url}/trpc` })] })
    await expect(client.order.submit.mutate({ ...order, quantity: 3 })).rejects.toMatchObject({
      message: messages.conflict,
      data: { code: 'CONFLICT', httpStatus: 409 },
    })
  })

  it('to its own client at the desk, whose queries go by POST', async () => {
    const headers = { origin: app.url, cookie: await enterDesk(app) }
    const link = httpLink({ url: `${app.url}/trpc`, methodOverride: 'POST', headers })
    const client = createTRPCClient<AppRouter>({ links: [link] })
    const { reference = '' } = await submit(app.url, anOrder())
    const { enquiries } = await client.desk.list.query({ state: 'new' })
    expect(enquiries.map((row) => row.reference)).toContain(reference)
    expect(await client.desk.setStatus.mutate({ reference, status: 'Closed', was: 'New' })).toBeUndefined()
    await expect(client.desk.setStatus.mutate({ reference, status: 'Closed', was: 'New' })).rejects.toMatchObject({
      data: { code: 'CONFLICT', httpStatus: 409 },
    })
  })
})
