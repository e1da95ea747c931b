/* How staff reach a visitor: in a notice, at the desk and on the visitor's slip. `mobile` has ten digits, without +91. */

export function callLink(mobile: string): string {
  return `tel:+91${mobile}`
}

/** WhatsApp gets the number and nothing else of the visitor's. */
export function whatsAppLink(mobile: string): string {
  return `https://wa.me/91${mobile}`
}

export function mailLink(email: string, subject?: string): string {
  const link = `mailto:${encodeURIComponent(email).replace('%40', '@')}`
  return subject ? `${link}?subject=${encodeURIComponent(subject)}` : link
}

/** `99711 12345`, so that a wrong digit is seen. A part of a number is grouped too. */
export function mobileInGroups(mobile: string): string {
  return mobile.replace(/^(\d{5})(\d)/, '$1 $2')
}
