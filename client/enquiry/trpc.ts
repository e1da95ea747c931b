import { createTRPCClient, httpLink } from '@trpc/client'
import type { AppRouter } from '../../server/http/router.ts'

/** One order a request: the server refuses batches. */
export const trpc = createTRPCClient<AppRouter>({ links: [httpLink({ url: '/trpc' })] })
