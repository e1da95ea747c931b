import { withDatabase } from '../database/open-database.ts'
import { noteAccess } from './access.ts'
import { findByReference, joinReferences, readReference, UsageError } from './input.ts'
import { type AddCommand, onOneLine, type Terminal } from './output.ts'

const NOTE_MAX = 2000

export function noteCommand(add: AddCommand, terminal: Terminal) {
  const { env, print } = terminal
  add('note')
    .summary('write a note beside an enquiry, for staff only')
    .argument('<reference>')
    .argument(
      '<text...>',
      'takes the place of the note that was there; "" removes it, and what earlier ones said from the history',
    )
    .description(`Visitors never see it, but a person who asks what is held of them gets it (\`staff export --person\`): write only what
they may read.`)
    .action(async (first: string, others: string[]) => {
      const [text = '', ...words] = joinReferences([first, ...others.slice(0, 1)]).concat(others.slice(1))
      const reference = readReference(text)
      if (words.length === 0) throw new UsageError('Say what to note')
      const note = onOneLine(words.join(' ')) || null
      if (note && note.length > NOTE_MAX) throw new UsageError(`A note has at most ${NOTE_MAX} characters`)
      await withDatabase(env(), async ({ db }) => {
        for (const row of await findByReference(db, [reference])) {
          await noteAccess(terminal, db, [row])
          await db.enquiry.updateMany({ where: { id: row.id }, data: { note } })
          print(`${row.reference}  ${row.name}: ${note ?? 'no note any more'}`)
          if (row.note) print(`Before: ${onOneLine(row.note)}`)
        }
      })
    })
}
