/** What a person typed, or pasted, into a form. `order.submit` itself is strict. */

/** `FormData` in a browser, `URLSearchParams` on the server. */
export interface FormFields {
  get(name: string): unknown
}

export function readEmail(form: FormFields): string {
  return asciiEmail(readText(form, 'email'))
}

/** Writes a domain in another script in ASCII, as some browsers do before they send it. */
export function asciiEmail(text: string): string {
  const typed = withoutInvisible(text).trim()
  const [, local, domain] = /^(.*@)([\p{L}\p{M}\p{N}.-]*)$/u.exec(typed) ?? []
  if (!domain || /^[!-~]*$/.test(domain)) return typed
  try {
    return local + new URL(`https://${domain}`).hostname
  } catch {
    return typed
  }
}

/** As a browser reads a number field. `undefined` for an empty field, NaN for no exact number: the schema refuses both. */
export function readQuantity(typed: string): number | undefined {
  if (typed === '') return undefined
  const [matched, fraction = '', exponent] = /^[-+]?\d*(?:\.(\d*))?(e[-+]?\d+)?$/i.exec(typed) ?? []
  const value = matched ? Number(typed) : Number.NaN
  // Number() rounds 5.00000000000000001 to 5: the digits show that. With an exponent they do not (5.00000000000000001e0), so numbers from 1e15 on are refused.
  const mayHaveLostFraction = Number.isInteger(value) && (exponent ? Math.abs(value) >= 1e15 : /[1-9]/.test(fraction))
  return mayHaveLostFraction ? Number.NaN : value
}

/**
 * Understands a number as people write it: digits of any script, spaces, dashes, dots, brackets, and `+91`, `0091` or a
 * leading 0 if exactly ten digits remain. A text with other characters stays as it was typed.
 */
export function plainMobile(typed: string): string {
  const plain = withAsciiDigits(typed).replace(/[\s\p{Dash}().]/gu, '')
  const tenDigits = /^(?:(?:\+|00)91)?0?([0-9]{10})$/.exec(plain)?.[1]
  if (tenDigits) return tenDigits
  return /^[0-9]+$/.test(plain) ? plain : typed.trim()
}

export function withAsciiDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, asciiDigit)
}

/** Unicode has the digits of a script in a row from its zero, and rows that meet have ten digits each. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let first = code
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--
  return String((code - first) % 10)
}

/** A text field without what is invisible, as copying from chats and address books adds it. */
export function readText(form: FormFields, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? withoutInvisible(value) : ''
}

/** Keeps joiners where they change how letters or emoji are drawn: between two characters that are not ASCII. */
export function withoutInvisible(text: string): string {
  return text.replace(/([^\p{ASCII}\p{Cf}][\u200c\u200d](?=[^\p{ASCII}\p{Cf}]))|\p{Cf}/gu, '$1')
}
