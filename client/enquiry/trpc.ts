import { createTRPCClient, httpLink } from '@trpc/client'
import type { AppRouter } from '../../server/http/router.ts'

/** A refusal by something on the way, such as a proxy, that does not speak as our server does. */
export class ForeignRefusal extends Error {
  readonly status: number
  constructor(status: number) {
    super(`HTTP ${status}`)
    this.status = status
  }
}

/** One order a request: the server refuses batches. */
export const trpc = createTRPCClient<AppRouter>({
  links: [
    httpLink({
      url: '/trpc',
      async fetch(url, options) {
        const answer = await fetch(url, options as RequestInit)
        const { status, headers } = answer
        const isOurs = headers.get('content-type')?.startsWith('application/json')
        if (status >= 400 && status < 500 && !isOurs) throw new ForeignRefusal(status)
        return answer
      },
    }),
  ],
})
