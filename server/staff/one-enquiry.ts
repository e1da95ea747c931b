import { formatIndianTime } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import type { Prisma } from '../database/generated/client.ts'
import type { EnquiryStatus } from '../database/generated/enums.ts'
import { enquiryFields, fieldLabels, toEnquiry } from '../enquiries/enquiry.ts'
import { OperatorError } from '../errors.ts'
import { formatAge, formatCount } from '../format.ts'
import { userOf } from './access-log.ts'
import { choice, findByReference, joinPrefixes, readReferences, statusNames, UsageError } from './input.ts'
import { findIds, mailSections } from './mail-sections.ts'
import { type AddCommand, onOneLine, type Terminal } from './output.ts'

const LABEL_WIDTH = 16
const SPAM = 'yes: marked by the site or by staff; since then no acknowledgement is sent'
const NOTE_MAX = 2000

type Change = { note: string | null } | { status: EnquiryStatus } | { suspectedSpam: boolean }

/** Marks that the command `status` can set, too. */
const marks: Record<string, { suspectedSpam: boolean }> = {
  spam: { suspectedSpam: true },
  'not-spam': { suspectedSpam: false },
}
const statusesAndMarks = [...statusNames, ...Object.keys(marks)]
const readStatusOrMark = choice<EnquiryStatus>('The status', statusesAndMarks)

export function showCommand(add: AddCommand, terminal: Terminal) {
  add('show')
    .description('show everything of one enquiry')
    .argument('<reference...>', 'in capital or small letters, with or without its prefix: QV-7K3M9P, qv 7k3m9p, 7k3m9p')
    .action(async (words: string[]) => {
      const references = readReferences([words.join(' ')])
      await terminal.onDatabase(async (db) => {
        const [row] = await findByReference(db, references)
        if (!row) return
        await terminal.recordAccess(db, [row])
        for (const line of toLines(row)) terminal.print(line)
        for (const { where, advice } of mailSections) {
          const ids = (await findIds(db, { ...where, enquiryId: row.id })).join(' ')
          if (ids) terminal.print(`\n${advice.replace(/\bID\b/g, ids).replaceAll('REFERENCE', row.reference)}`)
        }
      })
    })
}

export function statusCommand(add: AddCommand, terminal: Terminal) {
  add('status')
    .description('set an enquiry to Contacted, Closed or New, or mark it as spam')
    .argument('<words...>', `one or several references, then one of ${statusesAndMarks.join('|')}`)
    .action(async (words: string[]) => {
      if (words.length < 2) throw new UsageError(`Name a reference, then one of: ${statusesAndMarks.join(', ')}`)
      const last = words.at(-1) ?? ''
      const change = marks[last.toLowerCase()] ?? { status: readStatusOrMark(last) }
      const stateOf = (row: { status: string; suspectedSpam: boolean }) =>
        'status' in change ? row.status : row.suspectedSpam ? 'suspected spam' : 'not suspected'
      const references = readReferences(words.slice(0, -1))
      await terminal.onDatabase(async (db) => {
        const rows = await findByReference(db, references)
        await update(terminal, db, rows, change)
        for (const row of rows) {
          const [before, after] = [stateOf(row), stateOf({ ...row, ...change })]
          const result = before === after ? `is ${after} already` : `${before} → ${after}`
          terminal.print(`${row.reference}  ${onOneLine(row.name)}: ${result}`)
        }
      })
    })
}

export function noteCommand(add: AddCommand, terminal: Terminal) {
  const { print } = terminal
  add('note')
    .summary('write a note beside an enquiry, for staff only')
    .argument('<reference>')
    .argument('<text...>', 'is added as a line with the day; "" removes the whole note, from the history too')
    .option('--replace', 'replace the note by the text')
    .description(`Visitors never see it, but a person who asks what is held about them gets it (\`export --person\`): write only what
they may read.`)
    .action(async (first: string, others: string[], { replace = false }: { replace?: boolean }) => {
      // `note QV 7K3M9P text`: only the first two words can be a reference; later ones belong to the note.
      const [reference = '', ...words] = joinPrefixes([first, ...others.slice(0, 1)]).concat(others.slice(1))
      const references = readReferences([reference])
      if (words.length === 0) throw new UsageError('Name the text of the note')
      const added = onOneLine(words.join(' '))
      const tooLong = new UsageError(`A note has at most ${NOTE_MAX} characters`)
      if (added.length > NOTE_MAX) throw tooLong
      await terminal.onDatabase(async (db) => {
        const [row] = await findByReference(db, references)
        if (!row) return
        const dated = `${formatIndianTime(new Date()).slice(0, 11)}: ${added}`
        const note = !added ? null : replace ? added : [row.note, dated].filter(Boolean).join('\n')
        if (note && note.length > NOTE_MAX) throw tooLong
        const changed = await update(terminal, db, [row], { note }, { note: row.note })
        if (changed === 0)
          throw new OperatorError('Somebody else has changed this note meanwhile. Run the command again.')
        print(`${row.reference}  ${onOneLine(row.name)}: ${note ? added : 'the note was removed'}`)
        if (row.note) print(`Before: ${onOneLine(row.note)}`)
      })
    })
}

/**
 * Changes enquiries that still have the `expected` values. The trigger that writes the history reads the user from
 * `quvera.who`.
 * @returns how many
 */
async function update(
  { env, recordAccess }: Terminal,
  db: Db,
  rows: Row[],
  data: Change,
  expected: Prisma.EnquiryWhereInput = {},
) {
  await recordAccess(db, rows)
  const [, { count }] = await db.$transaction([
    db.$executeRaw`SELECT set_config('quvera.who', ${userOf(env())}, true)`,
    db.enquiry.updateMany({ where: { ...expected, id: { in: rows.map(({ id }) => id) } }, data }),
  ])
  return count
}

type Row = Awaited<ReturnType<typeof findByReference>>[number]
type Mail = Row['mails'][number]

function line(label: string, value: string): string {
  return label.padEnd(LABEL_WIDTH) + onOneLine(value)
}

/** A text of several lines, with the label before the first one. */
function textLines(label: string, text: string): string[] {
  return text.split('\n').map((value, index) => line(index === 0 ? label : '', value))
}

function toLines(row: Row): string[] {
  const enquiry = toEnquiry(row)
  const age = formatAge((Date.now() - row.receivedAt.getTime()) / 1000)
  return [
    line('Reference', row.reference),
    line('Received', `${formatIndianTime(row.receivedAt)}, ${age} ago`),
    line('Status', row.status),
    ...enquiryFields.flatMap((field) => textLines(fieldLabels[field], enquiry[field])),
    line('Suspected spam', row.suspectedSpam ? SPAM : 'no'),
    ...textLines('Note', row.note ?? '-'),
    line('Privacy notice', `version ${row.privacyNoticeVersion}`),
    line('Id', row.id),
    ...row.mails.flatMap(mailLines),
    ...row.history.map(changeLine),
  ]
}

/** `Mail 87   Acknowledgement: Bounced, sent 09 Nov 2026 18:13 IST, 1 try`, and the reason on the next line. */
function mailLines({ id, kind, status, triedAt, dueAt, attempts, lastError }: Mail) {
  const isSent = triedAt && !['Pending', 'Withheld', 'Unknown'].includes(status)
  const when = [
    ...(dueAt && status === 'Pending' ? [`next try ${formatIndianTime(dueAt)}`] : []),
    ...(dueAt && status !== 'Pending' ? ['waits for a summary'] : []),
    ...(isSent ? [`${status === 'Failed' ? 'tried' : 'sent'} ${formatIndianTime(triedAt)}`] : []),
    formatCount(attempts, 'try', 'tries'),
  ]
  const state = line(`Mail ${id}`, `${kind}: ${[status, ...when].join(', ')}`)
  return lastError ? [state, line('', lastError)] : [state]
}

function changeLine({ at, role, who, column, before, after }: Row['history'][number]): string {
  const isEmptied = before === null && after === null // by the trigger, when the note was removed
  const what = isEmptied ? 'of a note that was removed' : `${before ?? '-'} → ${after ?? '-'}`
  return line(column, `${what}, ${formatIndianTime(at)}, by ${who ? `${who}, ` : ''}${role}`)
}
