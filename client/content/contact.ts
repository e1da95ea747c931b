import { brand } from '../../shared/brand.ts'

export const socialLinks = [
  { name: 'Facebook', href: brand.social.facebook },
  { name: 'Instagram', href: brand.social.instagram },
  { name: 'LinkedIn', href: brand.social.linkedin },
  { name: 'WhatsApp', href: brand.social.whatsapp },
]

/** Raise `CONSENT_VERSION` when the consent line changes. */
export const subscribe = {
  title: 'Hear from us, seldom',
  consent: `By subscribing you agree that ${brand.company} writes to this address about its products. A line to ${brand.email} ends it.`,
  done: 'Thank you. This address is on the list.',
  offline: 'You are offline. Please subscribe when the network is back.',
  failed: 'That did not work, and nothing was stored. Please try again later.',
}

export const telephone = `tel:${brand.phone.replaceAll(' ', '')}`
