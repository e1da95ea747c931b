import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../database/database.ts'
import type { Desk } from '../desk/desk.ts'
import type { SignIn } from '../desk/sign-in.ts'
import type { Env } from '../env.ts'
import type { Subscribers } from '../newsletter/subscribers.ts'
import type { Availability } from '../orders/availability.ts'
import type { Orders } from '../orders/orders.ts'
import type { StaticPages } from './static-pages.ts'

/** What requests are served with. */
export interface Context {
  env: Env
  db: Db
  log: FastifyBaseLogger
  pages: StaticPages
  availability: Availability
  orders: Orders
  /** What somebody has to mend, in sentences. */
  readProblems(options?: { withAddresses?: boolean }): Promise<string[]>
  subscribers: Subscribers
  desk: Desk
  signIn: SignIn
  /** Whether the process is ending: a proxy should send no new visitors. */
  isEnding(): boolean
}
