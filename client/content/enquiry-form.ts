import { brand } from '../../shared/brand.ts'
import type { messages } from '../../shared/order.ts'

type Message = (typeof messages)[keyof typeof messages]

/** Said under a field that was left empty. */
export const emptyHints: Record<string, string> = {
  name: 'Enter your name.',
  email: 'Enter your email address.',
  mobile: 'Enter your mobile number.',
  quantity: 'Enter how many you need.',
  retailerSelfUse: 'Choose Retailer or Self Use.',
  products: 'Choose a product.',
}

/** Said under a field that breaks its rule; a rule not named here is told in its own words. */
export const ruleHints: Partial<Record<Message, string>> = {
  'Please enter a valid email address': 'It should look like name@example.com.',
  'Please enter only number.': 'Use the digits 0 to 9 only.',
  'Please enter 10 digit Mobile number.': 'Enter all ten digits, without the country code.',
}

/** The heading of the page that follows a form sent without scripts. */
export const received: typeof messages.received = 'Order Received Successfully'

/** Stands above the form in place of "Buy Now" once it is sent. */
export const enquiryReceived = {
  title: 'Thank you',
  lead: 'Your enquiry is with us, and a copy is on its way to your inbox. A person replies by phone or email.',
}

export const notStored = `We could not store your enquiry. Everything you typed is still here: please send it again, or call ${brand.phone}.`

/** Said while an enquiry is under way and the network is weak. */
export const progress = {
  offline:
    'You are offline. Everything you typed is still here, and it is sent by itself as soon as the network is back. Please keep this page open.',
  again: (attempt: number) => `No answer yet. We try again by ourselves (try ${attempt}). Please keep this page open.`,
  wait: (seconds: number) =>
    `Too many enquiries in a short time. Yours is sent again by itself in ${Math.ceil(seconds)} seconds. Please keep this page open.`,
  /** Before the code has arrived that could send it later. */
  codeOffline: 'You are offline. Everything you typed is still here: please send it again when the network is back.',
}

export const stopped = `Stopped. It may have reached us all the same: sent again as it is, it is still one enquiry. Or call ${brand.phone}.`

export const nextSteps = [
  { title: 'We store your enquiry', text: 'You see its reference at once, and a copy goes to your email address.' },
  {
    title: 'A person reads it',
    text: `Our team in ${brand.address.city} checks product, quantity and your questions.`,
  },
  {
    title: 'We call or write',
    text: 'Availability and delivery are settled with you directly. Nothing is charged here.',
  },
]

export const privacyNotice = `We use your name, email, mobile number and what you enquire about only to answer this enquiry.`
