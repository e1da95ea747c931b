import { brand } from '../../shared/brand.ts'
import { columns, type Enquiry, enquiryFields } from '../enquiries/enquiry.ts'
import { type Html, html } from './html.ts'
import { htmlPage, htmlTable, type MailContent, subjectLine, textTable } from './mail-layout.ts'

const indianTime = new Intl.DateTimeFormat('en-IN', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'Asia/Kolkata',
})

/** Tells staff of an enquiry, with all they need to answer it. */
export function staffNotice(enquiry: Enquiry): MailContent {
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

/** Tells staff of several enquiries at once, when there are more than a day's mails can tell of one by one. */
export function staffBundle(enquiries: Enquiry[]): MailContent {
  const title = `${enquiries.length} enquiries: ${enquiries.map(({ reference }) => reference).join(', ')}`
  const intro = `${enquiries.length} new purchase enquiries in one mail, because many came in a short time. A reply does not reach the visitors: write to each.`
  return {
    subject: subjectLine(title),
    text: `${intro}\n\n${enquiries.map((enquiry) => `${titleOf(enquiry)}\n\n${textOf(enquiry)}`).join('\n\n\n')}\n`,
    html: htmlPage(
      title,
      html`<p>${intro}</p>${enquiries.map((enquiry) => html`<h2 style="font-size:18px">${titleOf(enquiry)}</h2>${tableOf(enquiry)}`)}`,
    ),
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
