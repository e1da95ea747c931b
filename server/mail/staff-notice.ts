import { brand } from '../../shared/brand.ts'
import { columns, type Enquiry, enquiryFields } from '../enquiries/enquiry.ts'
import { html } from './html.ts'
import { htmlPage, htmlTable, type MailContent, subjectLine, textTable } from './mail-layout.ts'

const indianTime = new Intl.DateTimeFormat('en-IN', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'Asia/Kolkata',
})

/** Tells staff of an enquiry, with all they need to answer it. */
export function staffNotice(enquiry: Enquiry): MailContent {
  const spam = enquiry.suspectedSpam ? 'Suspected spam: ' : ''
  const title = `${spam}Enquiry ${enquiry.reference}: ${enquiry.quantity} × ${enquiry.products}, ${enquiry.retailerSelfUse}`
  const received = `${indianTime.format(enquiry.receivedAt)} IST (Indian Standard Time)`
  const rows: [string, string][] = [
    ['Reference', enquiry.reference],
    ['Received', received],
    ...enquiryFields.map((field): [string, string] => [columns[field], enquiry[field]]),
    ['productName', brand.name],
  ]
  const links: Record<string, string> = {
    Email: `mailto:${encodeURIComponent(enquiry.email)}`,
    Mobile: `tel:+91${enquiry.mobile}`,
  }
  const intro = enquiry.suspectedSpam
    ? 'This enquiry looks as if a program sent it, so its sender got no acknowledgement. It is stored like any other.'
    : 'A new purchase enquiry. A reply to this mail goes to the visitor.'
  return {
    subject: subjectLine(title),
    text: `${intro}\n\n${textTable(rows)}\n\nCall: tel:+91${enquiry.mobile}\nWrite: ${links.Email}\n`,
    html: htmlPage(
      title,
      html`<p>${intro}</p>${htmlTable(
        rows.map(([label, value]) => [label, links[label] ? html`<a href="${links[label]}">${value}</a>` : value]),
      )}`,
    ),
  }
}
