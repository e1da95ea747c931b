// Groups of mails that need something from staff, with what to do about them. The most urgent first.
import type { Db } from '../database/database.ts'
import type { Prisma } from '../database/generated/client.ts'
import { redact } from '../errors.ts'
import { formatCount, staffCommand } from '../format.ts'
import { kinds, NOT_ALONE, rejectedStates, WITHHELD_BY_RESTORE, waitsForSummary } from '../mail/states.ts'
import { undeliveredSummaries } from '../mail/summary.ts'
import { printTable, type Terminal, timeCell } from './output.ts'

export type MailFilter = Prisma.MailWhereInput

const LISTED_MAX = 200

/** By server/database/after-pg-restore.sql, which has the same text. */
export const withheldByRestore = {
  status: 'Withheld',
  lastError: WITHHELD_BY_RESTORE,
} as const satisfies MailFilter

export async function findIds(db: Db, where: MailFilter): Promise<bigint[]> {
  return (await db.mail.findMany({ where, select: { id: true }, orderBy: { id: 'asc' } })).map(({ id }) => id)
}

interface Section {
  title: string
  where: MailFilter
  advice: string
  /** Shows names and mobile numbers. */
  visitors?: true
}

export const mailSections = withoutEarlierSections([
  {
    title: 'ALARM: nobody has been told of these enquiries',
    where: {
      ...waitsForSummary,
      enquiry: { status: 'New' },
      // Left out: those of the section about a restore, below, and those of which the next summary tells.
      NOT: { OR: [withheldByRestore, { status: 'Withheld', lastError: { startsWith: NOT_ALONE } }] },
    },
    advice: `The notice did not reach staff. Answer the visitor, then: ${staffCommand('status REFERENCE Contacted')}. ${staffCommand('check --mail ADDRESS')} tries an address of STAFF_EMAILS.`,
  },
  {
    title: 'ALARM: these summaries did not arrive',
    where: undeliveredSummaries,
    advice: `${staffCommand('list --new')} shows the enquiries. Then: ${staffCommand('mails withhold ID')}`,
  },
  {
    title: 'Visitors to ring',
    where: { kind: 'Acknowledgement', status: { in: rejectedStates }, enquiry: { status: 'New' } },
    visitors: true,
    advice: `The address is wrong, or its owner wants no mail: ring the visitor, then: ${staffCommand('status REFERENCE Contacted')}`,
  },
  {
    title: 'Not sent, and not tried again',
    where: { status: { in: ['Failed', 'Unknown'] } },
    advice: `${staffCommand('mails retry ID')} sends it again, ${staffCommand('mails withhold ID')} takes it off the list. If it is Unknown, look into Resend's log first; retry takes it with --include-unknown.`,
  },
  {
    title: 'Withheld by a restore',
    where: withheldByRestore,
    advice: `Look into Resend's log whether it was sent after the backup. ${staffCommand('mails retry --restored --yes')} sends all of them.`,
  },
  {
    title: 'Pending',
    where: { status: 'Pending' },
    advice: `A pending mail is sent by itself. The first lines of ${staffCommand('mails')} say why it waits.`,
  },
])

/** A mail is listed in the first section whose filter it matches. `NOT` needs a LastError: each Withheld mail has one. */
function withoutEarlierSections(all: Section[]): Section[] {
  return all.map((section, index) => {
    const earlier = all.slice(0, index).map(({ where }) => where)
    return { ...section, where: { AND: section.where, NOT: { OR: earlier } } }
  })
}

/** @returns how many mails it lists */
export async function printSection(terminal: Terminal, db: Db, section: Section): Promise<number> {
  const { where, title, advice, visitors } = section
  const total = await db.mail.count({ where })
  if (total === 0) return 0
  const rows = await db.mail.findMany({ where, include: { enquiry: true }, orderBy: { id: 'asc' }, take: LISTED_MAX })
  if (visitors) await terminal.recordAccess(db, formatCount(rows.length, 'mail', 'mails'))
  terminal.print(`${title} (${total.toLocaleString('en-IN')})`)
  const cells = rows.map(({ id, enquiry, kind, status, dueAt, lastError }) => ({
    Id: String(id),
    Reference: enquiry?.reference ?? '',
    ...(visitors && { Mobile: enquiry?.mobile ?? '', Name: enquiry?.name ?? '' }),
    Kind: kinds[kind].short,
    State: status,
    'Next try IST': status === 'Pending' && dueAt ? timeCell(dueAt) : '',
    'Received IST': enquiry ? timeCell(enquiry.receivedAt) : '',
    Reason: redact(lastError ?? ''), // Resend may quote the address
  }))
  printTable(terminal, cells)
  if (total > rows.length) terminal.print(`and ${total - rows.length} more`)
  terminal.print(`${advice}\n`)
  return total
}
