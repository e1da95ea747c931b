import { hash, timingSafeEqual } from 'node:crypto'
import type { EnquiryWithSecret } from './enquiry.ts'

/*
 * The tokens of the page "Your enquiry": id and key. The confirmation's key is the secret itself. That of the mail is made of it,
 * so who holds the mail, perhaps a stranger, cannot make the confirmation's.
 */

type Holder = Pick<EnquiryWithSecret, 'id' | 'secret'>
/** Where the token was found. */
export type PageLink = 'confirmation' | 'mail'

/** So many changes of the address does a confirmation's link outlast. */
const SECRETS_MAX = 10
const NOBODY = { id: '00000000-0000-0000-0000-000000000000', key: '0'.repeat(64) }

export function confirmationToken({ id, secret }: Holder): string {
  return `${id}.${secret}`
}

export function mailToken({ id, secret }: Holder): string {
  return `${id}.${mailKey(secret)}`
}

/** Of a text that is no token, one that nobody has: it takes as long. */
export function readToken(token: string): { id: string; key: string } {
  const [, id, key] = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.([\da-f]{64})$/.exec(token) ?? []
  return id && key ? { id, key } : NOBODY
}

/**
 * Which link the key belongs to. Each change of the address makes the next secret out of the former one (`Quvera_correct`):
 *   at first        secret A             confirmation A   mail hash('mail' A)
 *   changed once    B = hash('next' A)   confirmation B   mail hash('mail' B)
 * So the older confirmation's A leads to B in one step, and the older mail's key never does. All steps are always done, also
 * without a row: the time tells next to nothing. A key is never of both links.
 */
export function linkOf(row: Holder | undefined, key: string): PageLink | undefined {
  const secret = row?.secret ?? NOBODY.key
  let found: PageLink | undefined
  if (isEqual(key, mailKey(secret))) found = 'mail'
  let own = key
  for (let each = 0; each < SECRETS_MAX; each++) {
    if (isEqual(own, secret)) found = 'confirmation'
    own = hash('sha256', `next${own}`, 'hex')
  }
  return row && found
}

function mailKey(secret: string): string {
  return hash('sha256', `mail${secret}`, 'hex')
}

export function isEqual(one: string, another: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(another))
}
