import { brand, postalAddress } from '../../shared/brand.ts'
import { palette } from '../../shared/palette.ts'
import { columns, type Enquiry, enquiryFields } from '../enquiries/enquiry.ts'
import { inIndia } from '../words.ts'
import type { ClaimedMail } from './owed.ts'
import type { Message } from './resend.ts'

/** Gmail shows 102 kB of a mail. The frame takes some of it, and what is added on the way. */
const ENTRIES_MAX_BYTES = 90_000

/** The mail as stored rows give it and nothing else, so that a repeat is the same to the letter. */
export function writeMessage(
  { kind, key, isBundle, enquiries, total, text }: ClaimedMail,
  staff: string[],
): Message | undefined {
  const [enquiry] = enquiries
  if (kind === 'Digest') return { idempotencyKey: key, to: staff, ...digestLetter(text ?? '') }
  if (!enquiry) return undefined // all that it was about has been erased
  if (kind === 'Acknowledgement')
    return { idempotencyKey: key, to: [enquiry.email], replyTo: brand.email, ...acknowledgement(enquiry) }
  if (isBundle) return { idempotencyKey: key, to: staff, ...staffBundle(enquiries, total) }
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
    ['Received', `${inIndia(enquiry.receivedAt)} (Indian Standard Time)`],
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

/** One to three words, such as “Dr. A. Rao” or “D'Souza-Rao”. */
const GREETABLE_NAME = /^(?:\p{L}['’])?\p{L}[\p{L}\p{M}]*\.?(?:[ -](?:\p{L}['’])?\p{L}[\p{L}\p{M}]*\.?){0,2}$/u
const GREETABLE_LENGTH = 30
const LINK_LIKE = /www|https?/i
/** Larger ones may be a telephone number. */
const QUANTITY_REPEATED_MAX = 9999

const next = `We have stored your enquiry and will call or write to you. You need not send it again.`
const advisory =
  'Our products are health supplements, not medicines. If you are pregnant, take medicines or are due for surgery, ask your doctor before you use them.'
const why = `You get this mail because your address was entered in the enquiry form of ${brand.name}. If that was not you, please ignore it or tell us at ${brand.email}.`

/** Tells the visitor that the enquiry has arrived. Carries nothing a stranger could use to pass on a text of their own. */
export function acknowledgement(enquiry: Enquiry): Letter {
  const title = `Your enquiry ${enquiry.reference}`
  const greeting = `Dear ${greetableName(enquiry.name) ?? 'Sir or Madam'},`
  const rows: [string, string][] = [
    ['Reference', enquiry.reference],
    ['Product', enquiry.products],
    ['Quantity', Number(enquiry.quantity) > QUANTITY_REPEATED_MAX ? 'as you entered it' : enquiry.quantity],
    ['Type', enquiry.retailerSelfUse],
  ]
  const contact = `Questions? Call ${brand.phone} or write to ${brand.email} and name the reference.`
  return {
    subject: subjectLine(`${brand.name}: your enquiry ${enquiry.reference}`),
    text: `${[greeting, next, textTable(rows), contact, advisory, why, postalAddress].join('\n\n')}\n`,
    html: htmlPage(
      title,
      html`<p>${greeting}</p><p>${next}</p>${htmlTable(rows)}<p>${contact}</p><p style="font-size:14px;color:${palette.inkMuted}">${advisory}</p><p style="font-size:14px;color:${palette.inkMuted}">${why}</p>`,
    ),
  }
}

/** The name, unless it may be anything but a name: a sentence, a number, a link. */
function greetableName(name: string): string | undefined {
  const isName = name.length <= GREETABLE_LENGTH && GREETABLE_NAME.test(name) && !LINK_LIKE.test(name)
  return isName ? name : undefined
}

/** What is handed to the mail service, apart from sender and receiver. */
interface Letter {
  subject: string
  text: string
  html: string
}

const SUBJECT_MAX = 120

/** One line of at most `SUBJECT_MAX` characters: a header takes no line breaks. */
function subjectLine(text: string): string {
  return Array.from(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' '))
    .slice(0, SUBJECT_MAX)
    .join('')
}

/** Text that is HTML already. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Tag of template strings: every value is escaped, unless it was made by this tag itself. */
function html(strings: TemplateStringsArray, ...values: (string | Html | Html[])[]): Html {
  const parts = values.map((value) => [value].flat().map(render).join(''))
  return new Html(String.raw({ raw: strings }, ...parts))
}

function render(value: string | Html) {
  return value instanceof Html ? value.text : value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** The frame of all mails. */
function htmlPage(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body style="margin:0;background:${palette.paper};color:${palette.ink};font:16px/1.5 Figtree,Helvetica,Arial,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:32px 20px">
<p style="margin:0 0 20px;padding-bottom:8px;border-bottom:3px solid ${palette.orange};font:600 22px Fraunces,Georgia,serif">${brand.name}</p>
${content}
<p style="margin:32px 0 0;padding-top:12px;border-top:1px solid ${palette.line};font-size:14px;color:${palette.inkMuted}">${postalAddress}<br>${brand.phone} · ${brand.email}</p>
</div></body></html>`.text
}

/** A table of labels and values. */
function htmlTable(rows: [label: string, value: string | Html][]): Html {
  return html`<table role="presentation" style="width:100%;border-collapse:collapse">${rows.map(
    ([label, value]) =>
      html`<tr><td style="padding:6px 12px 6px 0;border-bottom:1px solid ${palette.line};color:${palette.inkMuted};vertical-align:top">${label}</td><td style="padding:6px 0;border-bottom:1px solid ${palette.line}">${value}</td></tr>`,
  )}</table>`
}

function textTable(rows: [label: string, value: string][]): string {
  return rows.map(([label, value]) => `${label}: ${value}`).join('\n')
}
