import { hash } from 'node:crypto'
import { pipeline, type Readable } from 'node:stream'
import type { Db } from '../database/database.ts'
import { describeChosen, listReferences } from '../enquiries/access-log.ts'
import { recipientsOf } from '../enquiries/insert-enquiries.ts'
import { createCsv, readRecords, recordColumns } from '../enquiries/records.ts'
import type { Env } from '../env.ts'
import { readProblems } from '../mail/problems.ts'
import * as changes from './changes.ts'
import { type Choice, chosen, readEnquiry, readList } from './reading.ts'
import { recordAccess } from './record-access.ts'
import { nameOf, type Session } from './sessions.ts'

/** A list that stays the same is recorded again after this time: the page reads it anew whenever one comes back to it. */
const RECORDED_AGAIN_MS = 60 * 60_000

export type Desk = ReturnType<typeof createDesk>

/** What the desk does for a session. Everything that is shown has a line in the access log first, or is not shown. */
export function createDesk(db: Db, env: Env, onQueued: () => void) {
  const recipients = recipientsOf(env)
  /** By session and list: when it was recorded. Forgotten with the process. */
  const recorded = new Map<string, number>()

  async function record(session: Session, command: string, what: string) {
    await recordAccess(db, { who: nameOf(session), command, what })
  }

  async function recordList(session: Session, rows: { reference: string }[]) {
    const references = rows.map(({ reference }) => reference).join()
    const key = hash('sha256', `${session.hash} ${references}`)
    const now = performance.now()
    if (now - (recorded.get(key) ?? Number.NEGATIVE_INFINITY) < RECORDED_AGAIN_MS) return
    await record(session, 'desk list', listReferences(rows))
    for (const [old, at] of recorded) if (now - at >= RECORDED_AGAIN_MS) recorded.delete(old)
    recorded.set(key, now)
  }

  return {
    async list(session: Session, input: Choice & { before?: string | undefined }) {
      const siteSeconds = process.uptime()
      const [list, problems] = await Promise.all([
        readList(db, input),
        readProblems(db, env, { withAddresses: true, siteSeconds }),
      ])
      await recordList(session, list.enquiries)
      return { ...list, problems }
    },
    async show(session: Session, { reference }: { reference: string }) {
      const enquiry = await readEnquiry(db, reference)
      await record(session, 'desk show', listReferences([enquiry, ...enquiry.earlier]))
      return enquiry
    },
    /** A failure while it is read destroys the stream. */
    async export(session: Session, choice: Choice): Promise<Readable> {
      const where = chosen(choice)
      await record(session, 'desk export', await describeChosen(db, where))
      const records = readRecords(db, where, choice.order === 'oldest' ? 'asc' : 'desc')
      return pipeline(records, createCsv(recordColumns), () => {}) // whoever reads it gets the error
    },
    setStatus: (session: Session, input: Parameters<typeof changes.setStatus>[2]) =>
      changes.setStatus(db, session, input),
    async setSpam(session: Session, input: Parameters<typeof changes.setSpam>[2]) {
      await changes.setSpam(db, session, input, recipients)
      setImmediate(onQueued)
    },
    addNote: (session: Session, input: Parameters<typeof changes.addNote>[2]) => changes.addNote(db, session, input),
    removeNote: (session: Session, input: Parameters<typeof changes.removeNote>[2]) =>
      changes.removeNote(db, session, input),
    addCall: (session: Session, input: Parameters<typeof changes.addCall>[2]) => changes.addCall(db, session, input),
    async sendAgain(session: Session, input: { mail: string }) {
      await changes.sendAgain(db, session, input)
      setImmediate(onQueued)
    },
  }
}
