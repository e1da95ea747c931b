/*
 * The owner's prepared texts, to be sent by WhatsApp or mail. Here and not in shared/, because they may hold prices, which
 * must not be in scripts that anybody can read. {name}, {product}, {quantity} and {reference} are filled in; a greeting without a name is "Hello,".
 */
const prepared = [
  {
    title: 'Price and pack size',
    text: 'Hello {name}, thank you for your enquiry {reference} about {quantity} × {product}. May we send you our price list and tell you the pack sizes?',
  },
  {
    title: 'Could not reach you',
    text: 'Hello {name}, we rang you about your enquiry {reference} and could not reach you. When may we ring again?',
  },
]

/** Known before an enquiry is opened: nothing moves when its texts come. */
export const replyTitles = prepared.map(({ title }) => title)

interface Values {
  name: string
  products: string
  quantity: number
  reference: string
}

/** A name of a stranger's may be anything: only a short one of letters alone is sent on in our words. */
const NAME = /^[\p{L}\p{M} ]{1,30}$/u

/** In one pass: what is filled in is not read again. */
export function repliesFor({ name, products, quantity, reference }: Values): { title: string; text: string }[] {
  const values: Record<string, string> = { product: products, quantity: quantity.toLocaleString('en-IN'), reference }
  const greeted = NAME.test(name.trim()) ? ` ${name.trim()}` : ''
  return prepared.map(({ title, text }) => ({
    title,
    text: text
      .replace(/ \{name\}|\{(\w+)\}/g, (whole, value) => (whole === ' {name}' ? greeted : (values[value] ?? whole)))
      .toWellFormed(),
  }))
}
