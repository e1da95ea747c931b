import type { Db } from '../database/database.ts'
import type { EnquiryStatus } from '../database/generated/enums.ts'
import { enquiryFields, columns as fieldColumns, toEnquiry } from '../enquiries/enquiry.ts'
import { formatAge, formatCount, formatIndianTime } from '../format.ts'
import { IN_SUMMARY, TOO_OLD, undeliveredStates } from '../mail/states.ts'
import { userOf } from './access-log.ts'
import { findByReference, joinReferences, readReferences, readStatus, statusNames, UsageError } from './input.ts'
import { type AddCommand, onOneLine, type Terminal } from './output.ts'

const LABEL_WIDTH = 16
const SPAM = 'yes: it looks as if a program sent it, so it got no acknowledgement'
const NOTE_MAX = 2000

/** What stands beside the status, and is set by the same command. */
const marks: Record<string, { suspectedSpam: boolean }> = {
  spam: { suspectedSpam: true },
  'not-spam': { suspectedSpam: false },
}

export function showCommand(add: AddCommand, terminal: Terminal) {
  const { print } = terminal
  add('show')
    .description('show everything of one enquiry')
    .argument(
      '<reference...>',
      'in capital or small letters, with or without its beginning: QV-7K3M9P, qv 7k3m9p, 7k3m9p',
    )
    .action(async (words: string[]) => {
      const references = readReferences([words.join(' ')])
      await terminal.onDatabase(async (db) => {
        const rows = await findByReference(db, references)
        await terminal.recordAccess(db, rows)
        const summaries = await db.mail.findMany({ where: { id: { in: rows.flatMap(summariesOf) } } })
        for (const row of rows) for (const line of toLines(row, summaries)) print(line)
      })
    })
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
        await terminal.recordAccess(db, rows)
        await updateSigned(terminal, db, rows, change)
        for (const row of rows) {
          const [before, after] = [told(row), told({ ...row, ...change })]
          print(
            `${row.reference}  ${onOneLine(row.name)}: ${before === after ? `is ${after} already` : `${before} → ${after}`}`,
          )
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
      'a line below the note that is there, with the day; "" removes all of it, from the history too',
    )
    .option('--replace', 'the text alone takes the place of the note that is there')
    .description(`Visitors never see it, but a person who asks what is held of them gets it (\`staff export --person\`): write only what
they may read.`)
    .action(async (first: string, others: string[], { replace = false }: { replace?: boolean }) => {
      const [text = '', ...words] = joinReferences([first, ...others.slice(0, 1)]).concat(others.slice(1))
      const references = readReferences([text])
      if (words.length === 0) throw new UsageError('Say what to note')
      const line = onOneLine(words.join(' '))
      if (line.length > NOTE_MAX) throw new UsageError(`A note has at most ${NOTE_MAX} characters`)
      await terminal.onDatabase(async (db) => {
        for (const row of await findByReference(db, references)) {
          const dated = `${formatIndianTime(new Date()).slice(0, 11)}: ${line}`
          const note = !line ? null : replace ? line : [row.note, dated].filter(Boolean).join('\n')
          if (note && note.length > NOTE_MAX) throw new UsageError(`A note has at most ${NOTE_MAX} characters`)
          await terminal.recordAccess(db, [row])
          await updateSigned(terminal, db, [row], { note })
          print(`${row.reference}  ${onOneLine(row.name)}: ${note ? line : 'no note any more'}`)
          if (row.note) print(`Before: ${onOneLine(row.note)}`)
        }
      })
    })
}

/** Changes enquiries, and has the history name who did. */
async function updateSigned(
  { env }: Terminal,
  db: Db,
  rows: { id: string }[],
  data: { note: string | null } | { status: EnquiryStatus } | { suspectedSpam: boolean },
) {
  await db.$transaction([
    db.$executeRaw`SELECT set_config('quvera.who', ${userOf(env())}, true)`,
    db.enquiry.updateMany({ where: { id: { in: rows.map(({ id }) => id) } }, data }),
  ])
}

type Row = Awaited<ReturnType<typeof findByReference>>[number]
type Mail = Row['mails'][number]

function line(label: string, value: string): string {
  return label.padEnd(LABEL_WIDTH) + onOneLine(value)
}

/** The numbers of the summaries that told of this enquiry. */
function summariesOf({ mails }: Row): bigint[] {
  return mails.flatMap(({ lastError }) => {
    const [, id] = lastError?.split(`${IN_SUMMARY} `) ?? []
    return id ? BigInt(Number.parseInt(id, 10)) : []
  })
}

function toLines(row: Row, summaries: Mail[]): string[] {
  const enquiry = toEnquiry(row)
  const age = formatAge((Date.now() - row.receivedAt.getTime()) / 1000)
  return [
    line('Reference', row.reference),
    line('Received', `${formatIndianTime(row.receivedAt)}, ${age} ago`),
    line('Status', row.status),
    ...enquiryFields.map((field) => line(fieldColumns[field], enquiry[field])),
    line('SuspectedSpam', row.suspectedSpam ? SPAM : 'no'),
    ...(row.note ?? '-').split('\n').map((text, index) => line(index === 0 ? 'Note' : '', text)),
    line('NoticeVersion', row.noticeVersion),
    line('Id', row.id),
    ...row.mails.flatMap(mailLines),
    ...summaries.filter(({ id }) => summariesOf(row).includes(id)).flatMap(mailLines),
    ...row.history.map(changeLine),
    ...row.mails.flatMap((mail) => adviceOn(mail, row) ?? []).map((advice) => `\n${advice}`),
  ]
}

/** `Mail 87   Acknowledgement: Bounced, sent 09 Nov 2026 18:13 IST, 1 try`, and the reason below. */
function mailLines({ id, kind, status, triedAt, dueAt, attempts, lastError }: Mail) {
  const isSent = triedAt && !['Pending', 'Withheld', 'Unknown'].includes(status)
  const when = [
    ...(status === 'Pending' ? [dueAt ? `next try ${formatIndianTime(dueAt)}` : 'waits for a summary'] : []),
    ...(isSent ? [`${status === 'Failed' ? 'tried' : 'sent'} ${formatIndianTime(triedAt)}`] : []),
    ...(kind === 'Summary' ? [] : [formatCount(attempts, 'try', 'tries')]),
  ]
  const told = line(`Mail ${id}`, `${kind}: ${[status, ...when].join(', ')}`)
  return lastError ? [told, line('', lastError)] : [told]
}

function changeLine({ at, role, who, column, before, after }: Row['history'][number]): string {
  const what = before === after ? 'of a note that was removed' : `${before ?? '-'} → ${after ?? '-'}`
  return line(column, `${what}, ${formatIndianTime(at)}, by ${who ? `${who}, ` : ''}${role}`)
}

/** What staff have to do about a mail, if anything. */
function adviceOn(mail: Mail, { reference, mobile, ...enquiry }: Row): string | undefined {
  const { id, kind, status, lastError } = mail
  if (kind === 'Post')
    return status === 'Failed' ? `NOTIFY_URL was not told of this one; once more: staff mails retry ${id}` : undefined
  const isTooOld = status === 'Withheld' && lastError?.startsWith(TOO_OLD) && enquiry.status === 'New'
  if (undeliveredStates.includes(status) || (kind === 'Staff' && isTooOld)) {
    if (enquiry.status !== 'New') return undefined // somebody has answered
    if (kind === 'Staff')
      return `The notice of this enquiry did not reach staff. Answer the visitor, then: staff status ${reference} Contacted`
    if (status === 'Complained') return 'The visitor marked the acknowledgement as spam: ring, and write no more.'
    return `The address is wrong, or takes no mail: ring the visitor, ${mobile}.`
  }
  if (status === 'Unknown')
    return `Whether mail ${id} was sent is not known. Look into Resend's log, then: staff mails retry ${id} --include-unknown`
  return undefined
}
