import type { Db } from '../../server/database/database.ts'
import { createLink } from '../../server/desk/sessions.ts'
import { STAFF } from './fake-resend.ts'

/** A browser posts a form: without scripts, with the headers that browsers send. */
export function postStaff(
  url: string,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/staff/${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url, 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(fields),
  })
}

export function getStaff(url: string, path = '', headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/staff${path}`, { redirect: 'manual', headers })
}

/** The cookie that an answer sets: `name=value`. */
export function cookieOf(answer: Response): string {
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** Enters as staff do, by a link. @returns the cookie */
export async function enterDesk(
  { url, db }: { url: string; db: Db },
  { email = STAFF, leadsTo = '/staff', byTerminal = false } = {},
): Promise<string> {
  const token = await createLink(db, { email, leadsTo, byTerminal })
  return cookieOf(await postStaff(url, 'enter', { token }))
}

/** Calls a procedure of the desk as its page does. */
export async function callDesk(
  url: string,
  cookie: string,
  name: string,
  input: unknown,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${url}/trpc/desk.${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, 'sec-fetch-site': 'same-origin', cookie, ...headers },
    body: JSON.stringify(input),
  })
  const { result, error } = await answer.json()
  return {
    status: answer.status,
    data: result?.data,
    message: error?.message as string | undefined,
    headers: answer.headers,
  }
}
