import type { DeskStatus } from '../../shared/desk.ts'
import { NOTES_MAX } from '../../shared/desk.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import { retryDeadlock } from '../database/deadlock.ts'
import { markSpam, type Recipients, releaseSpam } from '../enquiries/insert-enquiries.ts'
import { retryMails } from '../mail/queue.ts'
import { describeLastChange } from './history.ts'
import { notFound } from './reading.ts'
import { recordAccess } from './record-access.ts'
import { DeskRefusal } from './refusal.ts'
import { nameOf, type Session } from './sessions.ts'

/*
 * The actions of the desk, a function each. Each is one transaction: the change, if the row still is what the user saw, its
 * line in the access log and, by a trigger, its history under the name of the session.
 */

type Transaction = Parameters<Parameters<Db['$transaction']>[0]>[0]
interface Row {
  id: string
  reference: string
  status: string
  suspectedSpam: boolean
  note: string | null
}

/** Locks the enquiry, so that what `work` checks holds until it is committed. */
async function change(
  db: Db,
  session: Session,
  { command, reference }: { command: string; reference: string },
  work: (transaction: Transaction, row: Row) => Promise<unknown>,
): Promise<void> {
  const change = () =>
    db.$transaction(async (transaction) => {
      const who = nameOf(session)
      const [row] = await transaction.$queryRaw<Row[]>`
      SELECT "Id"::text AS "id", "Reference" AS "reference", "Status"::text AS "status", "SuspectedSpam" AS "suspectedSpam",
        "Note" AS "note", set_config('quvera.who', ${who}, true)
      FROM "Quvera_Form" WHERE "Reference" = ${reference} FOR NO KEY UPDATE`
      if (!row) throw notFound()
      await work(transaction, row)
      await recordAccess(transaction, { who, command, what: reference })
    })
  await retryDeadlock(change)
}

/** Names the colleague who was faster. */
async function conflict(transaction: Transaction, { id, reference, status, suspectedSpam }: Row, column: string) {
  const last = await describeLastChange(transaction, id, column)
  const state = column === 'Status' ? `Now it is ${status}${suspectedSpam ? ', suspected spam' : ''}.` : ''
  const message = `${reference}: A colleague was faster, and nothing was changed. ${last ? `${last}. ` : ''}${state}`
  return new DeskRefusal('conflict', message.trim())
}

export function setStatus(db: Db, session: Session, input: { reference: string; status: DeskStatus; was: string }) {
  const { reference, status, was } = input
  return change(db, session, { command: 'desk status', reference }, async (transaction, row) => {
    if (row.status !== was) throw await conflict(transaction, row, 'Status')
    await transaction.$executeRaw`
      UPDATE "Quvera_Form" SET "Status" = ${status}::"Quvera_Status" WHERE "Id" = ${row.id}::uuid`
  })
}

/** "Not spam" writes the mails of an order, once. */
export function setSpam(
  db: Db,
  session: Session,
  input: { reference: string; spam: boolean; was: boolean },
  recipients: Recipients,
) {
  const { reference, spam, was } = input
  return change(db, session, { command: 'desk spam', reference }, async (transaction, row) => {
    if (row.suspectedSpam !== was) throw await conflict(transaction, row, 'SuspectedSpam')
    if (spam === was) return
    if (spam) await markSpam(transaction, row.id)
    else await releaseSpam(transaction, row.id, recipients)
  })
}

/** The day in India and the text, as a line. */
function noteLine(text: string): string {
  return `${formatIndianTime(new Date()).slice(0, 11)}: ${text}`
}

export function addNote(db: Db, session: Session, { reference, text }: { reference: string; text: string }) {
  return change(db, session, { command: 'desk note', reference }, async (transaction, row) => {
    const added = await transaction.$executeRaw`
      UPDATE "Quvera_Form" SET "Note" = concat_ws(E'\n', nullif("Note", ''), ${noteLine(text)}::text)
      WHERE "Id" = ${row.id}::uuid AND char_length(concat_ws(E'\n', nullif("Note", ''), ${noteLine(text)}::text)) <= ${NOTES_MAX}`
    if (added === 0)
      throw new DeskRefusal(
        'invalid',
        `All notes of an enquiry have at most ${NOTES_MAX} characters: remove the note first.`,
      )
  })
}

/** The history loses the texts, too: they may tell of another person. */
export function removeNote(db: Db, session: Session, { reference, was }: { reference: string; was: string }) {
  return change(db, session, { command: 'desk note', reference }, async (transaction, row) => {
    if ((row.note ?? '') !== was) throw await conflict(transaction, row, 'Note')
    await transaction.$executeRaw`UPDATE "Quvera_Form" SET "Note" = NULL WHERE "Id" = ${row.id}::uuid`
  })
}

/** Allows what `staff mails retry` does, by the same function. */
export async function sendAgain(db: Db, session: Session, { mail }: { mail: string }) {
  const [found] = await db.$queryRaw<{ reference: string }[]>`
    SELECT "Reference" AS "reference" FROM "Quvera_Mail" mail JOIN "Quvera_Form" form ON form."Id" = mail."EnquiryId"
    WHERE mail."Id" = ${mail}::bigint`
  if (!found) throw new DeskRefusal('missing', 'There is no such mail. Perhaps its enquiry was erased.')
  await change(db, session, { command: 'desk send again', ...found }, async (transaction) => {
    if ((await retryMails(transaction, [BigInt(mail)])) === 0)
      throw new DeskRefusal('conflict', 'This mail is on its way already, or may not be sent again.')
  })
}

/** Rang, no answer: counts, and adds a line to the note while there is room. The status stays. */
export function addCall(db: Db, session: Session, { reference }: { reference: string }) {
  const line = noteLine('rang, no answer')
  return change(
    db,
    session,
    { command: 'desk call', reference },
    (transaction, row) => transaction.$executeRaw`
      UPDATE "Quvera_Form" SET "Calls" = "Calls" + 1,
        "Note" = CASE WHEN char_length(coalesce("Note", '')) <= ${NOTES_MAX - line.length - 1}
          THEN concat_ws(E'\n', nullif("Note", ''), ${line}::text) ELSE "Note" END
      WHERE "Id" = ${row.id}::uuid`,
  )
}
