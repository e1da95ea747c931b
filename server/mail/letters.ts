import { brand, palette, postalAddress } from '../../shared/brand.ts'
import { columns, type Enquiry, enquiryFields } from '../enquiries/enquiry.ts'
import { linkOf, type Subscriber, UNCONFIRMED_DAYS } from '../enquiries/subscribers.ts'
import { inIndia } from '../words.ts'
import type { ClaimedMail } from './owed.ts'
import type { Message } from './resend.ts'

const SUBJECT_MAX = 120
/** Gmail shows 102 kB of a mail. The frame and a thousand references take some of it, and what is added on the way. */
const ENTRIES_MAX_BYTES = 65_000

/** The mail as stored rows give it and nothing else, so that a repeat is the same to the letter. */
export function writeMessage(mail: ClaimedMail, staff: string[], publicUrl: string): Message | undefined {
  const { kind, key, isBundle, text, subscriber } = mail
  const [enquiry] = mail.enquiries
  if (kind === 'Digest') return { idempotencyKey: key, to: staff, ...digestLetter(text ?? '') }
  if (subscriber)
    return { idempotencyKey: key, to: [subscriber.email], replyTo: brand.email, ...confirmation(subscriber, publicUrl) }
  if (!enquiry) return undefined // all that it was about has been erased
  if (kind === 'Acknowledgement')
    return { idempotencyKey: key, to: [enquiry.email], replyTo: brand.email, ...acknowledgement(enquiry) }
  if (isBundle) return { idempotencyKey: key, to: staff, ...staffBundle(mail) }
  return { idempotencyKey: key, to: staff, replyTo: enquiry.email, ...staffNotice(enquiry) }
}

/** Tells staff of an enquiry, with all they need to answer it. */
export function staffNotice(enquiry: Enquiry): Letter {
  const intro = enquiry.suspectedSpam
    ? 'This enquiry looks as if a program sent it, so its sender got no acknowledgement. It is stored like any other.'
    : 'A new purchase enquiry. A reply to this mail goes to the visitor.'
  return letter(titleOf(enquiry), [paragraph(intro), enquiryPart(enquiry)])
}

/**
 * Tells staff of all enquiries that wait, when there are more than a day's mails can tell of one by one: as many in full
 * as there is room for, others by their reference, and how many there are.
 */
export function staffBundle({
  enquiries,
  references,
  total,
}: Pick<ClaimedMail, 'enquiries' | 'references' | 'total'>): Letter {
  const parts: Part[] = []
  let room = ENTRIES_MAX_BYTES
  for (const enquiry of enquiries) {
    const entry = [heading(titleOf(enquiry)), enquiryPart(enquiry)]
    room -= entry.reduce((sum, { text, html }) => sum + Buffer.byteLength(text + html), 0)
    if (room < 0) break
    parts.push(...entry)
  }
  const named = references.slice(parts.length / 2)
  const others = total - parts.length / 2 - named.length
  const intro = `${total} purchase enquiries in one mail, because many came in a short time. A reply does not reach the visitors: write to each.`
  return letter(`${total} enquiries: ${references.slice(0, SUBJECT_MAX).join(', ')}`, [
    paragraph(intro),
    ...parts,
    ...(named.length > 0 ? [paragraph(`Also (npm run -s staff -- show REFERENCE): ${named.join(', ')}`)] : []),
    ...(others > 0 ? [paragraph(`And ${others} more: npm run -s staff -- list --new --limit ${total}`)] : []),
  ])
}

/** The first line is the subject. */
function digestLetter(page: string): Letter {
  const [title = '', ...lines] = page.split('\n')
  const text = lines.join('\n').trim()
  const html = `<pre style="font:inherit;white-space:pre-wrap">${escaped(text)}</pre>`
  return letter(title, [{ text: `${title}\n\n${text}`, html }])
}

/** Names nobody. */
export function titleOf({ reference, quantity, products, retailerSelfUse, suspectedSpam }: Enquiry): string {
  return `${suspectedSpam ? 'Suspected spam: ' : ''}Enquiry ${reference}: ${quantity} × ${products}, ${retailerSelfUse}`
}

function enquiryPart(enquiry: Enquiry): Part {
  const links: Record<string, string> = {
    [columns.mobile]: `tel:+91${enquiry.mobile}`,
    [columns.email]: `mailto:${encodeURIComponent(enquiry.email)}`,
  }
  const rows: [label: string, value: string][] = [
    ['Reference', enquiry.reference],
    ['Received', `${inIndia(enquiry.receivedAt)} (Indian Standard Time)`],
    ...enquiryFields.map((field): [string, string] => [columns[field], enquiry[field]]),
    ['productName', brand.name],
  ]
  const { text, html } = table(rows, links)
  return { text: `${text}\n\nCall: ${links[columns.mobile]}\nWrite: ${links[columns.email]}`, html }
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
export function acknowledgement({ reference, name, products, quantity, retailerSelfUse }: Enquiry): Letter {
  const rows: [string, string][] = [
    ['Reference', reference],
    ['Product', products],
    ['Quantity', Number(quantity) > QUANTITY_REPEATED_MAX ? 'as you entered it' : quantity],
    ['Type', retailerSelfUse],
  ]
  return letter(
    `Your enquiry ${reference}`,
    [
      paragraph(`Dear ${greetableName(name) ?? 'Sir or Madam'},`),
      paragraph(next),
      table(rows),
      paragraph(`Questions? Call ${brand.phone} or write to ${brand.email} and name the reference.`),
      paragraph(advisory, MUTED),
      paragraph(why, MUTED),
      { text: postalAddress, html: '' },
    ],
    `${brand.name}: your enquiry ${reference}`,
  )
}

/** Asks whether the address is the subscriber's own. It says nothing of anybody: a stranger may have typed it. */
function confirmation(subscriber: Subscriber, publicUrl: string) {
  const url = linkOf(subscriber, publicUrl)
  const ask = `Somebody, we hope you, has entered this address to get news from ${brand.company}, now and then. If it was you, please confirm it: open this page and press its button.`
  const forget = `If it was not you, you need do nothing: we send you nothing more, and forget the address after ${UNCONFIRMED_DAYS} days. The same page also does so within two days.`
  const button = `display:inline-block;padding:10px 20px;background:${palette.ink};color:${palette.paper};text-decoration:none`
  return {
    ...letter(`${brand.name}: please confirm your subscription`, [
      paragraph('Dear Sir or Madam,'),
      paragraph(ask),
      { text: url, html: `<p><a href="${escaped(url)}" style="${button}">Confirm the subscription</a></p>` },
      paragraph(forget, MUTED),
      { text: `${postalAddress}\n${brand.phone} · ${brand.email}`, html: '' },
    ]),
    headers: { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  }
}

/** The name, unless it may be anything but a name: a sentence, a number, a link. */
function greetableName(name: string): string | undefined {
  const isName = name.length <= GREETABLE_LENGTH && GREETABLE_NAME.test(name) && !LINK_LIKE.test(name)
  return isName ? name : undefined
}

/** What is handed to the mail service, apart from sender and receiver; and a part of it, in both forms of a mail. */
type Letter = Pick<Message, 'subject' | 'text' | 'html'>
type Part = Pick<Message, 'text' | 'html'>

const MUTED = `font-size:14px;color:${palette.inkMuted}`
const LINE = `border-bottom:1px solid ${palette.line}`
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Every text of a visitor comes through here on its way into HTML. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

function paragraph(text: string, style?: string): Part {
  return { text, html: `<p${style ? ` style="${style}"` : ''}>${escaped(text)}</p>` }
}

function heading(text: string): Part {
  return { text, html: `<h2 style="font-size:18px">${escaped(text)}</h2>` }
}

/** A table of labels and values, some of which lead somewhere. */
function table(rows: [label: string, value: string][], links: Record<string, string> = {}): Part {
  const cells = rows.map(([label, value]) => {
    const shown = links[label]
      ? `<a href="${escaped(links[label])}">${escaped(value)}</a>`
      : escaped(value).replaceAll('\n', '<br>')
    return `<tr><td style="padding:6px 12px 6px 0;${LINE};color:${palette.inkMuted};vertical-align:top">${escaped(label)}</td><td style="padding:6px 0;${LINE}">${shown}</td></tr>`
  })
  return {
    text: rows.map(([label, value]) => `${label}: ${value}`).join('\n'),
    html: `<table role="presentation" style="width:100%;border-collapse:collapse">${cells.join('')}</table>`,
  }
}

/** The subject is one line of at most `SUBJECT_MAX` characters: a header takes no line breaks. */
function letter(title: string, parts: Part[], subject = title): Letter {
  const line = subject.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return {
    subject: Array.from(line).slice(0, SUBJECT_MAX).join(''),
    text: `${parts.map(({ text }) => text).join('\n\n')}\n`,
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head>
<body style="margin:0;background:${palette.paper};color:${palette.ink};font:16px/1.5 Figtree,Helvetica,Arial,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:32px 20px">
<p style="margin:0 0 20px;padding-bottom:8px;border-bottom:3px solid ${palette.accent};font:600 22px Fraunces,Georgia,serif">${brand.name}</p>
${parts.map(({ html }) => html).join('')}
<p style="margin:32px 0 0;padding-top:12px;border-top:1px solid ${palette.line};${MUTED}">${escaped(postalAddress)}<br>${brand.phone} · ${brand.email}</p>
</div></body></html>`,
  }
}
