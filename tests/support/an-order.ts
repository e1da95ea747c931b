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

export interface Answer {
  status: number
  headers: Headers
  reference?: string
  message?: string
  text: string
}

/** Calls a procedure as any program could: plain HTTP, without our client. */
export async function call(
  url: string,
  procedure: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}/trpc/${procedure}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const parsed = JSON.parse(text)
  return {
    status: response.status,
    headers: response.headers,
    text,
    reference: parsed.result?.data?.reference,
    message: parsed.error?.message,
  }
}

/** Sends a form as a browser does without scripts. */
export function postForm(url: string, fields: object): Promise<Response> {
  const body = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))
  return fetch(`${url}/buy-now`, { method: 'POST', redirect: 'manual', body })
}

export function submit(url: string, order: unknown, headers?: Record<string, string>): Promise<Answer> {
  return call(url, 'order.submit', order, headers)
}
