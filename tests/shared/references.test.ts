// A reference is read aloud and typed again, and a staff command takes digits alone for the number of a mail.

import { expect, it } from 'vitest'
import { createReference } from '../../server/database/enquiry.ts'
import { brand } from '../../shared/brand.ts'

it('no reference has a character that looks like another, or a code of digits only', () => {
  const references = Array.from({ length: 20_000 }, createReference) // of which chance would make five of digits
  const isReference = new RegExp(`^${brand.referencePrefix}-(?!\\d{6}$)[2-9A-HJ-NP-Z]{6}$`)
  expect(references.filter((reference) => !isReference.test(reference))).toEqual([])
})
