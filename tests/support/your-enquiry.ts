import type { FormOutcome, YourEnquiry } from '../../shared/form-outcome.ts'
import { anOrder } from './an-order.ts'

/** Sends an order as the page does. @returns its reference, and the link that the confirmation shows */
export async function sendOrder(url: string, changes: Record<string, unknown> = {}) {
  const order = anOrder(changes)
  const again = () => submitFor(url, order)
  const { reference, page, status } = await again()
  return { order, again, status, reference: reference ?? '', link: page ?? '', token: page?.split('token=')[1] ?? '' }
}

export async function submitFor(url: string, order: object) {
  const answer = await fetch(`${url}/trpc/order.submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  })
  const { result } = (await answer.json()) as { result?: { data: { reference?: string; page?: string } } }
  return { status: answer.status, ...result?.data }
}

/** Opens the page of a token; a server without built pages answers with what the page shows. */
export async function look(url: string, token: string) {
  const answer = await fetch(`${url}/your-enquiry?token=${token}`)
  const { yourEnquiry } = (await answer.json()) as FormOutcome
  return { status: answer.status, headers: answer.headers, shown: yourEnquiry as YourEnquiry }
}

/** Presses a button of the page. */
export async function press(
  url: string,
  token: string,
  act: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${url}/your-enquiry`, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body: new URLSearchParams({ token, act, ...fields }),
  })
  const text = await answer.text()
  const shown = text.startsWith('{') ? (JSON.parse(text) as FormOutcome).yourEnquiry : undefined
  return { status: answer.status, location: answer.headers.get('location') ?? '', shown: shown as YourEnquiry }
}
