/** Without characters that are taken for one another. */
export const REFERENCE_ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
export const REFERENCE_LENGTH = 6

const PATTERN = new RegExp(`^[A-Z]{1,5}-[${REFERENCE_ALPHABET}]{${REFERENCE_LENGTH}}$`)

/** Whether a text has the shape of a reference, with the prefix of any time; whether there is such an enquiry is not asked. */
export function isReference(text: string): boolean {
  return PATTERN.test(text)
}
