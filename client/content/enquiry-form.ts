import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { messages, type OrderField } from '../../shared/order.ts'

/** Texts around the form. `closing` is shown at the end of product pages. */
export const buyNow = {
  title: 'Buy Now',
  description: `Send an enquiry for ${products.join(' or ')}. You get a reference right away, and our team replies by phone or email.`,
  closing: 'Tell us how many you need: our team calls or writes back with price and pack size.',
  lead: 'Health supplements for your shop or for yourself. You get a reference right away. Our team replies by phone or email, with price and pack size.',
  send: 'Send enquiry',
  price: 'Price and pack size: on enquiry.',
  advice:
    'Take a health supplement as directed by your physician. Before you take it, tell your physician if you take any medicine, are pregnant or breastfeeding, or have surgery planned.',
  pictureAlt: `${products[0]} and ${products[1]} before a note card`,
}

const KEEP_REFERENCE = 'Nothing is bought yet. Please keep your reference.'

/** Stands in place of the form once it is sent. */
export const enquiryReceived = {
  title: messages.received,
  description: 'Your enquiry has arrived. Here is its reference, and what happens next.',
  heading: 'Thank you. We\u00a0have\u00a0your enquiry.',
  lead: `Someone from our team will call or write to you. ${KEEP_REFERENCE}`,
  contact: (mobile: string, email: string) => `We will ring ${mobile} and write to ${email}. ${KEEP_REFERENCE}`,
  /** The link to the visitor's page. */
  page: 'Wrong? Correct it',
  pageIs: 'on the page “Your enquiry”, where you also see how it stands.',
  /** Where the mail has the link: not to an address that is probably mistyped. */
  mailLeads: 'The mail that we send you leads to your enquiry’s page.',
  /** Sends it in one press. */
  same: (product: string, quantity: string) => `Also ask for ${slip.packs(quantity)} of ${product}`,
  /** Opens the form. */
  another: (product: string) => `Another quantity of ${product}`,
  /** Before the reference of the same for the other product. */
  second: (product: string) => `For ${product}:`,
  /** A link, where nothing is known of the visitor. */
  other: (product: string) => `Ask for ${product} too`,
  before: (product: string, reference: string) => `Your enquiry for ${product} is here too: ${reference}.`,
  quote: `Something wrong, or a question? Call or write, and quote your reference: ${brand.phone}, ${brand.email}.`,
}

/** On the page of a reference while the database is away, or for a client that asks for too many. */
export const notLookedUp = {
  heading: 'Your enquiry',
  reference: 'Its reference',
  lead: `We cannot look it up at this moment. If you were led here by sending the form, it is stored: please keep its reference. In doubt call ${brand.phone}.`,
}

/** Stands first in a choice. */
export const choose = 'Please choose'

/** Shown beside the label of a field. */
export const labelNotes: Partial<Record<OrderField, string>> = { mobile: '10 digits', quantity: 'packs' }

export const optionalNote = (max: number | undefined) =>
  max ? `optional, up to ${max.toLocaleString('en-IN')} letters` : 'optional'

/** Shown when the enquiry was received more than a minute ago: it was sent again, or its page is opened again. */
export const receivedEarlier = (time: string) =>
  `We received this enquiry on ${time}. You need not send it again. To order the same once more, send another enquiry. If you get the same reference again, call us or wait ten minutes.`

export const anotherEnquiry = 'Send another enquiry'

/** Shown offline while the script that could send the order later is not loaded. */
export const scriptOffline =
  'You are offline. Nothing you typed is lost. Please send it again once you are back online.'

/** The paper slip beside the form. */
export const slip = {
  title: 'Your enquiry',
  from: 'From',
  reference: 'Your reference',
  mobile: 'Your number',
  email: 'Your mail',
  packs: (quantity: string) => (Number(quantity) === 1 ? '1 pack' : `${quantity} packs`),
}

/** Said at a field when typing pauses or it is left. It holds nothing back. */
export const doubtTexts = {
  digits: (typed: number) => `A mobile number has 10 digits, this one ${typed}.`,
  mobile: 'Mobile numbers in India begin with 6, 7, 8 or 9. Is yours right? Then send it as it is.',
  email: 'Did you mean this address?',
  emailKept: 'If not, send it as it is.',
}

/** Stands under its field. */
export const helpTexts: Partial<Record<OrderField, string>> = {
  name: 'Yours, or your shop’s.',
  quantity: 'In packs. For cartons, tell us when we call.',
  products: 'One product per enquiry; another follows in one step, once this is sent.',
}

/** Leads to the telephone, under the title. */
export const ratherCall = 'Rather call?'

/** Said under the title when a link has chosen something in the form. */
export const chosen = ' is chosen in the form.'

/** Said there before the references of what this tab has sent. */
export const sentBefore = 'You have sent: '

export const nextStepsTitle = 'What happens next'

/** Under the title. */
export const notAPurchase = 'An enquiry, not a purchase. You pay nothing here.'

/** Names the purposes that the privacy policy names. */
export const privacyNotice = [
  'We use your name, email, mobile number and the details of your enquiry only to record, confirm and answer it, to agree on delivery, to help when something goes wrong, and to keep this site and its data safe.',
  `You may see, correct and erase them, and withdraw your consent: on the page “Your enquiry”, where the confirmation or our mail has its link, or at ${brand.email}.`,
  `Complain to us there first, then to the Data Protection Board of India.`,
]
