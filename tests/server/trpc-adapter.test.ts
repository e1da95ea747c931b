import { createTRPCClient, httpLink } from '@trpc/client'
import { initTRPC, TRPCError } from '@trpc/server'
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { serveTrpc } from '../../server/http/trpc-adapter.ts'
import { eventually } from '../support/eventually.ts'

/** Wraps every value, so that a forgotten transformation shows. */
const transformer = {
  serialize: (value: unknown) => ({ wrapped: value === undefined ? null : value }),
  deserialize: (value: { wrapped: unknown }) => value.wrapped,
}

const t = initTRPC.context<{ agent: string }>().create({ isDev: false, transformer })
let contexts = 0
const aborted: string[] = []

const router = t.router({
  hello: t.procedure.input(z.object({ name: z.string() })).query(({ input, ctx }) => `${input.name} from ${ctx.agent}`),
  now: t.procedure.query(() => 7),
  nothing: t.procedure.query(() => undefined),
  add: t.procedure.input(z.number()).mutation(({ input }) => input + 1),
  nested: t.router({ deep: t.router({ echo: t.procedure.input(z.any()).mutation(({ input }) => input) }) }),
  fails: t.procedure.mutation(() => {
    throw new TRPCError({ code: 'CONFLICT', message: 'taken' })
  }),
  breaks: t.procedure.query(() => {
    throw new Error('a fault')
  }),
  slow: t.procedure.input(z.string()).query(
    ({ signal, input }) =>
      new Promise<string>((done) => {
        signal?.addEventListener('abort', () => {
          aborted.push(input)
          done('aborted')
        })
      }),
  ),
})

const apps: FastifyInstance[] = []
let theirs = ''
let ours = ''
const createContext = ({ req }: { req: { headers: Record<string, unknown> } }) => {
  contexts++
  return { agent: String(req.headers['x-agent'] ?? 'nobody') }
}

beforeAll(async () => {
  const plugin = Fastify({ bodyLimit: 1000, forceCloseConnections: true })
  plugin.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions: { router, createContext, allowBatching: false } })
  const adapter = Fastify({ bodyLimit: 1000, forceCloseConnections: true })
  adapter.register(
    async (scope) => serveTrpc(scope, { router, createContext: (request) => createContext({ req: request }) }),
    { prefix: '/trpc' },
  )
  apps.push(plugin, adapter)
  theirs = await plugin.listen({ host: '127.0.0.1', port: 0 })
  ours = await adapter.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => Promise.all(apps.map((app) => app.close())))

async function answer(base: string, path: string, init: RequestInit) {
  const response = await fetch(`${base}/trpc/${path}`, init)
  const text = await response.text()
  return {
    status: response.status,
    allow: response.headers.get('allow'),
    type: response.headers.get('content-type')?.split(';')[0] ?? null,
    body: text === '' ? '' : JSON.parse(text),
  }
}

const json = { 'content-type': 'application/json' }
const post = (body: unknown, headers: Record<string, string> = json): RequestInit => ({
  method: 'POST',
  headers,
  body: typeof body === 'string' ? body : JSON.stringify({ wrapped: body }),
})
const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify({ wrapped: value }))}`

describe('answers what tRPC’s own plugin answers', () => {
  it.each<[string, string, RequestInit]>([
    ['a query', `hello?${input({ name: 'Asha' })}`, { headers: { 'x-agent': 'a test' } }],
    ['a query without input', 'now', {}],
    ['a query that returns nothing', 'nothing', {}],
    ['a query whose input is refused', `hello?${input({ name: 7 })}`, {}],
    ['a query whose input is missing', 'hello', {}],
    ['a query whose input is no JSON', 'hello?input=%7Bbroken', {}],
    ['a query that breaks', 'breaks', {}],
    ['a mutation', 'add', post(1)],
    ['a mutation whose input is refused', 'add', post(true)],
    ['a mutation without body', 'add', { method: 'POST', headers: json }],
    ['a mutation whose body is no JSON', 'add', post('{broken')],
    ['a nested mutation', 'nested.deep.echo', post({ any: ['thing', null] })],
    ['a mutation that fails', 'fails', post(undefined)],
    ['an unknown path', 'no.such', {}],
    ['an unknown path by POST', 'no.such', post(1)],
    ['the name of a router', 'nested', {}],
    ['a member of every object', 'constructor', {}],
    ['HEAD', 'now', { method: 'HEAD' }],
    ['a mutation by GET', 'add', {}],
    ['a query by POST', 'now', post(undefined)],
    ['a query by PUT', 'now', { ...post(undefined), method: 'PUT' }],
    ['a mutation by DELETE', 'add', { ...post(1), method: 'DELETE' }],
  ])('%s', async (_name, path, init) => {
    expect(await answer(ours, path, init)).toEqual(await answer(theirs, path, init))
  })

  it('to its own client', async () => {
    const clients = [ours, theirs].map((base) =>
      createTRPCClient<typeof router>({
        links: [httpLink({ url: `${base}/trpc`, transformer, headers: { 'x-agent': 'a client' } })],
      }),
    )
    for (const client of clients) {
      expect(await client.hello.query({ name: 'Asha' })).toBe('Asha from a client')
      expect(await client.nested.deep.echo.mutate({ a: 1 })).toEqual({ a: 1 })
      await expect(client.fails.mutate()).rejects.toMatchObject({ message: 'taken', data: { httpStatus: 409 } })
    }
  })

  it.each([
    ['a content type it does not take', 'add', post('x', { 'content-type': 'text/plain' }), 415],
    ['a body over the limit', 'add', post('x'.repeat(2000)), 413],
    ['a batch', 'add,add?batch=1', post({ 0: 1, 1: 2 }), 400],
  ])('or, with %s, the same status in tRPC’s own shape', async (_name, path, init, status) => {
    const answered = await answer(ours, path, init)
    expect(answered.status).toBe(status)
    expect(answered.body.error.wrapped).toMatchObject({ code: expect.any(Number), data: { httpStatus: status } })
  })
})

it('makes a context for each call', async () => {
  const before = contexts
  await answer(ours, 'now', {})
  await answer(ours, 'now', {})
  expect(contexts - before).toBe(2)
})

it('tells a procedure that its caller has gone', async () => {
  for (const [name, base] of [
    ['plugin', theirs],
    ['adapter', ours],
  ]) {
    const caller = new AbortController()
    const call = fetch(`${base}/trpc/slow?${input(name)}`, { signal: caller.signal }).catch(() => 'gone')
    setTimeout(() => caller.abort(), 100)
    expect(await call).toBe('gone')
  }
  await eventually(() => expect(aborted).toEqual(expect.arrayContaining(['plugin', 'adapter'])))
})
