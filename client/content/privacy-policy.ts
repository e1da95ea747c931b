import { brand, postalAddress } from '../../shared/brand.ts'

interface PolicySection {
  id: string
  title: string
  paragraphs: string[]
  bullets?: string[]
}

export const privacyPolicy = {
  title: 'Privacy Policy',
  description: `What personal data ${brand.company} asks for, how we use it, how long we keep it, and your rights.`,
  lead: `How ${brand.company} handles the details you share with us. It is short, because we ask for little.`,
  updated: 'Version of November 2026',
}

export const policySections: PolicySection[] = [
  {
    id: 'information-collected',
    title: 'Information collected',
    paragraphs: ['We collect what you give us in a form or a message:'],
    bullets: [
      'your name, email address and phone number;',
      'other information given: product, quantity, whether you enquire as a retailer or for self use, and what you write to us;',
      'usage data: our server counts and logs requests to keep the site working, and may ask your browser how quickly a page appeared and answered: it tells that and which page, not who you are. No IP address is stored with it or with an enquiry.',
      'cookies: we set none. Your browser keeps one random number while the tab is open, so that an order sent twice is counted once, and the reference of the enquiry that you sent. The link to your enquiry is kept nowhere but in the page and in our email.',
    ],
  },
  {
    id: 'how-it-is-used',
    title: 'How it is used',
    paragraphs: ['We use it for these purposes and no others:'],
    bullets: [
      'transactions: to record and confirm your enquiry;',
      'delivery: to agree with you on where and when;',
      'support: to help when something goes wrong;',
      ...(brand.newsletter
        ? ['updates: to write to you if you subscribed and confirmed it by the link in our email, and only then;']
        : []),
      'inquiries: to answer your questions;',
      'security: to keep this site and its data safe.',
    ],
  },
  {
    id: 'data-security',
    title: 'Data security',
    paragraphs: [
      'Your data travels encrypted and is stored where only the staff who answer enquiries can read it. No method is perfect: if a breach affects you, we will inform you and the Data Protection Board.',
      'Our emails are sent through Resend, a processor outside India, which for this purpose receives your name, email address and mobile number, the enquiry and the link to its page. The companies that host this site store it for us. A chat or program of our own may be told of an enquiry. If we write to you on WhatsApp, Meta receives your number and what we write. We do not sell your data, and we share it with nobody else unless the law requires it.',
      'We keep an enquiry for 24 months and then erase it, unless a law obliges us to keep it; backups keep what was erased for up to 30 days more.',
      ...(brand.newsletter
        ? [
            'A subscription lasts until you end it, by the link in each email or by writing to us; one that is not confirmed is erased after 30 days.',
          ]
        : []),
    ],
  },
  {
    id: 'your-rights',
    title: 'Rights of access and correction',
    paragraphs: [
      'Under the Digital Personal Data Protection Act, 2023 you may ask for a copy of your data, have it corrected, completed or erased, withdraw your consent, and nominate a person to act for you if you die or cannot: write to us whom, and how we reach them.',
      'Most of it you do yourself on the page “Your enquiry”, if the confirmation or our email has given you its link: correct number, quantity and address, withdraw, and erase. Without the link, write to us. What is erased there goes a day later, and until then you can take it back; backups keep it for up to 30 days.',
      `Write to ${brand.email} from the address you gave us, with your reference if you have one. Our contact person for personal data reads it, and replies without delay, at the latest within 90 days. If you are not satisfied with our reply, you may complain to the Data Protection Board of India.`,
    ],
  },
  {
    id: 'policy-changes',
    title: 'Policy changes',
    paragraphs: [
      'When this policy changes, we publish the new version on this page with its date. With each enquiry we store which version of the notice beside the form was current at that time.',
    ],
  },
  {
    id: 'contact-details',
    title: 'Contact details',
    paragraphs: [`${postalAddress}. Phone ${brand.phone}, email ${brand.email}.`],
  },
]
