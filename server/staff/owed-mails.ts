import type { Db } from '../database/database.ts'
import { readOldestNew } from '../enquiries/oldest-new.ts'
import { scrub } from '../errors.ts'
import { readBacklog } from '../mail/owed.ts'
import { readHold } from '../mail/plan.ts'
import { heldBack, kinds, type MailFilter, own, statesThat, unacknowledged, untold } from '../mail/states.ts'
import { ageInWords, count, inIndia, inIndiaShort } from '../words.ts'
import { type Column, printTable } from './terminal-table.ts'

const LIST_MAX = 200

function readMails(db: Db, where: MailFilter, order: 'asc' | 'desc' = 'asc') {
  const include = {
    enquiry: { select: { reference: true, receivedAt: true, name: true, mobile: true } },
    _count: { select: { bundled: true } },
  }
  return db.mail.findMany({ where, include, orderBy: { id: order }, take: LIST_MAX })
}

type Row = Awaited<ReturnType<typeof readMails>>[number]

const id: Column<Row> = { title: 'Id', cell: (row) => String(row.id) }
const reference: Column<Row> = { title: 'Reference', cell: referenceOf }
const received: Column<Row> = {
  title: 'Received',
  cell: ({ enquiry }) => (enquiry ? inIndiaShort(enquiry.receivedAt) : ''),
}
const name: Column<Row> = { title: 'Name', cell: ({ enquiry }) => enquiry?.name ?? '', min: 12, spare: 1 }
const mobile: Column<Row> = { title: 'Mobile', cell: ({ enquiry }) => enquiry?.mobile ?? '' }
const kind: Column<Row> = { title: 'Kind', cell: (row) => kinds[row.kind].short }
const state: Column<Row> = { title: 'State', cell: ({ status }) => status }
const attempts: Column<Row> = { title: 'Attempts', cell: (row) => String(row.attempts), spare: 3 }
const next: Column<Row> = {
  title: 'Next try',
  cell: ({ status, nextAttemptAt }) => (status === 'Pending' ? inIndiaShort(nextAttemptAt) : ''),
  spare: 2,
}
/** Resend may quote the address. */
const reason: Column<Row> = { title: 'Reason', cell: ({ lastError }) => scrub(lastError ?? ''), min: 25 }

function referenceOf({ kind, enquiry, _count }: Row): string {
  return enquiry?.reference ?? (kind === 'Staff' ? count(_count.bundled, 'enquiry', 'enquiries') : '')
}

/** What wants somebody's attention, the worst first. */
export async function listOwedMails(
  db: Db,
  { onlyFailed, hasKey }: Record<'onlyFailed' | 'hasKey', boolean>,
): Promise<void> {
  const owed: MailFilter = {
    ...own,
    status: { in: statesThat('owed').filter((status) => !onlyFailed || status !== 'Pending') },
    NOT: [untold, unacknowledged],
  }
  const undeliveredDigest: MailFilter = { kind: 'Digest', status: { in: statesThat('undelivered') } }
  await printHold(db)
  const sections = [
    await print(db, untold, [id, reference, received, state, reason], {
      head: (n) => `ALARM: nobody has been told of ${count(n, 'enquiry', 'enquiries')}. The notice did not arrive.`,
      advice: `Read each with: staff show REFERENCE. Answer the visitor, then:
staff status REFERENCE Contacted. Put right what keeps mails from STAFF_EMAILS;
staff test-mail ADDRESS tries it. staff mails retry: once more what was refused.`,
    }),
    await print(db, unacknowledged, [id, reference, received, name, mobile, state, reason], {
      head: (n) => `The address is wrong, or takes no mail: ring ${count(n, 'visitor', 'visitors')}.`,
      advice: 'When you have: staff status REFERENCE Contacted',
    }),
    await print(db, { OR: [owed, undeliveredDigest] }, [id, reference, received, kind, state, attempts, next, reason], {
      head: (n) => `${count(n, 'mail is', 'mails are')} ${onlyFailed ? 'not sent and not tried again' : 'not sent'}.`,
      advice:
        'Pending goes out by itself once RESEND_API_KEY is set. Anything else: staff mails retry, or nothing if somebody has dealt with it.',
    }),
    await print(db, { ...own, ...heldBack }, [id, reference, received, kind, state], {
      head: (n) => `${count(n, 'mail is', 'mails are')} held back since a restore: sent after the backup, or not yet.`,
      advice: "Look into Resend's log. staff mails retry --restored sends them.",
    }),
  ]
  if (!sections.includes(true)) console.log(onlyFailed ? 'No mail has failed.' : 'No mail is owed.')
  await printSummary(db, hasKey)
}

/** The newest mails, whatever became of them. */
export async function listAllMails(db: Db): Promise<void> {
  const rows = await readMails(db, {}, 'desc')
  printTable([id, reference, received, kind, state, attempts, next, reason], rows)
  const more = (await db.mail.count()) - rows.length
  if (more > 0) console.log(`and ${count(more, 'older one', 'older ones')}`)
}

interface Words {
  head(number: number): string
  advice?: string
}

async function print(db: Db, where: MailFilter, columns: Column<Row>[], { head, advice }: Words): Promise<boolean> {
  const total = await db.mail.count({ where })
  if (total === 0) return false
  const rows = await readMails(db, where)
  console.log(head(total))
  printTable(columns, rows)
  if (total > rows.length) console.log(`and ${count(total - rows.length, 'more', 'more')}`)
  console.log(advice ? `${advice}\n` : '')
  return true
}

async function printHold(db: Db) {
  const until = await readHold(db)
  if (until)
    console.log(`Acknowledgements are held until ${inIndia(until)}: too many of the last ones were turned away.
staff list shows the addresses; staff mails release lets them go before.\n`)
}

async function printSummary(db: Db, hasKey: boolean) {
  const { pending, failed, unknown, oldestPendingSeconds } = await readBacklog(db)
  if (pending + failed + unknown > 0) {
    const age = pending > 0 ? `, the oldest for ${ageInWords(oldestPendingSeconds)}` : ''
    console.log(`Mails: ${pending} pending${age}; ${failed} failed; ${unknown} unknown.`)
  }
  if (pending > 0 && !hasKey) console.log('RESEND_API_KEY is not set here: unless the site has one, they wait.')
  const oldest = await readOldestNew(db)
  if (oldest) {
    const waiting = `${count(oldest.count, 'enquiry is', 'enquiries are')} still New`
    console.log(`${waiting}, the oldest for ${ageInWords(oldest.seconds)}: ${oldest.reference} (staff list --new)`)
  }
}
