import { randomUUID } from 'node:crypto'
import { type Act, acts as allActs } from '../../shared/form-outcome.ts'
import { DAY_MS, formatIndianDay } from '../../shared/indian-time.ts'
import type { EnquiryWithSecret } from '../database/enquiry.ts'
import type { Prisma } from '../database/generated/client.ts'
import {
  addEntry,
  correct,
  type Entry,
  historyFacts,
  NOT_MINE,
  PROPOSAL,
  setErasure,
  takeBack,
  WITHDRAWN,
} from '../database/history.ts'
import type { PageLink } from '../database/page-token.ts'
import {
  acknowledgeAnew,
  MAILS_OF_ERASURES,
  redirectMails,
  tellOfErasure,
  withholdErasureAsked,
} from '../mail/of-enquiry.ts'

/*
 * What the holder of a link to the visitor's page may do. Whoever holds it may not be the visitor: so a new number is only proposed,
 * and erasing waits.
 */

const ACTS_MAX = 10
const ADDRESS_WITHIN_MS = DAY_MS
const YOUNG_MS = 90 * DAY_MS

/** An enquiry that somebody has opened by a link. */
export interface Opened {
  enquiry: EnquiryWithSecret
  entries: Entry[]
  link: PageLink
  now: Date
}

interface Work extends Opened {
  db: Prisma.TransactionClient
  staff: string[]
  value: string
  /** As for an act that may not be done any more: nothing is stored. */
  refuse(): never
}

interface ActEntry {
  may(opened: Opened): boolean
  /**
   * Whether it was done before, so that a second press changes nothing. The page masks the number: so a wrong guess must
   * cost an act, and acts are few (isUsedUp).
   */
  isDone(opened: Opened, value: string): boolean
  work(work: Work): Promise<unknown>
}

const facts = ({ entries, now }: Opened) => historyFacts(entries, now)
const asVisitor = () => ({ who: null, key: randomUUID() })
const ageMs = ({ enquiry, now }: Opened) => now.getTime() - enquiry.receivedAt.getTime()
const isYoung = (opened: Opened) => ageMs(opened) < YOUNG_MS
const isOpen = (opened: Opened) => isYoung(opened) && !opened.enquiry.eraseAt && opened.enquiry.status !== 'Closed'
const wasMoved = ({ entries }: Opened) => entries.some(({ byVisitor, after }) => byVisitor && 'Email' in (after ?? {}))

export const acts: Record<Act, ActEntry> = {
  mobile: {
    may: isOpen,
    isDone: (opened, value) =>
      isOffered('mobile', opened) && value === (facts(opened).proposalEntry?.after?.Mobile ?? opened.enquiry.mobile),
    work: ({ db, enquiry, value }) => addEntry(db, enquiry.id, asVisitor(), { what: PROPOSAL, set: { Mobile: value } }),
  },
  quantity: {
    may: (opened) => isOpen(opened) && opened.enquiry.status === 'New',
    isDone: (opened, value) => isOffered('quantity', opened) && value === opened.enquiry.quantity,
    work: ({ db, enquiry, value }) => correct(db, enquiry.id, asVisitor(), { Quantity: Number(value) }),
  },
  email: {
    may: (opened) =>
      isOpen(opened) &&
      opened.link === 'confirmation' &&
      Math.abs(ageMs(opened)) < ADDRESS_WITHIN_MS && // it is negative if the clock was ahead
      !wasMoved(opened),
    isDone: (opened, value) =>
      opened.link === 'confirmation' &&
      (wasMoved(opened) || isOffered('email', opened)) &&
      value.toLowerCase() === opened.enquiry.email.toLowerCase(),
    async work({ db, enquiry, value }) {
      await correct(db, enquiry.id, asVisitor(), { Email: value })
      await redirectMails(db, enquiry.id)
      await acknowledgeAnew(db, enquiry.id)
    },
  },
  withdraw: {
    may: isOpen,
    isDone: (opened) => facts(opened).isWithdrawn,
    work: ({ db, enquiry }) =>
      addEntry(db, enquiry.id, asVisitor(), {
        what: WITHDRAWN,
        set: { Status: 'Closed', ClosedAs: 'No interest', RemindOn: null },
      }),
  },
  resume: {
    may: (opened) => isYoung(opened) && !opened.enquiry.eraseAt && facts(opened).isWithdrawn,
    isDone: (opened) => !facts(opened).isWithdrawn,
    async work({ db, enquiry, entries, refuse }) {
      const withdrawal = entries.findLast(({ what }) => what === WITHDRAWN)
      const lost = withdrawal && (await takeBack(db, enquiry, asVisitor(), withdrawal, entries))
      if (lost) refuse() // changed since, without an entry in the history
    },
  },
  keep: {
    may: ({ enquiry }) => enquiry.eraseAt !== null,
    isDone: ({ enquiry }) => enquiry.eraseAt === null,
    async work({ db, enquiry }) {
      await setErasure(db, enquiry.id, asVisitor(), false)
      await withholdErasureAsked(db, enquiry.id)
    },
  },
  notMine: {
    // While it is to be erased the link keeps it: its owner has the mail about that.
    may: (opened) => opened.link === 'mail' && isYoung(opened) && !opened.enquiry.eraseAt,
    isDone: (opened) => facts(opened).isNotTheirs,
    work: ({ db, enquiry }) => addEntry(db, enquiry.id, asVisitor(), { what: NOT_MINE }),
  },
  erase: {
    may: ({ enquiry }) => enquiry.eraseAt === null,
    isDone: ({ enquiry }) => enquiry.eraseAt !== null,
    async work({ db, enquiry, staff }) {
      await setErasure(db, enquiry.id, asVisitor(), true)
      await tellOfErasure(db, enquiry.id, staff)
    },
  },
}

/** By status and history as they are shown: what may be done must not tell of later ones. */
export function listActs({ enquiry, ...opened }: Opened, status: EnquiryWithSecret['status']): Act[] {
  return allActs.filter((name) => acts[name].may({ ...opened, enquiry: { ...enquiry, status } }))
}

/**
 * Whether all is done that may be done. Two people may hold a link: neither may use up the acts by which the other defends
 * itself (notMine, keep), or erases. By the mail's link it is erased only while the mail about that goes out. An act that takes
 * another one back (resume, keep) is not counted.
 */
export function isUsedUp(name: Act, { entries, link }: Opened): boolean {
  const countOf = (counted: string[]) =>
    entries.filter((entry) => entry.byVisitor && counted.includes(entry.what)).length
  if (name === 'erase') return countOf(['Erasure']) >= (link === 'mail' ? MAILS_OF_ERASURES : ACTS_MAX)
  return ['mobile', 'quantity', 'withdraw'].includes(name) && countOf([PROPOSAL, 'Correction', WITHDRAWN]) >= ACTS_MAX
}

/**
 * `keep` of a page that stayed open takes a withdrawal back, if that is what the visitor did last: not where it is the second press
 * of a `keep`.
 */
export function actOf(asked: Act, { enquiry, entries }: Opened): Act {
  const lastOfVisitor = entries.findLast(({ byVisitor }) => byVisitor)
  return asked === 'keep' && !enquiry.eraseAt && lastOfVisitor?.what === WITHDRAWN ? 'resume' : asked
}

function isOffered(name: Act, opened: Opened): boolean {
  return acts[name].may(opened) && !isUsedUp(name, opened)
}

/** What the visitor says is a reason to ring today. Suspected spam is none. */
export async function remindStaff(db: Prisma.TransactionClient, enquiry: EnquiryWithSecret, now: Date): Promise<void> {
  const today = formatIndianDay(now)
  const { id, status, remindOn, suspectedSpam, eraseAt } = enquiry
  if (suspectedSpam || eraseAt || status === 'Closed' || (remindOn && remindOn <= today)) return
  await addEntry(db, id, asVisitor(), { what: 'Reminder', set: { RemindOn: today } })
}
