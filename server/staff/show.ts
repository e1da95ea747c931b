import { enquiryFields, columns as fieldColumns, toEnquiry } from '../enquiries/enquiry.ts'
import { states, TOO_OLD } from '../mail/states.ts'
import { ageInWords, count, inIndia } from '../words.ts'
import { findByReference, readReferences } from './input.ts'
import { type AddCommand, onOneLine, type Terminal } from './output.ts'

const LABEL_WIDTH = 16
const SPAM = 'yes: it looks as if a program sent it, so it got no acknowledgement'

export function showCommand(add: AddCommand, terminal: Terminal) {
  const { print } = terminal
  add('show')
    .summary('show everything of one enquiry')
    .argument(
      '<reference...>',
      'in capital or small letters, with or without its beginning: QV-7K3M9P, qv 7k3m9p, 7k3m9p',
    )
    .action(async (words: string[]) => {
      const references = readReferences([words.join(' ')])
      await terminal.onDatabase(async (db) => {
        const rows = await findByReference(db, references)
        await terminal.noteAccess(db, rows)
        for (const line of rows.flatMap(toLines)) print(line)
      })
    })
}

type Row = Awaited<ReturnType<typeof findByReference>>[number]
type Mail = Row['mails'][number]

function line(label: string, value: string): string {
  return label.padEnd(LABEL_WIDTH) + onOneLine(value)
}

function toLines(row: Row): string[] {
  const enquiry = toEnquiry(row)
  const age = ageInWords((Date.now() - row.receivedAt.getTime()) / 1000)
  return [
    line('Reference', row.reference),
    line('Received', `${inIndia(row.receivedAt)}, ${age} ago`),
    line('Status', row.status),
    ...enquiryFields.map((field) => line(fieldColumns[field], enquiry[field])),
    line('SuspectedSpam', row.suspectedSpam ? SPAM : 'no'),
    line('Note', row.note ?? '-'),
    line('NoticeVersion', row.noticeVersion),
    line('Id', row.id),
    ...row.mails.flatMap(mailLines),
    ...row.history.map(changeLine),
    ...row.mails.flatMap((mail) => adviceOn(mail, row) ?? []).map((advice) => `\n${advice}`),
  ]
}

/** `Mail 87   Acknowledgement: Bounced, sent 09 Nov 2026 18:13 IST, 1 try`, and the reason below. */
function mailLines({ id, kind, status, sentAt, nextAttemptAt, attempts, lastError, bundledInto }: Mail) {
  const when = [
    ...(status === 'Pending' && !bundledInto ? [`next try ${inIndia(nextAttemptAt)}`] : []),
    ...(sentAt ? [`sent ${inIndia(sentAt)}`] : []),
    bundledInto ? `together with others in mail ${bundledInto}` : count(attempts, 'try', 'tries'),
  ]
  const told = line(`Mail ${id}`, `${kind}: ${[status, ...when].join(', ')}`)
  return lastError ? [told, line('', lastError)] : [told]
}

function changeLine({ at, role, column, before, after }: Row['history'][number]): string {
  const what = before === after ? 'of a note that was removed' : `${before ?? '-'} → ${after ?? '-'}`
  return line(column, `${what}, ${inIndia(at)}, by ${role}`)
}

/** What staff have to do about a mail, if anything. */
function adviceOn(mail: Mail, { reference, mobile, ...enquiry }: Row): string | undefined {
  const { id, kind, status, lastError } = mail
  if (kind === 'Post')
    return status === 'Failed' ? `NOTIFY_URL was not told of this one; once more: staff mails retry ${id}` : undefined
  const isTooOld = status === 'Withheld' && lastError?.startsWith(TOO_OLD) && enquiry.status === 'New'
  if (states[status].undelivered || (kind === 'Staff' && isTooOld)) {
    if (kind === 'Staff')
      return `The notice of this enquiry did not reach staff. Answer the visitor, then: staff status ${reference} Contacted`
    if (status === 'Complained') return 'The visitor marked the acknowledgement as spam: ring, and write no more.'
    return `The address is wrong, or takes no mail: ring the visitor, ${mobile}.`
  }
  if (status === 'Unknown')
    return `Whether mail ${id} was sent is not known. Look into Resend's log, then: staff mails retry ${id} --include-unknown`
  return undefined
}
