import { suggestEmail } from '../../shared/doubts.ts'
import { MOBILE_DIGITS } from '../../shared/order.ts'
import { doubtTexts } from '../content/enquiry-form.ts'

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
