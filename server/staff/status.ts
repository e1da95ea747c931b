import { withDatabase } from '../database/open-database.ts'
import { noteAccess } from './access.ts'
import { findByReference, joinReferences, readReference, readStatus, statusNames, UsageError } from './input.ts'
import type { AddCommand, Terminal } from './output.ts'

/** What stands beside the status, and is set by the same command. */
const marks: Record<string, { suspectedSpam: boolean }> = {
  spam: { suspectedSpam: true },
  'not-spam': { suspectedSpam: false },
}

export function statusCommand(add: AddCommand, terminal: Terminal) {
  const { env, print } = terminal
  const names = [...statusNames, ...Object.keys(marks)]
  add('status')
    .summary('say that an enquiry is Contacted, Closed or New, or whether it is spam')
    .usage(`REFERENCE … ${names.join('|')}`)
    .argument('<words...>', `references, one or several, then one of ${names.join('|')}`)
    .description(`When one of them is not there, nothing is changed. Suspected spam gets no acknowledgement; clearing the mark does
not send one that was left out.`)
    .action(async (words: string[]) => {
      if (words.length < 2) throw new UsageError(`Name a reference, then one of: ${names.join(', ')}`)
      const last = words.at(-1) ?? ''
      const change = marks[last.toLowerCase()] ?? { status: readStatus(last) }
      const told = (row: { status: string; suspectedSpam: boolean }) =>
        'status' in change ? row.status : row.suspectedSpam ? 'suspected spam' : 'not suspected'
      const references = joinReferences(words.slice(0, -1)).map(readReference)
      await withDatabase(env(), async ({ db }) => {
        const rows = await findByReference(db, references)
        await noteAccess(terminal, db, rows)
        await db.enquiry.updateMany({ where: { id: { in: rows.map(({ id }) => id) } }, data: change })
        for (const row of rows) {
          const [before, after] = [told(row), told({ ...row, ...change })]
          print(`${row.reference}  ${row.name}: ${before === after ? `is ${after} already` : `${before} → ${after}`}`)
        }
      })
    })
}
