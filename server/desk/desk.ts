import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { pipeline, type Readable } from 'node:stream'
import type * as z from 'zod/mini'
import { createCsv } from '../csv.ts'
import { type Db, TRANSACTION } from '../database/database.ts'
import { BY_PHONE, columnsOf, createReference, type Enquiry, insertForm, readEnquiries } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import {
  addEntry,
  type Entry,
  isKeyOfAnother,
  mayBeTakenBack,
  presentOf,
  readHistory,
  TAKEN_BACK,
  takeBack,
} from '../database/history.ts'
import type { Env } from '../env.ts'
import { RequestError } from '../http/errors.ts'
import { createTurns } from '../http/turns.ts'
import { describeChosen, listReferences } from '../operations/access-log.ts'
import { readHoldings } from '../operations/person.ts'
import { readRecords, recordColumns } from '../operations/records.ts'
import { type byPhone, type ChangeName, changes } from './changes.ts'
import { isChosen } from './chosen.ts'
import { conflict } from './history.ts'
import { describeHeld } from './holdings.ts'
import type { Choice, inputs, takeBackInput } from './inputs.ts'
import { readPulse } from './pulse.ts'
import { isOfSamePerson, notFound, type Row, readEnquiry, readList, readRowsOf, withReleases } from './reading.ts'
import { createRecorder } from './recorder.ts'
import { countSessions, nameOf, type Session } from './sessions.ts'

/*
 * What the desk does for a session. What is shown has a line in the access log first, or is not shown; for lists and searches
 * recorder.ts says how often. A change is one transaction with that line and its entry in the history. The same key again changes
 * nothing and gets the same answer.
 */

const KEY_OF_ANOTHER = 'Another change has this key: nothing was changed. Load the page anew.'

type Input<Name extends keyof typeof inputs> = z.infer<(typeof inputs)[Name]>
export type ChangeInput<Name extends ChangeName> = z.infer<(typeof changes)[Name]['input']>

export type Desk = ReturnType<typeof createDesk>

interface DeskOptions {
  /** Runs after a change that made mails due. */
  onQueued(): void
  /** What somebody has to mend. */
  readProblems(): Promise<string[]>
  /** Of the page: another one means that the server has a newer page. */
  version: string
}

export function createDesk(db: Db, env: Env, { onQueued, readProblems, version }: DeskOptions) {
  const { record, recordList, recordPulse, recordSearch } = createRecorder(db)
  /** A search reads all enquiries: a session has one at a time, and one whose text was typed on is not begun. */
  const inTurn = createTurns()

  interface Locked {
    db: Prisma.TransactionClient
    enquiry: Enquiry
    entries: Entry[]
    author: { who: string; key: string }
  }

  /**
   * Locks the enquiries in the order of their ids, so that what `work` checks holds until it is committed and two changes cannot
   * lock each other out. Leaves out those that have an entry of this key.
   * @returns the references
   */
  async function change(
    session: Session,
    { key, where, command, count }: { key: string; where: Prisma.Sql; command: string; count?: number },
    work: (locked: Locked) => Promise<unknown>,
  ): Promise<string[]> {
    const author = { who: nameOf(session), key }
    let current = '' // about which one is refused
    const changed = db.$transaction(async (transaction) => {
      const locked = Prisma.sql`WHERE ${where} ORDER BY form."Id" FOR NO KEY UPDATE`
      const enquiries = await readEnquiries(transaction, locked)
      if (enquiries.length < (count ?? 1)) throw notFound()
      current = listReferences(enquiries)
      const ids = enquiries.map(({ id }) => id)
      const history = await readHistory(transaction, ids)
      if (await isKeyOfAnother(transaction, author)) throw new RequestError(409, KEY_OF_ANOTHER)
      for (const enquiry of enquiries) {
        const entries = history.get(enquiry.id) ?? []
        if (entries.some((entry) => entry.key === key)) continue
        current = enquiry.reference
        await work({ db: transaction, enquiry, entries, author })
      }
      await record(transaction, session, command, listReferences(enquiries))
      return enquiries.map(({ reference }) => reference)
    }, TRANSACTION)
    return changed.catch(async (error: unknown) => {
      // The refusal says how the enquiry is now.
      if (error instanceof RequestError && error.statusCode === 409) await record(db, session, 'desk refused', current)
      throw error
    })
  }

  return {
    record,

    /** @param isGone whether nobody waits for the answer any more */
    async list(session: Session, input: Input<'list'>, isGone?: () => boolean) {
      const isSearch = Boolean(input.text?.trim())
      const read = () => readList(db, input)
      const list = await (isSearch ? inTurn(session.hash, read, isGone) : read())
      // Nobody goes on to a further page while typing.
      await (isSearch && !input.before ? recordSearch(session, list.enquiries) : recordList(session, list.enquiries))
      return list
    },

    async pulse(session: Session, { showing, newest }: Input<'pulse'>) {
      const [pulse, rows, problems, browsers] = await Promise.all([
        readPulse(db, newest),
        showing.length > 0 ? readRowsOf(db, showing) : [],
        readProblems(),
        countSessions(db, session),
      ])
      if (rows.length > 0) await recordPulse(session, rows)
      return { ...pulse, rows, problems, browsers, version, you: nameOf(session) }
    },

    async show(session: Session, { reference }: Input<'show'>) {
      const enquiry = await readEnquiry(db, reference)
      await record(db, session, 'desk show', listReferences([enquiry, ...enquiry.earlier]))
      return enquiry
    },

    /** What we hold of the person of an enquiry, as `staff export --person` writes it, and what was done in words. */
    async person(session: Session, { reference }: Input<'person'>) {
      const [enquiry] = await readEnquiries(db, Prisma.sql`WHERE form."Reference" = ${reference}`)
      if (!enquiry) throw notFound()
      const held = await readHoldings(db, isOfSamePerson(enquiry), enquiry.email)
      const references = held.enquiries.map(({ Reference: reference }) => ({ reference }))
      await record(db, session, 'desk person', listReferences(references))
      const history = await readHistory(
        db,
        held.enquiries.map(({ Id: id }) => id),
      )
      const told = held.enquiries.map(
        (each) => [each.Reference, describeHeld(each, history.get(each.Id) ?? [])] as const,
      )
      const { email, mobile } = enquiry
      const exportedAt = new Date().toISOString()
      return { person: { email, mobile }, exportedAt, ...held, told: Object.fromEntries(told) }
    },

    /** A failure while it is read destroys the stream. */
    async export(session: Session, choice: Choice): Promise<Readable> {
      const isWanted = isChosen(choice)
      const where = choice.state === 'spam' ? isWanted : Prisma.sql`${isWanted} AND NOT form."SuspectedSpam"`
      const reading = <T>(read: () => Promise<T>) => (choice.text?.trim() ? inTurn(session.hash, read) : read())
      await record(db, session, 'desk export', await reading(() => describeChosen(db, where)))
      const records = readRecords(db, where, choice.order ?? 'newest', reading)
      return pipeline(records, createCsv(recordColumns), () => {}) // whoever reads it gets the error
    },

    async change<Name extends ChangeName>(session: Session, name: Name, input: ChangeInput<Name>): Promise<Row[]> {
      const { what, seen, work } = changes[name] as (typeof changes)['setStatus'] // as one of them: their inputs differ
      const references = 'references' in input ? [...new Set(input.references)] : [input.reference]
      const given = input as ChangeInput<'setStatus'>
      const where = Prisma.sql`form."Reference" = ANY(${references})`
      const command = `desk ${what.toLowerCase()}`
      const now = new Date()
      await change(session, { key: input.key, where, command, count: references.length }, async (locked) => {
        const { enquiry, entries, author } = locked
        const present = presentOf(enquiry)
        const saw = seen?.(given) ?? {}
        const changed = Object.keys(saw).filter((column) => String(saw[column]) !== String(present[column]))
        if (changed.length > 0) throw conflict(enquiry, entries, changed, author.who)
        const entry = await work({ ...locked, recipients: env, now }, given)
        if (entry) await addEntry(locked.db, enquiry.id, author, { what, ...entry })
      })
      setImmediate(onQueued)
      const rows = await readRowsOf(db, references)
      return name === 'setSpam' ? withReleases(db, rows) : rows
    },

    /** All that a change did, or, of what was taken back, puts it back. */
    async takeBack(session: Session, { key, of }: z.infer<typeof takeBackInput>): Promise<Row[]> {
      const where = Prisma.sql`form."Id" IN (SELECT "EnquiryId" FROM "Quvera_History" WHERE "Key" = ${of}::uuid)`
      const references = await change(session, { key, where, command: 'desk take back' }, async (locked) => {
        const { enquiry, entries, author } = locked
        const named = entries.find((entry) => entry.key === of)
        const original = named?.takesBack ? entries.find((entry) => entry.key === named.takesBack) : named
        if (!original || !mayBeTakenBack(original)) throw new RequestError(400, 'This cannot be taken back.')
        // Pressed by two: the second press must not undo the first.
        const isDone = original.isTakenBack === (named?.what !== TAKEN_BACK)
        if (isDone) throw conflict(enquiry, entries, Object.keys(original.after ?? {}), author.who)
        const lost = await takeBack(locked.db, enquiry, author, original, entries)
        if (lost) throw conflict(enquiry, entries, [lost], author.who)
        const entry = Object.values(changes).find(({ what }) => what === original.what)
        await entry?.undone?.({ ...locked, recipients: env, now: new Date() }, original)
      })
      setImmediate(onQueued)
      return readRowsOf(db, references)
    },

    /** By phone: without mails, and answered already. Its key is its submission key. */
    async add(session: Session, { key, note, ...content }: z.infer<typeof byPhone>): Promise<Row[]> {
      // Its own key would tell the submission key to who reads the history.
      const author = { who: nameOf(session), key: randomUUID() }
      const reference = await db.$transaction(async (transaction) => {
        const own = { Id: randomUUIDv7(), Reference: createReference(), SubmissionKey: key, NoticeVersion: BY_PHONE }
        const inserted = await transaction.$executeRaw(
          insertForm([{ ...own, SuspectedSpam: false, ...columnsOf(content) }]),
        )
        const [stored] = await readEnquiries(transaction, Prisma.sql`WHERE form."SubmissionKey" = ${key}::uuid`)
        if (!stored) throw new RequestError(503, 'It could not be stored. Try again.')
        if (inserted > 0) {
          await addEntry(transaction, stored.id, author, { what: 'By phone', set: { Status: 'Contacted' } })
          if (note)
            await addEntry(transaction, stored.id, { ...author, key: randomUUID() }, { what: 'Note', text: note })
        } else {
          const [first] = (await readHistory(transaction, [stored.id])).get(stored.id) ?? []
          if (first?.what !== 'By phone' || first.who !== author.who) throw new RequestError(409, KEY_OF_ANOTHER)
        }
        await record(transaction, session, 'desk add', stored.reference)
        return stored.reference
      }, TRANSACTION)
      return readRowsOf(db, [reference])
    },
  }
}
