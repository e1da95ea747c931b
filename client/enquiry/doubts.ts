import { mistypedEndings, similarDomains, wellKnownDomains } from '../content/mail-domains.ts'

/** What may be mistyped, though no rule is broken. The visitor is asked once, and may send it as it is. */
export interface Doubts {
  /** No Indian mobile number begins so. */
  mobile?: true
  /** The address that was probably meant. */
  email?: string
}

export function doubtsOf({ mobile = '', email = '' }: { [field in 'mobile' | 'email']?: string | undefined }): Doubts {
  const suggestion = suggestEmail(email)
  return { ...(/^[0-5]/.test(mobile) && { mobile: true }), ...(suggestion && { email: suggestion }) }
}

function suggestEmail(email: string): string | undefined {
  const at = email.lastIndexOf('@') + 1
  const domain = email.slice(at).toLowerCase()
  const ended = domain.replace(mistypedEndings, '.com')
  const isKnown = wellKnownDomains.includes(ended) || similarDomains.includes(ended)
  const meant = (!isKnown && wellKnownDomains.find((known) => isOneSlip(ended, known))) || ended
  return meant === domain ? undefined : email.slice(0, at) + meant
}

/** One letter is missing, added or wrong, or two neighbours have changed places. */
function isOneSlip(typed: string, meant: string): boolean {
  let start = 0
  while (start < typed.length && typed[start] === meant[start]) start++
  let end = 0
  const shorter = Math.min(typed.length, meant.length)
  while (end < shorter - start && typed.at(-1 - end) === meant.at(-1 - end)) end++
  const [wrong, right] = [typed, meant].map((text) => text.slice(start, text.length - end)) as [string, string]
  return (wrong.length <= 1 && right.length <= 1) || (wrong.length === 2 && wrong === [...right].reverse().join(''))
}
