import { withDatabase } from '../database/open-database.ts'
import { enquiryFields, columns as fieldColumns, toEnquiry } from '../enquiries/enquiry.ts'
import { ageInWords, inIndia } from '../words.ts'
import { type Command, parse, UsageError } from './command.ts'
import { adviceOn } from './mail-advice.ts'
import { findByReference, readReference } from './reference.ts'
import { type Column, onOneLine, printTable } from './terminal-table.ts'

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
  ]
  for (const [label, value] of lines) console.log(`${label.padEnd(16)}${onOneLine(value)}`)
  console.log()
  printTable(mailColumns, row.mails)
  for (const advice of row.mails.map((mail) => adviceOn(mail, row))) if (advice) console.log(`\n${advice}`)
}

const mailColumns: Column<Mail>[] = [
  { title: 'Mail', cell: ({ kind }) => kind },
  { title: 'Id', cell: ({ id }) => String(id), spare: 2 },
  { title: 'State', cell: ({ status }) => status },
  { title: 'Attempts', cell: ({ attempts }) => String(attempts), spare: 1 },
  { title: 'When', cell: when },
  { title: 'Reason', cell: ({ lastError }) => lastError ?? '', min: 20 },
]

function when({ sentAt, status, nextAttemptAt }: Mail) {
  if (status === 'Pending') return `next try ${inIndia(nextAttemptAt)}`
  return sentAt ? `sent ${inIndia(sentAt)}` : '-'
}
