import { hash } from 'node:crypto'
import { pipeline, type Readable } from 'node:stream'
import type * as z from 'zod/mini'
import { NOTES_MAX } from '../../shared/desk.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { createCsv } from '../csv.ts'
import type { Db } from '../database/database.ts'
import { type Enquiry, readEnquiries } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import type { Env } from '../env.ts'
import { RequestError } from '../http/errors.ts'
import { markSpam, recipientsOf, releaseSpam } from '../mail/of-enquiry.ts'
import { retryMails } from '../mail/queue.ts'
import { describeChosen, listReferences, recordAccess } from '../operations/access-log.ts'
import { readRecords, recordColumns } from '../operations/records.ts'
import { describeLastChange } from './history.ts'
import type { Choice, inputs } from './inputs.ts'
import { chosen, notFound, readEnquiry, readList } from './reading.ts'
import { countSessions, nameOf, type Session } from './sessions.ts'

/*
 * What the desk does for a session. Everything that is shown has a line in the access log first, or is not shown. A change is
 * one transaction: the change, if the row still is what the user saw, its line in the access log and, by a trigger, its history
 * under the name of the session.
 */

/** A list that stays the same is recorded again after this time: the page reads it anew whenever one comes back to it. */
const RECORDED_AGAIN_MS = 60 * 60_000

type Input<Name extends keyof typeof inputs> = z.infer<(typeof inputs)[Name]>

export type Desk = ReturnType<typeof createDesk>

interface DeskOptions {
  /** Runs after a change that made mails due. */
  onQueued(): void
  /** What somebody has to mend. */
  readProblems(): Promise<string[]>
}

export function createDesk(db: Db, env: Env, { onQueued, readProblems }: DeskOptions) {
  const recipients = recipientsOf(env)
  /** By session and list: when it was recorded. Forgotten with the process. */
  const recorded = new Map<string, number>()

  /** @throws RequestError where the line cannot be written, as on a full disk: then nothing is shown or changed */
  async function record(to: Pick<Db, 'access'>, session: Omit<Session, 'hash'>, command: string, what: string) {
    await recordAccess(to, { who: nameOf(session), command, what }).catch((cause) => {
      const message = 'The access log cannot be written, so nothing is shown or changed.'
      throw new RequestError(503, message, { cause })
    })
  }

  async function recordList(session: Session, rows: { reference: string }[]) {
    const references = rows.map(({ reference }) => reference).join()
    const key = hash('sha256', `${session.hash} ${references}`)
    const now = performance.now()
    if (now - (recorded.get(key) ?? Number.NEGATIVE_INFINITY) < RECORDED_AGAIN_MS) return
    await record(db, session, 'desk list', listReferences(rows))
    for (const [old, at] of recorded) if (now - at >= RECORDED_AGAIN_MS) recorded.delete(old)
    recorded.set(key, now)
  }

  /** Locks the enquiry, so that what `work` checks holds until it is committed. */
  function change(
    session: Session,
    command: string,
    reference: string,
    work: (transaction: Prisma.TransactionClient, enquiry: Enquiry) => Promise<unknown>,
  ): Promise<void> {
    return db.$transaction(async (transaction) => {
      await transaction.$executeRaw`SELECT set_config('quvera.who', ${nameOf(session)}, true)`
      const isIt = Prisma.sql`WHERE form."Reference" = ${reference} FOR NO KEY UPDATE`
      const [enquiry] = await readEnquiries(transaction, isIt)
      if (!enquiry) throw notFound()
      await work(transaction, enquiry)
      await record(transaction, session, command, reference)
    })
  }

  return {
    record,

    async list(session: Session, input: Input<'list'>) {
      const [list, problems, browsers] = await Promise.all([
        readList(db, input),
        readProblems(),
        countSessions(db, session),
      ])
      await recordList(session, list.enquiries)
      return { ...list, problems, you: nameOf(session), browsers }
    },

    async show(session: Session, { reference }: Input<'show'>) {
      const enquiry = await readEnquiry(db, reference)
      await record(db, session, 'desk show', listReferences([enquiry, ...enquiry.earlier]))
      return enquiry
    },

    /** A failure while it is read destroys the stream. */
    async export(session: Session, choice: Choice): Promise<Readable> {
      const where = chosen(choice)
      await record(db, session, 'desk export', await describeChosen(db, where))
      const records = readRecords(db, where, choice.order ?? 'newest')
      return pipeline(records, createCsv(recordColumns), () => {}) // whoever reads it gets the error
    },

    setStatus: (session: Session, { reference, status, was }: Input<'setStatus'>) =>
      change(session, 'desk status', reference, async (transaction, enquiry) => {
        if (enquiry.status !== was) throw await conflict(transaction, enquiry, 'Status')
        await transaction.$executeRaw`
          UPDATE "Quvera_Form" SET "Status" = ${status}::"Quvera_Status" WHERE "Id" = ${enquiry.id}::uuid`
      }),

    /** "Not spam" writes the mails of an order, once. */
    async setSpam(session: Session, { reference, spam, was }: Input<'setSpam'>) {
      await change(session, 'desk spam', reference, async (transaction, enquiry) => {
        if (enquiry.suspectedSpam !== was) throw await conflict(transaction, enquiry, 'SuspectedSpam')
        if (spam === was) return
        if (spam) await markSpam(transaction, enquiry.id)
        else await releaseSpam(transaction, enquiry.id, recipients)
      })
      setImmediate(onQueued)
    },

    addNote: (session: Session, { reference, text }: Input<'addNote'>) =>
      change(session, 'desk note', reference, async (transaction, { id }) => {
        const line = noteLine(text)
        const added = await transaction.$executeRaw`
          UPDATE "Quvera_Form" SET "Note" = concat_ws(E'\n', nullif("Note", ''), ${line}::text)
          WHERE "Id" = ${id}::uuid AND char_length(concat_ws(E'\n', nullif("Note", ''), ${line}::text)) <= ${NOTES_MAX}`
        if (added > 0) return
        const message = `All notes of an enquiry have at most ${NOTES_MAX} characters: remove the note first.`
        throw new RequestError(400, message)
      }),

    /** The history loses the texts, too: they may tell of another person. */
    removeNote: (session: Session, { reference, was }: Input<'removeNote'>) =>
      change(session, 'desk note', reference, async (transaction, enquiry) => {
        if ((enquiry.note ?? '') !== was) throw await conflict(transaction, enquiry, 'Note')
        await transaction.$executeRaw`UPDATE "Quvera_Form" SET "Note" = NULL WHERE "Id" = ${enquiry.id}::uuid`
      }),

    /** Rang, no answer: counts, and adds a line to the note while there is room. The status stays. */
    addCall: (session: Session, { reference }: Input<'addCall'>) =>
      change(session, 'desk call', reference, async (transaction, { id }) => {
        const line = noteLine('rang, no answer')
        await transaction.$executeRaw`
          UPDATE "Quvera_Form" SET "Calls" = "Calls" + 1,
            "Note" = CASE WHEN char_length(coalesce("Note", '')) <= ${NOTES_MAX - line.length - 1}
              THEN concat_ws(E'\n', nullif("Note", ''), ${line}::text) ELSE "Note" END
          WHERE "Id" = ${id}::uuid`
      }),

    /** Allows what `staff mails retry` does, by the same function. */
    async sendAgain(session: Session, { mail }: Input<'sendAgain'>) {
      const found = await db.mail.findUnique({
        where: { id: BigInt(mail) },
        select: { enquiry: { select: { reference: true } } },
      })
      if (!found?.enquiry) throw new RequestError(404, 'There is no such mail. Perhaps its enquiry was erased.')
      await change(session, 'desk send again', found.enquiry.reference, async (transaction) => {
        if ((await retryMails(transaction, [BigInt(mail)])) === 0)
          throw new RequestError(409, 'This mail is on its way already, or may not be sent again.')
      })
      setImmediate(onQueued)
    },
  }
}

/** Names the colleague who was faster. */
async function conflict(
  transaction: Prisma.TransactionClient,
  enquiry: Enquiry,
  column: 'Status' | 'SuspectedSpam' | 'Note',
) {
  const { id, reference, status, suspectedSpam } = enquiry
  const last = await describeLastChange(transaction, id, column)
  const state = column === 'Status' ? `Now it is ${status}${suspectedSpam ? ', suspected spam' : ''}.` : ''
  const message = `${reference}: A colleague was faster, and nothing was changed. ${last ? `${last}. ` : ''}${state}`
  return new RequestError(409, message.trim())
}

/** The day in India and the text, as a line. */
function noteLine(text: string): string {
  return `${formatIndianTime(new Date()).slice(0, 11)}: ${text}`
}
