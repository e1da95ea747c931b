import type { Order } from '../../shared/order.ts'
import { exampleOrder } from '../../shared/order.ts'

/** A valid order; `changes` may be anything, also what no client of ours would send. */
export function anOrder(changes: Record<string, unknown> = {}): Order {
  return {
    submissionKey: crypto.randomUUID(),
    ...exampleOrder,
    ...changes,
  } as Order
}

/** Calls a procedure as any program could: plain HTTP, without our client. */
export async function call(url: string, procedure: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/trpc/${procedure}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await answer.text()
  const parsed = JSON.parse(text)
  const reference: string | undefined = parsed.result?.data?.reference
  const message: string | undefined = parsed.error?.message
  return { status: answer.status, headers: answer.headers, text, reference, message }
}

/** Sends a form as a browser does without scripts. */
export function postForm(url: string, fields: object): Promise<Response> {
  const body = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))
  return fetch(`${url}/buy-now`, { method: 'POST', redirect: 'manual', body })
}

export function submit(url: string, order: unknown, headers?: Record<string, string>) {
  return call(url, 'order.submit', order, headers)
}
