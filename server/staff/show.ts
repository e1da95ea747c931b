import { withDatabase } from '../database/open-database.ts'
import { enquiryFields, columns as fieldColumns, toEnquiry } from '../enquiries/enquiry.ts'
import { ageInWords, count, inIndia } from '../words.ts'
import { type Command, parse, UsageError } from './command.ts'
import { findByReference, readReference } from './find-enquiry.ts'
import { adviceOn } from './mail-advice.ts'
import { onOneLine } from './terminal-table.ts'

const LABEL_WIDTH = 16

export const showCommand: Command = {
  summary: 'show everything of one enquiry',
  help: `Usage: npm run -s staff -- show REFERENCE

The reference in capital or small letters, with or without its beginning: QV-7K3M9P, qv-7k3m9p, 7k3m9p.`,
  login: "quvera_readonly or the tables' owner",
  async run(args, env) {
    const [text, ...rest] = parse(args, {}, { positionals: true }).positionals
    if (text === undefined || rest.length > 0) throw new UsageError('Name one reference')
    const reference = readReference(text)
    await withDatabase(env(), async ({ db }) => {
      for (const row of await findByReference(db, [reference])) showEnquiry(row)
    })
  },
}

type Row = Awaited<ReturnType<typeof findByReference>>[number]
type Mail = Row['mails'][number]

function showEnquiry(row: Row): void {
  const enquiry = toEnquiry(row)
  const age = ageInWords((Date.now() - row.receivedAt.getTime()) / 1000)
  const lines: [label: string, value: string][] = [
    ['Reference', row.reference],
    ['Received', `${inIndia(row.receivedAt)}, ${age} ago`],
    ['Status', row.status],
    ...enquiryFields.map((field): [string, string] => [fieldColumns[field], enquiry[field]]),
    ['SuspectedSpam', row.suspectedSpam ? 'yes: it looks as if a program sent it, so it got no acknowledgement' : 'no'],
    ['Note', row.note ?? '-'],
    ['NoticeVersion', row.noticeVersion],
    ['Id', row.id],
    ...row.mails.flatMap(mailLines),
  ]
  for (const [label, value] of lines) console.log(`${label.padEnd(LABEL_WIDTH)}${onOneLine(value)}`)
  for (const advice of row.mails.map((mail) => adviceOn(mail, row))) if (advice) console.log(`\n${advice}`)
}

/** `Mail 87   Acknowledgement: Bounced, sent 09 Nov 2026 18:13 IST, 1 try`, and the reason below. */
function mailLines({ id, kind, status, sentAt, nextAttemptAt, attempts, lastError }: Mail): [string, string][] {
  const when = [
    ...(status === 'Pending' ? [`next try ${inIndia(nextAttemptAt)}`] : []),
    ...(sentAt ? [`sent ${inIndia(sentAt)}`] : []),
    count(attempts, 'try', 'tries'),
  ]
  return [
    [`Mail ${id}`, `${kind}: ${[status, ...when].join(', ')}`],
    ...(lastError ? [['', lastError] as [string, string]] : []),
  ]
}
