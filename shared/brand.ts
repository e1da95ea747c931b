/** Everything that changes when the site changes hands. The values are stand-ins: see "Before you go live" in docs/make-it-yours.md. */
export const brand = {
  name: 'Quvera',
  company: 'Quvera Healthcare',
  phone: '+91 11 4000 0300',
  email: 'care@quvera.example',
  address: { street: '12 Example Marg', city: 'New Delhi', postalCode: '110001', country: 'India' },
  /** Sender of the mails; the domain must be verified at Resend. */
  mailFrom: 'Quvera <enquiries@quvera.example>',
  /** One to five capital letters. Enquiries keep the one that they were stored with, and are known by it. */
  referencePrefix: 'QV',
  social: {
    facebook: 'https://www.facebook.com/quvera.example',
    instagram: 'https://www.instagram.com/quvera.example',
    linkedin: 'https://www.linkedin.com/company/quvera-example',
  },
  /** A number that takes chats, with its country; none: '', and no page offers one. */
  whatsapp: '+91 11 4000 0300',
} as const

export const postalAddress = `${brand.company}, ${brand.address.street}, ${brand.address.city} ${brand.address.postalCode}, ${brand.address.country}`

/** The colours of pages, mails and what browsers draw themselves. In styles `inkMuted` is `--ink-muted`; those of pages alone, and the ingredients', are in `client/styles/tokens.css`. */
export const palette = {
  paper: '#fbf7f0',
  sand: '#f0e6d6',
  leaf: '#24483f',
  line: '#d8cbb8',
  inkMuted: '#5c534b',
  ink: '#1f1a17',
  /** The brand's own: 4.7:1 under ink. The icons are drawn in it. */
  accent: '#d9601a',
  /** Of texts and links: 5.9:1 on paper, 5.1:1 on sand. */
  accentText: '#a8430a',
} as const
