import { createHash } from 'node:crypto'
import { brand } from '../../shared/brand.ts'
import { acknowledgement } from './acknowledgement.ts'
import type { ClaimedMail } from './claims.ts'
import { html } from './html.ts'
import { htmlPage, subjectLine } from './mail-layout.ts'
import type { Message } from './mailer.ts'
import { staffBundle, staffNotice } from './staff-notice.ts'

/** The mail as stored rows give it and nothing else, so that a repeat is the same to the letter. */
export function writeMessage({ kind, enquiries, text }: ClaimedMail, staff: string[]): Message {
  const [enquiry, ...others] = enquiries
  if (kind === 'Digest' || !enquiry) return digestMessage(text ?? '', staff)
  if (kind === 'Acknowledgement') {
    const content = acknowledgement(enquiry)
    return { idempotencyKey: `ack/${enquiry.id}`, to: [enquiry.email], replyTo: brand.email, ...content }
  }
  const idempotencyKey = `staff/${enquiry.id}`
  return others.length > 0
    ? { idempotencyKey, to: staff, ...staffBundle(enquiries) }
    : { idempotencyKey, to: staff, replyTo: enquiry.email, ...staffNotice(enquiry) }
}

/** The first line is the subject. */
function digestMessage(text: string, staff: string[]): Message {
  const [title = '', ...lines] = text.split('\n')
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return {
    idempotencyKey: `digest/${hash}`,
    to: staff,
    subject: subjectLine(title),
    text,
    html: htmlPage(title, html`<pre style="font:inherit;white-space:pre-wrap">${lines.join('\n').trim()}</pre>`),
  }
}
