import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { withDatabase } from '../database/open-database.ts'
import { mobileDigits, UsageError } from './input.ts'
import { printEnquiries, withListOptions } from './list.ts'
import type { AddCommand, Terminal } from './output.ts'

const FOUND_MAX = 10_000
const DIGITS_MIN = 4

export function findCommand(add: AddCommand, terminal: Terminal) {
  withListOptions(add('find'))
    .summary('find enquiries by a part of a name, address, mobile number, reference or note')
    .argument('<text...>')
    .description(`Capital or small letters are the same, ’ and ', one space and several; % and _ are letters like any other. A mobile number is found also when written
with +91, 0, spaces or dashes, and by any ${DIGITS_MIN} or more of its digits in a row.`)
    .action(async (words: string[], options: Parameters<typeof printEnquiries>[3]) => {
      const text = words.join(' ').trim()
      if (!text) throw new UsageError('Say what to look for')
      await withDatabase(terminal.env(), async ({ db }) => {
        const ids = await findIds(db, text)
        await printEnquiries(terminal, db, { id: { in: ids } }, options)
        if (ids.length === 0 && /^\d+$/.test(text) && text.length < DIGITS_MIN)
          terminal.print(`A number is found by ${DIGITS_MIN} or more of its digits.`)
      })
    })
}

/** Not by LIKE, in which % and _ stand for anything. The newest come first, should there be too many. */
export async function findIds(db: Db, text: string): Promise<string[]> {
  const digits = mobileDigits(text)
  const mobile = digits && digits.length >= DIGITS_MIN ? digits : null
  const reference = text.replace(/[\s-]/g, '')
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT "Id" AS "id" FROM "Quvera_Form"
    WHERE strpos(${plain(Prisma.sql`concat_ws(chr(1), "Name", "Email", "Reference", "Note")`)}, ${plain(Prisma.sql`${text}::text`)}) > 0
      OR (length(${reference}) > 5 AND strpos(replace("Reference", '-', ''), upper(${reference})) > 0)
      OR strpos("Mobile", ${mobile}::text) > 0
    ORDER BY "ReceivedAt" DESC LIMIT ${FOUND_MAX}`
  return rows.map(({ id }) => id)
}

function plain(text: Prisma.Sql) {
  return Prisma.sql`regexp_replace(translate(lower(${text}), '‘’', ''''''), '\\s+', ' ', 'g')`
}
