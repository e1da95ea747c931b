import { brand } from '../../shared/brand.ts'
import type { messages } from '../../shared/order.ts'

/** The heading of the page that follows a form sent without scripts. */
export const received: typeof messages.received = 'Order Received Successfully'

/** Stands above the form. */
export const buyNow = {
  title: 'Buy Now',
  closing: 'Tell us how many you need, and our team calls or writes back.',
  lead: 'Buying for your shop or for yourself? Tell us what you need. You get a reference right away, and our team replies by phone or email.',
}

/** Stands above the form in place of "Buy Now" once it is sent. */
export const enquiryReceived = {
  title: 'Enquiry received',
  lead: 'Someone from our team will call or write to you. Please keep your reference.',
}

/** Before the code has arrived that could send it later. */
export const codeOffline = 'You are offline. Nothing you typed is lost. Please send it again once you are back online.'

export const nextSteps = [
  { title: 'We receive your enquiry', text: 'You get a reference right away.' },
  {
    title: 'Our team reads it',
    text: `Someone in ${brand.address.city} looks at the product and quantity you asked for.`,
  },
  {
    title: 'We call or write',
    text: 'We settle availability and delivery with you directly. You pay nothing on this site.',
  },
]

export const privacyNotice = `We use your name, email, mobile number and the details of your enquiry only to answer it.`
