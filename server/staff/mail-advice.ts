import type { MailKind, MailStatus } from '../database/generated/enums.ts'
import { states } from '../mail/states.ts'

/** What staff have to do about a mail, if anything. */
export function adviceOn(
  { id, kind, status }: { id: bigint; kind: MailKind; status: MailStatus },
  enquiry: { reference: string; mobile: string },
): string | undefined {
  if (states[status].undelivered) {
    if (kind === 'Staff')
      return `The notice of this enquiry did not reach staff. Answer the visitor, then: staff status ${enquiry.reference} Contacted`
    if (status === 'Complained') return 'The visitor marked the acknowledgement as spam: ring, and write no more.'
    return `The address is wrong, or takes no mail: ring the visitor, ${enquiry.mobile}.`
  }
  if (status === 'Unknown')
    return `Whether mail ${id} was sent is not known. Look into Resend's log, then: staff mails retry ${id} --include-unknown`
  return undefined
}
