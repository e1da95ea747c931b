/** Domains of mail that many visitors have. A slip in one of them is asked about. */
export const wellKnownDomains = [
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
export const similarDomains = ['mail.com', 'email.com', 'ymail.com', 'cloud.com']

/** Mistyped for `.com`. */
export const mistypedEndings = /\.(?:con|cmo|ocm|vom|xom|cim|cpm|comm|coom)$/
