import { MOBILE_DIGITS } from '../../shared/order.ts'
import { doubtTexts } from '../content/enquiry-form.ts'
import { mistypedEndings, similarDomains, wellKnownDomains } from '../content/mail-domains.ts'

/** What may be mistyped. It is said at the field and holds nothing back. */
export interface Doubts {
  /** What is said about the number. */
  mobile?: string
  /** The address that was probably meant. */
  email?: string
}

export function doubtsOf({ mobile = '', email = '' }: { [field in 'mobile' | 'email']?: string | undefined }): Doubts {
  const suggestion = suggestEmail(email)
  const mobileDoubt = doubtOfMobile(mobile)
  return { ...(mobileDoubt && { mobile: mobileDoubt }), ...(suggestion && { email: suggestion }) }
}

function doubtOfMobile(mobile: string): string | false {
  if (!/^\d+$/.test(mobile)) return false
  if (mobile.length !== MOBILE_DIGITS) return doubtTexts.digits(mobile.length)
  return /^[0-5]/.test(mobile) && doubtTexts.mobile
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
