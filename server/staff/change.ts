import { findByReference, joinReferences, readReferences, readStatus, statusNames, UsageError } from './input.ts'
import { type AddCommand, onOneLine, type Terminal } from './output.ts'

const NOTE_MAX = 2000

/** What stands beside the status, and is set by the same command. */
const marks: Record<string, { suspectedSpam: boolean }> = {
  spam: { suspectedSpam: true },
  'not-spam': { suspectedSpam: false },
}

export function statusCommand(add: AddCommand, terminal: Terminal) {
  const { print } = terminal
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
      const references = readReferences(words.slice(0, -1))
      await terminal.onDatabase(async (db) => {
        const rows = await findByReference(db, references)
        await terminal.noteAccess(db, rows)
        await db.enquiry.updateMany({ where: { id: { in: rows.map(({ id }) => id) } }, data: change })
        for (const row of rows) {
          const [before, after] = [told(row), told({ ...row, ...change })]
          print(`${row.reference}  ${row.name}: ${before === after ? `is ${after} already` : `${before} → ${after}`}`)
        }
      })
    })
}

export function noteCommand(add: AddCommand, terminal: Terminal) {
  const { print } = terminal
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
      const references = readReferences([text])
      if (words.length === 0) throw new UsageError('Say what to note')
      const note = onOneLine(words.join(' ')) || null
      if (note && note.length > NOTE_MAX) throw new UsageError(`A note has at most ${NOTE_MAX} characters`)
      await terminal.onDatabase(async (db) => {
        for (const row of await findByReference(db, references)) {
          await terminal.noteAccess(db, [row])
          await db.enquiry.updateMany({ where: { id: row.id }, data: { note } })
          print(`${row.reference}  ${row.name}: ${note ?? 'no note any more'}`)
          if (row.note) print(`Before: ${onOneLine(row.note)}`)
        }
      })
    })
}
