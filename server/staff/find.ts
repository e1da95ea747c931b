import type { Db } from '../database/database.ts'
import { withDatabase } from '../database/open-database.ts'
import { type Command, parse, UsageError } from './command.ts'
import { listHelp, listOptions, printEnquiries, readListOptions } from './enquiry-list.ts'
import { mobileDigits } from './person.ts'

const FOUND_MAX = 10_000
const DIGITS_MIN = 4

export const findCommand: Command = {
  summary: 'find enquiries by a part of a name, address, mobile number, reference or note',
  help: `Usage: npm run -s staff -- find TEXT [options]

Capital or small letters are the same; % and _ are letters like any other. A mobile number is found also when written
with +91, 0, spaces or dashes, and by any ${DIGITS_MIN} or more of its digits in a row.

${listHelp}`,
  login: "quvera_readonly or the tables' owner",
  async run(args, env) {
    const { values, positionals } = parse(args, listOptions, { positionals: true })
    const text = positionals.join(' ').trim()
    if (!text) throw new UsageError('Say what to look for')
    const options = readListOptions(values)
    await withDatabase(env(), async ({ db }) => {
      const ids = await findIds(db, text)
      await printEnquiries(db, { id: { in: ids } }, options)
      if (ids.length === 0 && /^\d+$/.test(text) && text.length < DIGITS_MIN)
        console.log(`A number is found by ${DIGITS_MIN} or more of its digits.`)
    })
  },
}

/** Not by LIKE, in which % and _ stand for anything. The newest come first, should there be too many. */
export async function findIds(db: Db, text: string): Promise<string[]> {
  const digits = mobileDigits(text)
  const mobile = digits && digits.length >= DIGITS_MIN ? digits : null
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT "Id" AS "id" FROM "Quvera_Form"
    WHERE strpos(lower(concat_ws(E'\n', "Name", "Email", "Reference", "Note")), lower(${text}::text)) > 0
      OR strpos("Mobile", ${mobile}::text) > 0
    ORDER BY "ReceivedAt" DESC LIMIT ${FOUND_MAX}`
  return rows.map(({ id }) => id)
}
