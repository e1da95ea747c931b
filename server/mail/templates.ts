import { brand, palette, postalAddress } from '../../shared/brand.ts'
import { COMPOSITION_ID, productPath } from '../../shared/catalogue.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import type { OrderField } from '../../shared/order.ts'
import { PRIVACY_PATH } from '../../shared/page-paths.ts'
import { type Enquiry, enquiryFields, fieldLabels } from '../enquiries/enquiry.ts'
import { type Subscriber, subscriptionLink, UNCONFIRMED_DAYS } from '../enquiries/subscribers.ts'
import type { StoredMail } from './queue.ts'
import type { Message } from './resend.ts'

const SUBJECT_MAX = 120

type Content = Pick<Message, 'subject' | 'text' | 'html'>
type Part = Pick<Message, 'text' | 'html'>
type Row = [label: string, value: string, link?: string | undefined]

/** Made of stored rows and settings only, so that a repeat has the same bytes. Without `publicUrl` no mail links to the site. */
export function writeMessage(mail: StoredMail, publicUrl = ''): Message {
  const { kind, tag, to, text, enquiry, subscriber } = mail
  if (to && text) return { tag, to, ...createSummary(text) }
  if (to && enquiry) return { tag, to, replyTo: enquiry.email, ...createNotice(enquiry) }
  const toVisitor = { tag, replyTo: brand.email }
  if (subscriber) return { ...toVisitor, to: subscriber.email, ...createConfirmation(subscriber, publicUrl) }
  if (enquiry) return { ...toVisitor, to: enquiry.email, ...createAcknowledgement(enquiry, publicUrl) }
  throw new Error(`What a mail of the kind ${kind} is about was erased`)
}

export function createNotice(enquiry: Enquiry): Content {
  const { reference, mobile, email, receivedAt } = enquiry
  const phone = `tel:+91${mobile}`
  const mailto = `mailto:${encodeURIComponent(email).replace('%40', '@')}`
  const links: Partial<Record<OrderField, string>> = { mobile: phone, email: mailto }
  return createContent(titleOf(enquiry), [
    paragraph('A new purchase enquiry. A reply to this mail goes to the visitor.'),
    referenceLine(reference),
    table([
      ...enquiryFields.map((field): Row => [fieldLabels[field], enquiry[field], links[field]]),
      ['Received', formatIndianTime(receivedAt)],
    ]),
    // WhatsApp gets the number and nothing else of the visitor's.
    linkList({ Call: phone, WhatsApp: `https://wa.me/91${mobile}`, Write: mailto }),
  ])
}

/** The first line is the subject. */
function createSummary(summary: string): Content {
  const [title = '', ...lines] = summary.split('\n')
  const text = lines.join('\n').trim()
  const html = `<pre style="font:inherit;white-space:pre-wrap">${escaped(text)}</pre>`
  return createContent(title, [{ text: `${title}\n\n${text}`, html }])
}

/** Without personal data. */
export function titleOf({ reference, quantity, products, retailerSelfUse }: Enquiry): string {
  return `${brand.name} enquiry ${reference}: ${maskLargeQuantity(quantity)} × ${products}, ${retailerSelfUse}`
}

/** A larger quantity may be a telephone number, which is personal data. */
const QUANTITY_REPEATED_MAX = 9999

export function maskLargeQuantity(quantity: string): string {
  return Number(quantity) > QUANTITY_REPEATED_MAX ? `more than ${QUANTITY_REPEATED_MAX}` : quantity
}

const THANKS = 'Thank you. We have your enquiry. We will call or write to you; you need not send it again.'
const ADVISORY =
  'Our products are health supplements, not medicines. If you are pregnant, take medicines or are due for surgery, ask your doctor before you use them.'
const WHY = `You get this mail because your address was entered in the enquiry form of ${brand.name}. If that was not you, please ignore it or tell us at ${brand.email}.`

/** Without the name and other typed text, so that nobody can use it to send a text of their own. */
export function createAcknowledgement(enquiry: Enquiry, publicUrl: string): Content {
  const { reference, products, quantity, retailerSelfUse } = enquiry
  return createContent(`${brand.name}: your enquiry ${reference}`, [
    paragraph('Dear Sir or Madam,'),
    paragraph(THANKS),
    referenceLine(reference),
    table([
      [fieldLabels.products, products],
      [fieldLabels.quantity, maskLargeQuantity(quantity)],
      [fieldLabels.retailerSelfUse, retailerSelfUse],
    ]),
    paragraph('If you have a question, please quote this reference.'),
    linkList({ [`Call ${brand.phone}`]: PHONE_LINK, [`Write to ${brand.email}`]: `mailto:${brand.email}` }),
    paragraph(ADVISORY, MUTED_STYLE),
    paragraph(WHY, MUTED_STYLE),
    ...(publicUrl ? [linkList(siteLinks(products, publicUrl))] : []),
  ])
}

function siteLinks(product: string, publicUrl: string) {
  return {
    [`The label of ${product}, to show to your physician`]: `${publicUrl}${productPath(product)}#${COMPOSITION_ID}`,
    'Privacy policy': `${publicUrl}${PRIVACY_PATH}`,
  }
}

/** Asks whether the address is the subscriber's own. It says nothing of anybody: a stranger may have typed it. */
function createConfirmation(subscriber: Subscriber, publicUrl: string) {
  const url = subscriptionLink(subscriber, publicUrl)
  const ask = `Somebody, we hope you, has entered this address to get news from ${brand.company}, now and then. If it was you, please confirm it: open this page and press its button.`
  const forget = `If it was not you, you need do nothing: we send you nothing more, and remove the address from the list after ${UNCONFIRMED_DAYS} days. To have it removed within two days, open that page and press “Remove my address”.`
  const button = `display:inline-block;padding:10px 20px;background:${palette.ink};color:${palette.paper};text-decoration:none`
  const content = createContent(`${brand.name}: please confirm your subscription`, [
    paragraph('Dear Sir or Madam,'),
    paragraph(ask),
    { text: url, html: `<p><a href="${escaped(url)}" style="${button}">Confirm the subscription</a></p>` },
    paragraph(forget, MUTED_STYLE),
  ])
  const headers = { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
  return { ...content, headers }
}

/** To one of staff. The page behind the link has a button: mail scanners follow links. */
export function createSignInMail(url: string): Content {
  const button = `display:inline-block;padding:10px 20px;background:${palette.ink};color:${palette.paper};text-decoration:none`
  return createContent(`${brand.name}: enter the desk`, [
    paragraph('Open this page and press its button. It works once, within 15 minutes.'),
    { text: url, html: `<p><a href="${escaped(url)}" style="${button}">Enter the desk</a></p>` },
    paragraph('If you did not ask for this, you need do nothing: without this mail nobody can enter.', MUTED_STYLE),
  ])
}

/** Contrast 9.5:1 on paper; the accent colour has only 3.5:1. */
const LINK_STYLE = `color:${palette.leaf};text-decoration:underline`
const PHONE_LINK = `tel:${brand.phone.replaceAll(' ', '')}`
const MAP_LINK = `https://www.google.com/maps/search/?api=1&query=${encodeURIComponent(postalAddress)}`
const MUTED_STYLE = `font-size:14px;color:${palette.inkMuted}`
const REFERENCE_STYLE = 'margin:16px 0;font:600 28px/1.2 Fraunces,Georgia,serif;letter-spacing:.02em'
const CELL_STYLE = `border-bottom:1px solid ${palette.line}`
const LABEL_STYLE = `width:120px;padding:6px 12px 6px 0;${CELL_STYLE};color:${palette.inkMuted};white-space:nowrap;vertical-align:top`
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Every text of a visitor comes through here on its way into HTML. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

function paragraph(text: string, style?: string): Part {
  return { text, html: `<p${style ? ` style="${style}"` : ''}>${escaped(text)}</p>` }
}

function referenceLine(reference: string): Part {
  return { ...paragraph(reference, REFERENCE_STYLE), text: `Reference: ${reference}` }
}

function link(text: string, target: string): string {
  return `<a href="${escaped(target)}" style="${LINK_STYLE}">${escaped(text)}</a>`
}

function linkList(targets: Record<string, string>): Part {
  const rows = Object.entries(targets)
  return {
    text: rows.map((row) => row.join(': ')).join('\n'),
    html: `<p style="line-height:2.2">${rows.map(([text, target]) => link(text, target)).join('<br>')}</p>`,
  }
}

function table(rows: Row[]): Part {
  const cells = rows.map(([label, value, target]) => {
    const shown = target ? link(value, target) : escaped(value).replaceAll('\n', '<br>')
    return `<tr><td style="${LABEL_STYLE}">${escaped(label)}</td><td style="padding:6px 0;${CELL_STYLE}">${shown}</td></tr>`
  })
  return {
    text: rows.map(([label, value]) => `${label}: ${value}`).join('\n'),
    html: `<table role="presentation" style="width:100%;border-collapse:collapse">${cells.join('')}</table>`,
  }
}

/** The subject is one line of at most `SUBJECT_MAX` characters: a header takes no line breaks. */
function createContent(title: string, parts: Part[]): Content {
  const line = title.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return {
    subject: Array.from(line).slice(0, SUBJECT_MAX).join(''),
    text: `${parts.map(({ text }) => text).join('\n\n')}\n\n${postalAddress}\n${brand.phone} · ${brand.email}\n`,
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head>
<body style="margin:0;background:${palette.paper};color:${palette.ink};font:16px/1.5 Figtree,Helvetica,Arial,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:32px 20px">
<p style="margin:0 0 20px;padding-bottom:8px;border-bottom:3px solid ${palette.accent};font:600 22px Fraunces,Georgia,serif">${brand.name}</p>
${parts.map(({ html }) => html).join('')}
<p style="margin:32px 0 0;padding-top:12px;border-top:1px solid ${palette.line};${MUTED_STYLE}">${link(postalAddress, MAP_LINK)}<br>${link(brand.phone, PHONE_LINK)} · ${link(brand.email, `mailto:${brand.email}`)}</p>
</div></body></html>`,
  }
}
