import { TO_BE_ERASED_WORDS } from '../../shared/desk.ts'
import { withAsciiDigits, withoutInvisible } from '../../shared/typed-text.ts'
import { Prisma } from '../database/generated/client.ts'
import { TAKEN_BACK } from '../database/history.ts'
import { mobileDigits } from '../operations/person.ts'

/** Accents of Latin letters once they are apart from their letter; the signs of Indian scripts are others. */
const ACCENTS = '[\u0300-\u036f]'

/** A text in small letters without accents, as `SearchText` of Quvera_Form is made. */
const plain = (
  text: Prisma.Sql,
) => Prisma.sql`CASE WHEN octet_length(${text}) = char_length(${text}) THEN lower(${text} COLLATE "C")
  ELSE lower(regexp_replace(normalize(${text}, NFKD), ${ACCENTS}, '', 'g')) END`

/** "bounced", as the flag says: then the search lists those whom the acknowledgement did not reach. */
const BOUNCES = Prisma.sql`form."Id" IN (SELECT "EnquiryId" FROM "Quvera_Mail"
  WHERE "Kind" = 'Acknowledgement' AND "Status" = 'Bounced')`

/** "to be erased", as the flag says. */
export const TO_BE_ERASED = Prisma.sql`form."EraseAt" IS NOT NULL`

/** The condition of entries (`entry`) that nobody has taken back. */
const IS_EFFECTIVE = Prisma.sql`coalesce((SELECT back."What" <> ${TAKEN_BACK} FROM "Quvera_History" back
  WHERE back."EnquiryId" = entry."EnquiryId" AND back."TakesBack" = entry."Key" ORDER BY back."Id" DESC LIMIT 1), TRUE)`

/**
 * The condition of enquiries (`form`) with all these words, each in name, address, number, reference or a note, in any order
 * and spelling; or with this number, however it is written.
 */
export function matches(typed: string): Prisma.Sql {
  const text = withoutPaste(typed)
  if (/^(?:acknowledgement )?bounced$/i.test(text)) return BOUNCES
  if (text === TO_BE_ERASED_WORDS) return TO_BE_ERASED
  const words = text
    .split(' ')
    .filter((word) => word && !COUNTRY.test(word))
    .slice(0, WORDS_MAX)
    .map(spellingsOf)
  if (words.length === 0) return Prisma.sql`FALSE`
  const found = words.map(
    (
      spellings,
    ) => Prisma.sql`(form."SearchText" LIKE ANY (${spellings}) OR form."Id" IN (SELECT "EnquiryId" FROM "Quvera_History" entry
      WHERE "What" = 'Note' AND ${plain(Prisma.sql`"Text"`)} LIKE ANY (${spellings}) AND ${IS_EFFECTIVE}))`,
  )
  // `QV-7K3M9P`, `qv 7k3 m9p`, `7K3M9P`
  const [code] = /(?<=^|[A-Z]{1,5})[0-9A-Z]{6}$/.exec(text.replace(/[\s-]/g, '').toUpperCase()) ?? []
  const digits = text.includes(' ') ? mobileDigits(text) : undefined
  const others = [
    ...(code ? [Prisma.sql`form."Reference" LIKE ${`%-${code}`}`] : []),
    ...(digits ? [Prisma.sql`form."Mobile" LIKE ${`%${digits}%`}`] : []),
  ]
  return Prisma.sql`(${Prisma.join([Prisma.join(found, ' AND '), ...others], ' OR ')})`
}

/** Each costs a look at all notes. */
const WORDS_MAX = 8
/** The code of India, apart from its number. */
const COUNTRY = /^(?:\+|00)91$/
/** What comes before a number or an address in a link. */
const LINKS = /mailto:|tel:|(?:https?:\/\/)?wa\.me\//g
/** Around a word. An underscore or a percent sign is a part of it. */
const QUOTES_BEFORE = '"\'‘“(<[{'
const POINTS_AFTER = '"\'’”)>]},.;:!?'

/** What is pasted may be a link, and have invisible characters, quotes, commas and digits of any script. */
function withoutPaste(typed: string): string {
  return withAsciiDigits(withoutInvisible(typed).normalize('NFKD'))
    .replace(new RegExp(ACCENTS, 'g'), '')
    .toLowerCase()
    .replace(LINKS, ' ')
    .split(/\s+/)
    .map(trimWord)
    .filter(Boolean)
    .join(' ')
}

function trimWord(word: string): string {
  let [start, end] = [0, word.length]
  while (start < end && QUOTES_BEFORE.includes(word.charAt(start))) start++
  while (start < end && POINTS_AFTER.includes(word.charAt(end - 1))) end--
  return word.slice(start, end)
}

/** Patterns for LIKE: in them % and _ mean themselves, and apostrophes of all kinds are one. Digits also without +91 or 0. */
function spellingsOf(word: string): string[] {
  const digits = mobileDigits(word)
  return [word, ...(digits ? [digits, digits.replace(/^0/, '')] : [])]
    .filter(Boolean)
    .map((each) => `%${each.replace(/[\\%_]/g, '\\$&').replace(/['‘’]/g, '_')}%`)
}
