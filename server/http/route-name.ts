import type { FastifyRequest } from 'fastify'

export const ORDERS = 'order.submit'
export const SUBSCRIPTIONS = 'subscription.subscribe'
const PROCEDURES = [ORDERS, SUBSCRIPTIONS]
/** What is asked for many times for each visitor, or by programs every few seconds. */
const FREQUENT = ['/assets/*', '/healthz', '/readyz']

/** One of a fixed number of names: people and programs put all kinds of things into paths. */
export function routeName(request: FastifyRequest): string {
  const { path } = Object(request.params) as { path?: string }
  return PROCEDURES.find((procedure) => procedure === path) ?? request.routeOptions.url ?? 'unknown'
}

/** Whether a line in the log for each request of it would only hide the others. */
export function isFrequent(request: FastifyRequest): boolean {
  const route = request.routeOptions.url ?? ''
  return FREQUENT.includes(route) || /\.\w+$/.test(route)
}
