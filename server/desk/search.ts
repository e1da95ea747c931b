import { Prisma } from '../database/generated/client.ts'
import { mobileDigits } from '../operations/person.ts'

/** Accents of Latin letters once they are apart from their letter; the signs of Indian scripts are others. */
const ACCENTS = '[\u0300-\u036f]'

/** The texts of an enquiry in small letters without accents. Only texts beyond ASCII need the slow part. */
const SEARCHED = Prisma.sql`lower(CASE WHEN octet_length(texts) = char_length(texts) THEN texts
  ELSE regexp_replace(normalize(texts, NFKD), ${ACCENTS}, '', 'g') END)`
const TEXTS = Prisma.sql`form."Name" || E'\n' || form."Email" || E'\n' || form."Reference" || E'\n' || coalesce(form."Note", '')`

/** The condition of enquiries (`form`) with these words, in any order and spelling, in name, address, reference or note, or with this number. */
export function matches(text: string): Prisma.Sql {
  const [code] = /[0-9A-Z]{6}$/.exec(text.replace(/[\s-]/g, '').toUpperCase()) ?? []
  const digits = mobileDigits(text)
  const conditions = [
    Prisma.sql`(SELECT ${SEARCHED} LIKE ALL (${searchPatterns(text)}) FROM (SELECT ${TEXTS}) AS all_texts (texts))`,
    ...(code ? [Prisma.sql`form."Reference" LIKE ${`%${code}`}`] : []),
    ...(digits ? [Prisma.sql`form."Mobile" LIKE ${`%${digits}%`}`] : []),
  ]
  return Prisma.sql`(${Prisma.join(conditions, ' OR ')})`
}

/** One for each word. In it % and _ mean themselves, and apostrophes of all kinds are one. */
function searchPatterns(text: string): string[] {
  const plain = text.normalize('NFKD').replace(new RegExp(ACCENTS, 'g'), '').toLowerCase().trim()
  return plain.split(/\s+/).map((word) => `%${likePattern(word).replace(/['‘’]/g, '_')}%`)
}

/** For LIKE, in which % and _ are wildcards. */
function likePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
