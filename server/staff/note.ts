import { withDatabase } from '../database/open-database.ts'
import { type Command, parse, UsageError } from './command.ts'
import { findByReference, readReference } from './find-enquiry.ts'
import { onOneLine } from './terminal-table.ts'

const NOTE_MAX = 2000

export const noteCommand: Command = {
  summary: 'write a note beside an enquiry, for staff only',
  help: `Usage: npm run -s staff -- note REFERENCE "TEXT"

Takes the place of the note that was there; an empty text removes it. Visitors never see it, but a person who asks what
is held of them gets it (\`staff export --person\`): write only what they may read.`,
  async run(args, env) {
    const [reference, ...words] = parse(args, {}, { positionals: true }).positionals
    if (reference === undefined || words.length === 0)
      throw new UsageError('Name a reference, then a text; "" removes the note')
    const note = onOneLine(words.join(' ')) || null
    if (note && note.length > NOTE_MAX) throw new UsageError(`A note has at most ${NOTE_MAX} characters`)
    const references = [readReference(reference)]
    await withDatabase(env(), async ({ db }) => {
      for (const row of await findByReference(db, references)) {
        await db.enquiry.updateMany({ where: { id: row.id }, data: { note } })
        console.log(`${row.reference}  ${row.name}: ${note ?? 'no note any more'}`)
        if (row.note) console.log(`Before: ${onOneLine(row.note)}`)
      }
    })
  },
}
