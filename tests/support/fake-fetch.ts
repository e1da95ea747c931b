import type { Order } from '../../shared/order.ts'

type Answer = Response | Error

/** What the page has sent, and what it is answered. */
export const network = {
  sent: [] as Order[],
  /** The answers to come, in order; after them every order is received. */
  answers: [] as (Answer | Promise<Answer>)[],
  reset() {
    this.sent = []
    this.answers = []
  },
}

export const received = (reference: string, receivedAt?: string, headers: Record<string, string> = {}) =>
  Response.json({ result: { data: { reference, receivedAt } } }, { headers })

export const refused = (httpStatus: number, message: string, headers: Record<string, string> = {}) =>
  Response.json(
    { error: { code: -32000, message, data: { code: 'REFUSED', httpStatus } } },
    { status: httpStatus, headers },
  )

const realFetch = window.fetch
window.fetch = async (input, init) => {
  if (!String(input).includes('/trpc/')) return realFetch(input, init)
  network.sent.push(JSON.parse(String(init?.body)))
  const stopped = new Promise<never>((_, fail) => {
    init?.signal?.addEventListener('abort', () => fail(init.signal?.reason))
  })
  const answer = await Promise.race([network.answers.shift() ?? received(`QV-00000${network.sent.length}`), stopped])
  if (answer instanceof Error) throw answer
  return answer
}
