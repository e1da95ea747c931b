import { brand } from './brand.ts'

/** What becomes of an enquiry: beside the form, on the confirmation, in the acknowledgement and on the visitor's page. */
export const nextSteps = [
  {
    title: 'We receive your enquiry',
    text: 'You get a reference right away.',
    done: 'It is stored under its reference.',
  },
  {
    title: 'Our team reads it',
    text: `Someone in ${brand.address.city} looks at the product and quantity you asked for.`,
    done: `Someone in ${brand.address.city} has looked at it.`,
  },
  {
    title: 'We call or write',
    text: 'We settle price, pack size, availability and delivery with you. You pay nothing on this site.',
    done: 'Our team has marked it as answered.',
  },
]
