import { formatIndianTime } from '../../shared/indian-time.ts'
import { orderFieldNames, orderFields } from '../../shared/order.ts'
import { columnOf } from '../database/enquiry.ts'
import type { Entry } from '../database/history.ts'
import type { HeldEnquiry, HeldMail } from '../operations/person.ts'
import { changes } from './changes.ts'
import { describeEntry } from './history.ts'
import { meaningOf, toVisitor } from './mails.ts'

/* What we hold of an enquiry, the main of it in words for the person themselves. */

const TOLD: string[] = [changes.addNote, changes.addCall, changes.correct, changes.accept].map(({ what }) => what)

/** Times with their day, as the sheet is read later. */
export function describeHeld(held: HeldEnquiry, entries: Entry[]) {
  const said = entries.filter(({ what, isTakenBack }) => TOLD.includes(what) && !isTakenBack)
  const mails = held.Mails.filter(({ Kind }) => toVisitor.includes(Kind))
  const lines = [
    ...said.map((entry) => ({ at: entry.at, text: describeEntry(entry, entries) })),
    ...mails.map((mail) => ({ at: new Date(mail.SentAt ?? mail.QueuedAt), text: describeMail(mail) })),
  ].sort((one, other) => one.at.getTime() - other.at.getTime())
  return {
    receivedAt: formatIndianTime(new Date(held.ReceivedAt)),
    fields: [
      ...orderFieldNames.map((name) => ({ label: orderFields[name].label, value: String(held[columnOf[name]]) })),
      { label: 'State', value: [held.Status, held.ClosedAs].filter(Boolean).join(', ') },
      ...(held.RemindOn ? [{ label: 'To be rung on', value: held.RemindOn }] : []),
    ],
    lines: lines.map(({ at, text }) => ({ at: formatIndianTime(at), text })),
  }
}

function describeMail({
  Kind: kind,
  To: to,
  Status: status,
  WithheldBecause: because,
  LastError: lastError,
}: HeldMail) {
  return meaningOf({ kind, to, status, because, lastError })
}
