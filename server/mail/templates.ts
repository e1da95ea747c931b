import { brand } from '../../shared/brand.ts'
import { COMPOSITION_ID, productPath } from '../../shared/catalogue.ts'
import { DESK_PATH } from '../../shared/desk.ts'
import { suggestEmail } from '../../shared/doubts.ts'
import { yourEnquiryUrl } from '../../shared/form-outcome.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { nextSteps } from '../../shared/next-steps.ts'
import { type OrderField, orderFields } from '../../shared/order.ts'
import { PRIVACY_PATH, SUBSCRIPTION_PATH } from '../../shared/page-paths.ts'
import { UNCONFIRMED_DAYS } from '../../shared/subscription.ts'
import { callLink, mailLink, whatsAppLink } from '../../shared/visitor-contact.ts'
import { type Enquiry, type EnquiryWithSecret, enquiryFields, REFERENCE } from '../database/enquiry.ts'
import type { Subscriber } from '../database/generated/client.ts'
import { mailToken } from '../database/page-token.ts'
import { escaped } from '../html.ts'
import {
  buttons,
  type Content,
  createContent,
  link,
  linkList,
  MUTED_STYLE,
  type Part,
  paragraph,
  type Row,
  referencePart,
  steps,
  table,
} from './parts.ts'
import type { Message } from './resend.ts'

/** What a mail says, and to whom a reply goes. */
type Letter = Content & Pick<Message, 'replyTo' | 'headers'>

export function subscriptionLink({ id, secret }: Pick<Subscriber, 'id' | 'secret'>, publicUrl: string): string {
  return `${publicUrl}${SUBSCRIPTION_PATH}?token=${id}.${secret}`
}

/** What staff do first stands first. */
export function createNotice(enquiry: Enquiry, publicUrl: string): Letter {
  const { reference, mobile, email, receivedAt } = enquiry
  const links: Partial<Record<OrderField, string>> = { mobile: callLink(mobile), email: mailLink(email) }
  const content = createContent(titleOf(enquiry), [
    buttons({ Call: callLink(mobile), WhatsApp: whatsAppLink(mobile), Write: mailLink(email, reference) }),
    table([
      ...enquiryFields.map((field): Row => [orderFields[field].label, enquiry[field], links[field]]),
      ['Received', formatIndianTime(receivedAt)],
    ]),
    referencePart(reference),
    ...(publicUrl ? [buttons({ [`Open ${reference}`]: deskLink(reference, publicUrl) })] : []),
    paragraph('A reply to this mail goes to the visitor.', MUTED_STYLE),
  ])
  return { ...content, replyTo: email }
}

function deskLink(reference: string, publicUrl: string): string {
  return `${publicUrl}${DESK_PATH}/${reference}`
}

/** The first line is the subject. A block of several lines is a list with a heading. */
export function createSummary(summary: string, publicUrl: string): Letter {
  const [title = '', ...lines] = summary.split('\n')
  const blocks = lines.join('\n').trim().split('\n\n')
  const toPart = (block: string): Part => {
    const [first = '', ...items] = block.split('\n')
    const heading = `<p style="margin:20px 0 4px;font-weight:bold">${escaped(first)}</p>`
    const html = items.map((item) => `<p style="margin:0 0 8px">${withDeskLink(item, publicUrl)}</p>`).join('')
    return { text: block, html: items.length > 0 ? heading + html : paragraph(first).html }
  }
  const desk = publicUrl ? [buttons({ 'Open the desk': `${publicUrl}${DESK_PATH}` })] : []
  return createContent(title, [...blocks.map(toPart), ...desk])
}

/** The text of a line of a summary, with its reference as a link to the desk. */
function withDeskLink(line: string, publicUrl: string): string {
  const [reference = ''] = REFERENCE.exec(line) ?? []
  if (!publicUrl || !reference || !line.startsWith(reference)) return escaped(line)
  return link(reference, deskLink(reference, publicUrl)) + escaped(line.slice(reference.length))
}

/** Without personal data. */
export function titleOf(enquiry: Enquiry): string {
  return `${brand.name} enquiry ${lineOf(enquiry)}`
}

/** An enquiry in a summary. Without personal data. */
export function lineOf({ reference, quantity, products, retailerSelfUse }: Enquiry): string {
  return `${reference}: ${maskLargeQuantity(quantity)} × ${products}, ${retailerSelfUse}`
}

/** A larger quantity may be a telephone number, which is personal data. */
const QUANTITY_REPEATED_MAX = 9999

export function maskLargeQuantity(quantity: string): string {
  return Number(quantity) > QUANTITY_REPEATED_MAX ? `more than ${QUANTITY_REPEATED_MAX}` : quantity
}

const THANKS = 'Thank you. We have your enquiry. We will call or write to you; you need not send it again.'
const ADVISORY = 'Health supplements, not medicines. Pregnant, on medicine or before surgery: ask a doctor.'
const WHY = 'Your address was entered in our enquiry form. Not by you? Ignore this mail, or tell us.'
const KEEP = 'Not you? Keep it'
const WHY_WITH_PAGE = 'Your address was entered in our form. Not by you? Say “This is not mine” on that page.'

/** Whether mails there lead to the visitor's page. Not to an address that is probably mistyped: whoever has it could change the enquiry. */
export function leadsToPage(email: string, publicUrl: string): boolean {
  return publicUrl !== '' && !suggestEmail(email)
}

function pageButton(label: string, enquiry: EnquiryWithSecret, publicUrl: string): Part[] {
  if (!leadsToPage(enquiry.email, publicUrl)) return []
  return [buttons({ [label]: publicUrl + yourEnquiryUrl(mailToken(enquiry)) })]
}

/** To staff. */
export function createChange(enquiry: Enquiry, publicUrl: string): Letter {
  const { reference, eraseAt } = enquiry
  const what = eraseAt ? 'somebody asks to erase it' : 'the visitor has changed it'
  return createContent(`${titleOf(enquiry)}: ${what}`, [
    paragraph(
      eraseAt
        ? 'Somebody has asked to erase this enquiry. It is erased a day later, unless the visitor or one of you takes that back.'
        : 'The visitor has changed this enquiry on its page: another number, address or quantity, no need any more or again, or not theirs.',
    ),
    referencePart(reference),
    ...(publicUrl ? [buttons({ [`Open ${reference}`]: deskLink(reference, publicUrl) })] : []),
  ])
}

/** To the visitor. */
export function createErasureAsked(enquiry: EnquiryWithSecret, publicUrl: string): Letter {
  const keep = pageButton(KEEP, enquiry, publicUrl)
  const notYou = keep.length > 0 ? `Press “${KEEP}” or call us.` : 'Call us.'
  const content = createContent(`${brand.name}: your enquiry ${enquiry.reference} will be erased`, [
    paragraph('We were asked to erase your enquiry, and do so a day later. If it was you, you need do nothing.'),
    referencePart(enquiry.reference),
    ...keep,
    paragraph(`In doubt call ${brand.phone}, and name the reference.`),
    paragraph(`Your address was entered in our enquiry form. Not by you? ${notYou}`, MUTED_STYLE),
  ])
  return { ...content, replyTo: brand.email }
}

/** Without the name and other typed text, so that nobody can use it to send a text of their own. */
export function createAcknowledgement(enquiry: EnquiryWithSecret, publicUrl: string): Letter {
  const { reference, products, quantity, retailerSelfUse, mobile } = enquiry
  const pageButtons = pageButton('Your enquiry: see, correct or end it', enquiry, publicUrl)
  const content = createContent(`${brand.name}: your enquiry ${reference}`, [
    paragraph(THANKS),
    referencePart(reference),
    table([
      [orderFields.products.label, products],
      [orderFields.quantity.label, maskLargeQuantity(quantity)],
      [orderFields.retailerSelfUse.label, retailerSelfUse],
      ['Your number', `ends in ${mobile.slice(-4)}`],
    ]),
    ...pageButtons,
    steps(nextSteps, 1),
    paragraph('Is something wrong, or have you a question? Reply to this mail, and name the reference.'),
    paragraph(ADVISORY, MUTED_STYLE),
    paragraph(pageButtons.length > 0 ? WHY_WITH_PAGE : WHY, MUTED_STYLE),
    ...(publicUrl ? [linkList(siteLinks(products, publicUrl))] : []),
  ])
  return { ...content, replyTo: brand.email }
}

function siteLinks(product: string, publicUrl: string) {
  return {
    [`The label of ${product}, to show to your physician`]: `${publicUrl}${productPath(product)}#${COMPOSITION_ID}`,
    'Privacy policy': `${publicUrl}${PRIVACY_PATH}`,
  }
}

/** Asks whether the address is the subscriber's own. It says nothing of anybody: a stranger may have typed it. */
export function createConfirmation(subscriber: Subscriber, publicUrl: string): Letter {
  const url = subscriptionLink(subscriber, publicUrl)
  const ask = `Would you like news from ${brand.company}, now and then? Please confirm it: open this page and press its button.`
  const forget = `Not you? You need do nothing: we send nothing more, and remove the address after ${UNCONFIRMED_DAYS} days. To have it removed within two days, open that page and press “Remove my address”.`
  const content = createContent(`${brand.name}: please confirm your subscription`, [
    paragraph(ask),
    buttons({ 'Confirm the subscription': url }),
    paragraph(forget, MUTED_STYLE),
  ])
  const headers = { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
  return { ...content, headers, replyTo: brand.email }
}

/** To one of staff. The page behind the link has a button: mail scanners follow links. */
export function createSignInMail(url: string, tag: string) {
  const content = createContent(`${brand.name}: enter the desk`, [
    paragraph('Open this page and press its button. It works once, within 15 minutes.'),
    buttons({ 'Enter the desk': url }),
    paragraph(
      'Does it open inside the mail app? Copy the link, and paste it on the page “Look into your inbox” in your browser. Paste it nowhere else.',
      MUTED_STYLE,
    ),
    paragraph('If you did not ask for this, you need do nothing: without this mail nobody can enter.', MUTED_STYLE),
  ])
  return { ...content, headers: { 'X-Entity-Ref-ID': tag } } // otherwise Gmail folds it into the one before
}
