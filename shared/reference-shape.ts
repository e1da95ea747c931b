import { brand } from './brand.ts'

/** Without characters that are taken for one another. */
export const REFERENCE_ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
export const REFERENCE_LENGTH = 6

const PATTERN = new RegExp(`^${brand.referencePrefix}-[${REFERENCE_ALPHABET}]{${REFERENCE_LENGTH}}$`)

/** Whether a text has the shape of a reference; whether there is such an enquiry is not asked. */
export function isReference(text: string): boolean {
  return PATTERN.test(text)
}
