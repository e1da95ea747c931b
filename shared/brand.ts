/** The owner's values. These are stand-ins: see "Before you go live" in docs/make-it-yours.md. */
export const brand = {
  /** Words of at most twelve letters: longer ones break on a narrow phone. */
  name: 'Quvera',
  company: 'Quvera Healthcare',
  phone: '+91 11 4000 0300',
  email: 'care@quvera.example',
  address: {
    street: '12 Example Marg',
    city: 'New Delhi',
    postalCode: '110001',
    country: 'India',
  },
  /** Sender of the mails; the domain must be verified at Resend. */
  mailFrom: 'Quvera <enquiries@quvera.example>',
  /** One to five capital letters. Stored enquiries keep the prefix they have. */
  referencePrefix: 'QV',
  /** Addresses of profiles. '' hides a link. */
  social: {
    facebook: '',
    instagram: '',
    linkedin: '',
  },
  /** A mobile number with country code. '' hides the links. */
  whatsapp: '',
  /** false: no form in the footer, and no subscription is taken. First read docs/make-it-yours.md. */
  newsletter: true as boolean,
} as const

export const postalAddress = `${brand.company}, ${brand.address.street}, ${brand.address.city} ${brand.address.postalCode}, ${brand.address.country}`

/** Colours of pages and mails. In CSS `inkMuted` is `--ink-muted`. Colours of pages only are in `client/styles/tokens.css`. */
export const palette = {
  paper: '#fbf7f0',
  sand: '#f0e6d6',
  leaf: '#24483f',
  /** The ground of the home page's banner. */
  gold: '#e9a63c',
  line: '#d8cbb8',
  inkMuted: '#5c534b',
  ink: '#1f1a17',
  /** Also of the icons. Contrast under ink 4.6:1, on sand 3:1: another accent has to be about as light. */
  accent: '#d9601a',
  /** For texts and links: contrast 5.9:1 on paper, 5.1:1 on sand. */
  accentText: '#a8430a',
} as const
