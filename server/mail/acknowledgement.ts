import { brand, postalAddress } from '../../shared/brand.ts'
import { palette } from '../../shared/palette.ts'
import type { Enquiry } from '../enquiries/enquiry.ts'

import { html, htmlPage, htmlTable, type Letter, subjectLine, textTable } from './layout.ts'

/** One to three words, such as “Dr. A. Rao” or “D'Souza-Rao”. */
const GREETABLE_NAME = /^(?:\p{L}['’])?\p{L}[\p{L}\p{M}]*\.?(?:[ -](?:\p{L}['’])?\p{L}[\p{L}\p{M}]*\.?){0,2}$/u
const GREETABLE_LENGTH = 30
const LINK_LIKE = /www|https?/i
/** Larger ones may be a telephone number. */
const QUANTITY_REPEATED_MAX = 9999

const next = `We have stored your enquiry and will call or write to you. You need not send it again.`
const advisory =
  'Our products are health supplements, not medicines. If you are pregnant, take medicines or are due for surgery, ask your doctor before you use them.'
const why = `You get this mail because your address was entered in the enquiry form of ${brand.name}. If that was not you, please ignore it or tell us at ${brand.email}.`

/** Tells the visitor that the enquiry has arrived. Carries nothing a stranger could use to pass on a text of their own. */
export function acknowledgement(enquiry: Enquiry): Letter {
  const title = `Your enquiry ${enquiry.reference}`
  const greeting = `Dear ${greetableName(enquiry.name) ?? 'Sir or Madam'},`
  const rows: [string, string][] = [
    ['Reference', enquiry.reference],
    ['Product', enquiry.products],
    ['Quantity', Number(enquiry.quantity) > QUANTITY_REPEATED_MAX ? 'as you entered it' : enquiry.quantity],
    ['Type', enquiry.retailerSelfUse],
  ]
  const contact = `Questions? Call ${brand.phone} or write to ${brand.email} and name the reference.`
  return {
    subject: subjectLine(
      `${brand.name}: ${title.toLowerCase().replace(enquiry.reference.toLowerCase(), enquiry.reference)}`,
    ),
    text: `${[greeting, next, textTable(rows), contact, advisory, why, postalAddress].join('\n\n')}\n`,
    html: htmlPage(
      title,
      html`<p>${greeting}</p><p>${next}</p>${htmlTable(rows)}<p>${contact}</p><p style="font-size:14px;color:${palette.inkMuted}">${advisory}</p><p style="font-size:14px;color:${palette.inkMuted}">${why}</p>`,
    ),
  }
}

/** The name, unless it may be anything but a name: a sentence, a number, a link. */
function greetableName(name: string): string | undefined {
  const isName = name.length <= GREETABLE_LENGTH && GREETABLE_NAME.test(name) && !LINK_LIKE.test(name)
  return isName ? name : undefined
}
