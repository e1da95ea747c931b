import { brand } from '../../shared/brand.ts'

/** A chat with us that begins with this text. '' if there is no number. */
export function chatLink(text = '', number: string = brand.whatsapp): string {
  return number && `https://wa.me/${number.replace(/\D/g, '')}${text && `?text=${encodeURIComponent(text)}`}`
}

/** Those that are set in shared/brand.ts. */
export const socialLinks: { name: string; href: string }[] = [
  { name: 'Facebook', href: brand.social.facebook },
  { name: 'Instagram', href: brand.social.instagram },
  { name: 'LinkedIn', href: brand.social.linkedin },
  { name: 'WhatsApp', href: chatLink() },
].filter(({ href }) => href)

/** Raise `CONSENT_VERSION` when the consent line changes. */
export const subscribe = {
  title: 'News from us, now and then',
  consent: `By subscribing, you agree that ${brand.company} may email you about its products. Each email has a link to unsubscribe.`,
  done: 'Please look into your inbox for the link to confirm. If you are already subscribed, we send no new link.',
  offline: 'You are offline. Please try again once you are back online.',
  failed: 'Something went wrong. Please try again later: your address counts only once.',
}

/** With no-break spaces. */
export const placeName = `${brand.address.city} ${brand.address.postalCode}`.replaceAll(' ', '\u00a0')

export const telephone = `tel:${brand.phone.replaceAll(' ', '')}`
