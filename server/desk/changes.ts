import { randomUUID } from 'node:crypto'
import * as z from 'zod/mini'
import { closingReasons, deskStatuses, RELEASE_SECONDS } from '../../shared/desk.ts'
import { DAY_MS, formatIndianDay, formatIndianTime, parseIndianTime } from '../../shared/indian-time.ts'
import { emailSchema, messages, type OrderField, orderContentSchema } from '../../shared/order.ts'
import { columnOf, columnsOf, type Enquiry, enquiryFields } from '../database/enquiry.ts'
import type { Prisma } from '../database/generated/client.ts'
import {
  type Author,
  addEntry,
  type ColumnValues,
  correct,
  type Entry,
  historyFacts,
  RINGING,
  setErasure,
  UNSUBSCRIBED,
} from '../database/history.ts'
import { RequestError } from '../http/errors.ts'
import {
  acknowledgeAnew,
  hasGoneOutSince,
  type Recipients,
  redirectMails,
  releaseMails,
  tellOfErasure,
  withholdErasureAsked,
  withholdMails,
} from '../mail/of-enquiry.ts'
import { retryMails } from '../mail/queue.ts'
import { day, key, note, reference, references, text } from './inputs.ts'

/*
 * What people at the desk can do with an enquiry: an entry each, from which the router is made (procedures.ts). An entry has its
 * input, the refusal of what is no longer as its user saw it, its work, and its words in the history. desk.ts runs them: it locks
 * the row, adds what `work` returns to the history, and writes the line of the access log.
 */

interface Situation {
  db: Prisma.TransactionClient
  enquiry: Enquiry
  entries: Entry[]
  author: Author & { who: string }
  recipients: Recipients
  now: Date
}

/** What the history gets, with the columns to be set; undefined: nothing, or the work has added it. */
type Work = { set?: ColumnValues; text?: string } | undefined

interface Change<Input> {
  input: z.ZodMiniType<Input>
  /** How history and access log call it. */
  what: string
  /** What its user saw, by column: refused if the enquiry is not like that any more. */
  seen?(input: Input): ColumnValues
  work(situation: Situation, input: Input): Work | Promise<Work>
  /** What follows, but for the columns, where its entry is taken back, or put back: then its `isTakenBack` is true. The enquiry is as it was before. */
  undone?(situation: Situation, entry: Entry): Promise<unknown>
  /** Of an entry in the history. */
  words(entry: Entry): string
}

/** A change's own key, and one or more enquiries. */
const one = z.strictObject({ key, reference })
const many = z.strictObject({ key, references })

/** Infers the input of an entry. */
const change = <Input>(entry: Change<Input>) => entry

/** An enquiry that somebody makes by phone may have no address. */
const email = z
  .string(messages.email)
  .check(z.refine((value) => value === '' || emailSchema.safeParse(value).success, messages.email))
const fields = z.extend(z.omit(orderContentSchema, { productName: true, website: true, filledInMs: true }), { email })
/** As it is stored, perhaps by a newer version. */
const storedFields = z.record(z.string(), z.union([z.string(), z.number()]))

export const byPhone = z.extend(fields, { key, note: z.optional(note) })

export const changes = {
  setStatus: change({
    input: z.extend(many, {
      status: z.enum(deskStatuses),
      was: text(100),
      closedAs: z.optional(z.enum(closingReasons)),
      /** Where the reason of a closed one is given or changed. */
      wasClosedAs: z.optional(z.nullable(text(100))),
    }),
    what: 'Status',
    seen: ({ was, wasClosedAs }) => ({ Status: was, ...(wasClosedAs !== undefined && { ClosedAs: wasClosedAs }) }),
    work({ enquiry: { remindOn }, now }, { status, closedAs }) {
      // An outcome ends a reminder that is due, Closed any.
      const isOver = remindOn && (status === 'Closed' || (status === 'Contacted' && remindOn <= formatIndianDay(now)))
      const reason = status === 'Closed' ? (closedAs ?? null) : null
      return { set: { Status: status, ClosedAs: reason, ...(isOver && { RemindOn: null }) } }
    },
    words: ({ before, after }) => `set to ${statusIn(after)} (was ${statusIn(before)})`,
  }),
  setSpam: change({
    input: z.extend(many, { spam: z.boolean(), was: z.boolean() }),
    what: 'Spam',
    seen: ({ was }) => ({ SuspectedSpam: was }),
    async work({ db, enquiry: { id }, recipients }, { spam, was }) {
      if (spam === was) return undefined
      if (spam) await withholdMails(db, id)
      else await releaseMails(db, id, recipients, RELEASE_SECONDS)
      return { set: { SuspectedSpam: spam } }
    },
    /** Taking back "Not spam" withholds its mails, while none has gone out. */
    async undone({ db, enquiry: { id }, recipients }, { at, after, isTakenBack }) {
      const isSpamNow = isTakenBack ? after?.SuspectedSpam : !after?.SuspectedSpam
      if (!isSpamNow) return releaseMails(db, id, recipients, RELEASE_SECONDS)
      await withholdMails(db, id) // first: then none is claimed any more
      if (await hasGoneOutSince(db, id, at)) throw new RequestError(409, 'It has gone out: mark it as spam again.')
    },
    words: ({ after }) => (after?.SuspectedSpam ? 'marked as spam' : 'marked as not spam'),
  }),
  addNote: change({
    input: z.extend(one, { text: note }),
    what: 'Note',
    work: (_, { text }) => ({ text }),
    words: ({ text, isTakenBack }) => (text === null || isTakenBack ? 'a note (removed)' : `note: ${text}`),
  }),
  /** Rang, no answer. */
  addCall: change({
    input: z.extend(one, { was: z.optional(text(100)) }),
    what: 'Call',
    // A colleague may just have reached them.
    seen: ({ was }): ColumnValues => (was === undefined ? {} : { Status: was }),
    work: ({ enquiry: { status }, now }) => (status === 'Closed' ? {} : { set: { RemindOn: nextWorkingDay(now) } }),
    words: () => 'rang, no answer',
  }),
  /** Others see for ten minutes that somebody is ringing. */
  ring: change({ input: one, what: RINGING, work: () => ({}), words: () => 'is ringing' }),
  remind: change({
    input: z.extend(one, { on: z.nullable(day) }),
    what: 'Reminder',
    work({ enquiry: { status }, now }, { on }) {
      if (status === 'Closed') throw new RequestError(400, 'A closed enquiry has no reminder: set it to New first.')
      if (on && on < formatIndianDay(now)) throw new RequestError(400, 'Please choose today or a later day.')
      return { set: { RemindOn: on } }
    },
    words: ({ after }) => (after?.RemindOn ? `to be rung on ${dayOf(after.RemindOn)}` : 'not to be rung again'),
  }),
  correct: change({
    input: z.extend(one, { was: storedFields, now: fields }),
    what: 'Correction',
    seen: ({ was }) => Object.fromEntries(enquiryFields.map((field) => [columnOf[field], was[field] ?? null])),
    async work({ db, enquiry, author }, { now }) {
      if (enquiry.email !== '' && now.email === '') throw new RequestError(400, messages.empty)
      const changed = enquiryFields.filter((field) => String(now[field]) !== enquiry[field])
      const values = columnsOf(Object.fromEntries(changed.map((field) => [field, now[field]])))
      if (changed.length > 0) await correct(db, enquiry.id, author, values)
      if (changed.includes('email')) await redirectMails(db, enquiry.id)
      return undefined
    },
    undone: async ({ db, enquiry: { id } }, { after }) => after && 'Email' in after && redirectMails(db, id),
    words: ({ before, after }) => `corrected ${correctionOf(before, after) || 'what is no longer kept'}`,
  }),
  /** The number that the visitor proposes on the page "Your enquiry". */
  accept: change({
    input: z.extend(one, { of: z.optional(key) }), // the key of what its user saw
    what: 'Accepted',
    async work({ db, enquiry, entries, author, now }, { of }) {
      const { proposalEntry } = historyFacts(entries, now)
      const proposed = proposalEntry?.after?.Mobile
      if (typeof proposed !== 'string' || (of && of !== proposalEntry?.key))
        throw new RequestError(409, 'There is no such proposal. Perhaps the visitor proposes another number now.')
      await correct(db, enquiry.id, author, { Mobile: proposed }, { what: 'Accepted' })
      return undefined
    },
    words: ({ before, after }) => `accepted ${correctionOf(before, after) || 'what is no longer kept'}`,
  }),
  erase: change({
    input: z.extend(many, { subscription: z.optional(z.boolean()) }),
    what: 'Erasure',
    async work({ db, enquiry, author, recipients }, { subscription }) {
      const ended = subscription
        ? await db.$executeRaw`
            UPDATE "Quvera_Subscriber" SET "ConfirmedAt" = NULL, "EndsAt" = now() WHERE lower("Email") = lower(${enquiry.email})`
        : 0
      if (ended > 0) await addEntry(db, enquiry.id, { ...author, key: randomUUID() }, { what: UNSUBSCRIBED })
      await setErasure(db, enquiry.id, author, true)
      if (!enquiry.eraseAt) await tellOfErasure(db, enquiry.id, recipients.STAFF_EMAILS)
      return undefined
    },
    undone: tellOrWithhold,
    words: () => 'asked to erase it, a day later',
  }),
  keep: change({
    input: many,
    what: 'Kept',
    async work({ db, enquiry, author }) {
      await setErasure(db, enquiry.id, author, false)
      await withholdErasureAsked(db, enquiry.id)
      return undefined
    },
    undone: tellOrWithhold,
    words: () => 'keeps it: it is not erased',
  }),
  /** Allows what `staff mails retry` does, by the same function; and an acknowledgement to an address that was corrected. */
  sendAgain: change({
    input: z.extend(one, { mail: z.string().check(z.regex(/^[1-9]\d{0,17}$/)) }),
    what: 'Sent again',
    async work({ db, enquiry }, { mail }) {
      const id = BigInt(mail)
      const found = await db.mail.findFirst({ where: { id, enquiryId: enquiry.id }, select: { kind: true } })
      if (!found) throw new RequestError(404, 'There is no such mail. Perhaps its enquiry was erased.')
      const isQueued =
        (await retryMails(db, [id])) || (found.kind === 'Acknowledgement' && (await acknowledgeAnew(db, enquiry.id)))
      if (!isQueued) throw new RequestError(409, 'This mail is on its way already, or may not be sent again.')
      return {}
    },
    words: () => 'had a mail sent again',
  }),
}

export type ChangeName = keyof typeof changes

/** An erasure that was asked for is not any more, or is again. */
function tellOrWithhold({ db, enquiry: { id, eraseAt }, recipients }: Situation) {
  const wasToBeErased = eraseAt !== null
  return wasToBeErased ? withholdErasureAsked(db, id) : tellOfErasure(db, id, recipients.STAFF_EMAILS)
}

/** `Closed, Ordered` */
const statusIn = (columns: ColumnValues | null) => [columns?.Status, columns?.ClosedAs].filter(Boolean).join(', ')

function correctionOf(before: ColumnValues | null, after: ColumnValues | null): string {
  const names = Object.entries(columnOf) as [OrderField, string][]
  return names
    .filter(([, column]) => column in (after ?? {}))
    .map(([, column]) => `${column}: ${after?.[column]}${column in (before ?? {}) ? ` (was ${before?.[column]})` : ''}`)
    .join(', ')
}

/** `30 Nov 2026` */
function dayOf(day: string | number | boolean): string {
  return formatIndianTime(parseIndianTime(String(day))).slice(0, 11)
}

/** Monday to Saturday, in India. */
function nextWorkingDay(now: Date): string {
  const tomorrow = new Date(now.getTime() + DAY_MS)
  const isSunday = parseIndianTime(formatIndianDay(tomorrow), '12:00').getUTCDay() === 0
  return formatIndianDay(isSunday ? new Date(tomorrow.getTime() + DAY_MS) : tomorrow)
}
