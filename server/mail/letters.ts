import { brand } from '../../shared/brand.ts'
import { columns, type Enquiry, enquiryFields } from '../enquiries/enquiry.ts'
import { acknowledgement } from './acknowledgement.ts'
import { type Html, html, htmlPage, htmlTable, type Letter, subjectLine, textTable } from './layout.ts'
import type { ClaimedMail } from './owed.ts'
import type { Message } from './resend.ts'

/** Gmail shows 102 kB of a mail. The frame takes some of it, and what is added on the way. */
const ENTRIES_MAX_BYTES = 90_000

const indianTime = new Intl.DateTimeFormat('en-IN', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'Asia/Kolkata',
})

/** The mail as stored rows give it and nothing else, so that a repeat is the same to the letter. */
export function writeMessage({ kind, key, enquiries, total, text }: ClaimedMail, staff: string[]): Message | undefined {
  const [enquiry] = enquiries
  if (kind === 'Digest') return { idempotencyKey: key, to: staff, ...digestLetter(text ?? '') }
  if (!enquiry) return undefined // all that it was about has been erased
  if (kind === 'Acknowledgement')
    return { idempotencyKey: key, to: [enquiry.email], replyTo: brand.email, ...acknowledgement(enquiry) }
  if (total > 0) return { idempotencyKey: key, to: staff, ...staffBundle(enquiries, total) }
  return { idempotencyKey: key, to: staff, replyTo: enquiry.email, ...staffNotice(enquiry) }
}

/** Tells staff of an enquiry, with all they need to answer it. */
export function staffNotice(enquiry: Enquiry): Letter {
  const title = titleOf(enquiry)
  const intro = enquiry.suspectedSpam
    ? 'This enquiry looks as if a program sent it, so its sender got no acknowledgement. It is stored like any other.'
    : 'A new purchase enquiry. A reply to this mail goes to the visitor.'
  return {
    subject: subjectLine(title),
    text: `${intro}\n\n${textOf(enquiry)}\n`,
    html: htmlPage(title, html`<p>${intro}</p>${tableOf(enquiry)}`),
  }
}

/**
 * Tells staff of all enquiries that wait, when there are more than a day's mails can tell of one by one.
 * @param enquiries those to show, as many of them as a mail has room for
 * @param total how many there are
 */
export function staffBundle(enquiries: Enquiry[], total: number): Letter {
  const title = `${total} enquiries: ${enquiries.map(({ reference }) => reference).join(', ')}`
  const intro = `${total} purchase enquiries in one mail, because many came in a short time. A reply does not reach the visitors: write to each.`
  const entries: { text: string; html: Html }[] = []
  let room = ENTRIES_MAX_BYTES
  for (const enquiry of enquiries) {
    const heading = titleOf(enquiry)
    const entry = {
      text: `${heading}\n\n${textOf(enquiry)}`,
      html: html`<h2 style="font-size:18px">${heading}</h2>${tableOf(enquiry)}`,
    }
    room -= Buffer.byteLength(entry.text + entry.html.text)
    if (room < 0) break
    entries.push(entry)
  }
  const others = total - entries.length
  const rest =
    others > 0
      ? `And ${others} more, not shown here: npm run -s staff -- list --new --limit ${total}. What looks as if a program sent it comes last.`
      : ''
  return {
    subject: subjectLine(title),
    text: `${[intro, ...entries.map(({ text }) => text), ...(rest ? [rest] : [])].join('\n\n\n')}\n`,
    html: htmlPage(
      title,
      html`<p>${intro}</p>${entries.map((entry) => entry.html)}${rest ? html`<p>${rest}</p>` : ''}`,
    ),
  }
}

/** The first line is the subject. */
function digestLetter(text: string): Letter {
  const [title = '', ...lines] = text.split('\n')
  return {
    subject: subjectLine(title),
    text,
    html: htmlPage(title, html`<pre style="font:inherit;white-space:pre-wrap">${lines.join('\n').trim()}</pre>`),
  }
}

function titleOf({ reference, quantity, products, retailerSelfUse, suspectedSpam }: Enquiry): string {
  return `${suspectedSpam ? 'Suspected spam: ' : ''}Enquiry ${reference}: ${quantity} × ${products}, ${retailerSelfUse}`
}

function rowsOf(enquiry: Enquiry): [label: string, value: string][] {
  return [
    ['Reference', enquiry.reference],
    ['Received', `${indianTime.format(enquiry.receivedAt)} IST (Indian Standard Time)`],
    ...enquiryFields.map((field): [string, string] => [columns[field], enquiry[field]]),
    ['productName', brand.name],
  ]
}

function linksOf({ email, mobile }: Enquiry): Record<string, string> {
  return { Email: `mailto:${encodeURIComponent(email)}`, Mobile: `tel:+91${mobile}` }
}

function textOf(enquiry: Enquiry): string {
  const links = linksOf(enquiry)
  return `${textTable(rowsOf(enquiry))}\n\nCall: ${links.Mobile}\nWrite: ${links.Email}`
}

function tableOf(enquiry: Enquiry): Html {
  const links = linksOf(enquiry)
  return htmlTable(
    rowsOf(enquiry).map(([label, value]) => [
      label,
      links[label] ? html`<a href="${links[label]}">${value}</a>` : value,
    ]),
  )
}
