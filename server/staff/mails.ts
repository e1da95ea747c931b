import type { Db } from '../database/database.ts'
import { withDatabase } from '../database/open-database.ts'
import { type Command, count, parse, UsageError } from './command.ts'
import { inIndia } from './indian-time.ts'

const LIST_MAX = 200
const TEXT_MAX = 100
const UNSENT = ['Pending', 'Failed', 'Unknown'] as const

/** Resend has this key with another content: an earlier try may have been sent, so it counts as unknown. */
const OTHER_CONTENT = '409 '

export const mailsCommand: Command = {
  summary: 'list the mails that are owed or failed; send them again',
  help: `Usage: npm run -s staff -- mails [--failed]
       npm run -s staff -- mails retry [ID …] [--include-unknown]

Lists the mails that are not sent: Pending (waits for its next try), Failed (Resend will never take it as it is) and
Unknown. With --failed only the last two.

retry makes mails due now: those named, or all that are Pending or Failed. The running site then sends them.
An Unknown mail may have been sent already: the try had no clear answer, and Resend no longer remembers it. Look into
Resend's log first; with --include-unknown it is sent too, and the receiver may get a second copy.
Mails that are Sent or Withheld are never sent again.`,
  async run(args, env) {
    const { values, positionals } = parse(
      args,
      { failed: { type: 'boolean', default: false }, 'include-unknown': { type: 'boolean', default: false } },
      { positionals: true },
    )
    const [action, ...ids] = positionals
    if (action !== undefined && action !== 'retry') throw new UsageError(`mails cannot "${action}"`)
    const bad = ids.find((id) => !/^\d{1,18}$/.test(id))
    if (bad !== undefined) throw new UsageError(`"${bad}" is not the number of a mail`)
    if (action && values.failed) throw new UsageError('--failed belongs to the list')
    if (!action && values['include-unknown']) throw new UsageError('--include-unknown belongs to retry')
    await withDatabase(env(), ({ db }) =>
      action ? retry(db, ids.map(BigInt), values['include-unknown']) : list(db, values.failed),
    )
  },
}

async function list(db: Db, onlyFailed: boolean) {
  const where = { status: { in: [...UNSENT].filter((status) => !onlyFailed || status !== 'Pending') } }
  const total = await db.mail.count({ where })
  const mails = await db.mail.findMany({
    where,
    orderBy: { id: 'asc' },
    take: LIST_MAX,
    include: { enquiry: { select: { reference: true, receivedAt: true } } },
  })
  if (total === 0) return console.log(onlyFailed ? 'No mail has failed.' : 'No mail is owed.')
  const rows = mails.map((mail) => [
    String(mail.id),
    mail.enquiry?.reference ?? '-',
    mail.enquiry ? inIndia(mail.enquiry.receivedAt) : '-',
    mail.kind,
    mail.status,
    String(mail.attempts),
    mail.status === 'Pending' ? inIndia(mail.nextAttemptAt) : '-',
    (mail.lastError ?? '').slice(0, TEXT_MAX),
  ])
  printTable([['Id', 'Reference', 'Received', 'Kind', 'Status', 'Attempts', 'NextAttemptAt', 'LastError'], ...rows])
  if (total > rows.length) console.log(`and ${count(total - rows.length, 'more', 'more')}`)
}

function printTable(rows: string[][]) {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

async function retry(db: Db, ids: bigint[], includeUnknown: boolean) {
  const named = ids.length > 0 ? { id: { in: ids } } : {}
  const doubtful = {
    OR: [{ status: 'Unknown' as const }, { status: 'Failed' as const, lastError: { startsWith: OTHER_CONTENT } }],
  }
  const due = { status: 'Pending' as const, nextAttemptAt: new Date(), lastError: null }
  const { count: waiting } = await db.mail.updateMany({
    where: { ...named, status: 'Pending' },
    data: { nextAttemptAt: due.nextAttemptAt },
  })
  const { count: failed } = await db.mail.updateMany({
    where: {
      ...named,
      status: 'Failed',
      OR: [{ lastError: null }, { NOT: { lastError: { startsWith: OTHER_CONTENT } } }],
    },
    data: { ...due, ambiguousAt: null },
  })
  const { count: unknown } = includeUnknown
    ? await db.mail.updateMany({ where: { ...named, ...doubtful }, data: { ...due, ambiguousAt: null } })
    : { count: 0 }
  console.log(`${count(waiting + failed + unknown, 'mail is', 'mails are')} due now; the running site sends them.`)

  const left = includeUnknown ? 0 : await db.mail.count({ where: { ...named, ...doubtful } })
  if (left > 0) {
    console.log(
      `Left: ${count(left, 'mail', 'mails')} that may have been sent already. See Resend's log, then --include-unknown.`,
    )
  }
  const others = ids.length - waiting - failed - unknown - left
  if (others > 0) console.log(`Left: ${count(others, 'mail', 'mails')} that are sent, withheld or not there.`)
}
