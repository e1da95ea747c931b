/** Domains of mail that many visitors have. A slip in one of them is asked about. */
const wellKnownDomains = [
  'gmail.com',
  'yahoo.com',
  'yahoo.in',
  'yahoo.co.in',
  'hotmail.com',
  'outlook.com',
  'icloud.com',
  'rediffmail.com',
]

/** Real domains that look like a slip in one of those. */
const similarDomains = ['mail.com', 'email.com', 'ymail.com', 'cloud.com']

/** Mistyped for `.com`. */
const mistypedEndings = /\.(?:con|cmo|ocm|vom|xom|cim|cpm|comm|coom)$/

/** The address that was probably meant. Asked in the form; the server sends no link to a doubtful one. */
export function suggestEmail(email: string): string | undefined {
  const at = email.lastIndexOf('@') + 1
  const domain = email.slice(at).toLowerCase()
  const ended = domain.replace(mistypedEndings, '.com')
  const isKnown = wellKnownDomains.includes(ended) || similarDomains.includes(ended)
  const meant = (!isKnown && wellKnownDomains.find((known) => isOneSlip(ended, known))) || ended
  return meant === domain ? undefined : email.slice(0, at) + meant
}

/** One letter is missing, added or wrong, or two neighbours have changed places. */
export function isOneSlip(typed: string, meant: string): boolean {
  let start = 0
  while (start < typed.length && typed[start] === meant[start]) start++
  let end = 0
  const shorter = Math.min(typed.length, meant.length)
  while (end < shorter - start && typed.at(-1 - end) === meant.at(-1 - end)) end++
  const [wrong, right] = [typed, meant].map((text) => text.slice(start, text.length - end)) as [string, string]
  return (wrong.length <= 1 && right.length <= 1) || (wrong.length === 2 && wrong === [...right].reverse().join(''))
}
