import { randomUUID } from 'node:crypto'
import type { Act, YourEnquiry } from '../../shared/form-outcome.ts'
import { acts as allActs, YOUR_ENQUIRY_PATH, yourEnquiryUrl } from '../../shared/form-outcome.ts'
import { formatIndianDay, formatIndianTime } from '../../shared/indian-time.ts'
import { messages, type OrderField, orderContentSchema, readOrderFields } from '../../shared/order.ts'
import { type Db, readNow } from '../database/database.ts'
import { type EnquiryWithSecret, readWithSecret } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import {
  type Author,
  addEntry,
  correct,
  type Entry,
  NOT_MINE,
  PROPOSAL,
  readHistory,
  setErasure,
  standingOf,
  takeBack,
  WITHDRAWN,
} from '../database/history.ts'
import { confirmationToken, linkOf, mailToken, type PageLink, readToken } from '../database/page-token.ts'
import { DAY_MS } from '../format.ts'
import { RequestError } from '../http/errors.ts'
import { acknowledgeAnew, queueChange, tellOfErasure } from '../mail/of-enquiry.ts'
import { maskLargeQuantity } from '../mail/templates.ts'
import type { Availability } from './availability.ts'
import { readStanding } from './standing.ts'

/*
 * The visitor's page: what it shows, and what its holder may do, an entry each. An act locks the row, as those of the desk do, and
 * pressed twice it is done once. Whoever holds a link may not be the visitor: so a new number is only proposed, and erasing waits.
 */

const ACTS_MAX = 10
const ADDRESS_WITHIN_MS = DAY_MS
const YOUNG_MS = 90 * DAY_MS

interface Situation {
  db: Prisma.TransactionClient
  enquiry: EnquiryWithSecret
  entries: Entry[]
  link: PageLink
  now: Date
}

interface Worked extends Situation {
  author: Author
  staff: string[]
}

interface ActEntry {
  may(situation: Omit<Situation, 'db'>): boolean
  /** It was pressed before. */
  isDone(enquiry: EnquiryWithSecret, standing: ReturnType<typeof standingOf>, value: string): boolean
  work(situation: Worked, value: string): Promise<unknown>
}

const ageMs = ({ enquiry, now }: Pick<Situation, 'enquiry' | 'now'>) => now.getTime() - enquiry.receivedAt.getTime()
const isYoung = (situation: Omit<Situation, 'db'>) => ageMs(situation) < YOUNG_MS
const isOpen = (situation: Omit<Situation, 'db'>) =>
  isYoung(situation) && !situation.enquiry.eraseAt && situation.enquiry.status !== 'Closed'
const wasMoved = ({ entries }: Pick<Situation, 'entries'>) =>
  entries.some(({ byVisitor, after }) => byVisitor && 'Email' in (after ?? {}))

const acts: Record<Act, ActEntry> = {
  mobile: {
    may: isOpen,
    isDone: ({ mobile }, { proposed }, value) => value === (proposed ?? mobile),
    work: ({ db, enquiry: { id }, author }, value) =>
      addEntry(db, id, author, { what: PROPOSAL, set: { Mobile: value } }),
  },
  quantity: {
    may: (situation) => isOpen(situation) && situation.enquiry.status === 'New',
    isDone: ({ quantity }, _, value) => value === quantity,
    work: ({ db, enquiry: { id }, author }, value) => correct(db, id, author, { Quantity: Number(value) }),
  },
  email: {
    may: (situation) =>
      isOpen(situation) &&
      situation.link === 'confirmation' &&
      Math.abs(ageMs(situation)) < ADDRESS_WITHIN_MS && // it is negative if the clock was ahead
      !wasMoved(situation),
    isDone: ({ email }, _, value) => value.toLowerCase() === email.toLowerCase(),
    async work({ db, enquiry: { id }, author }, value) {
      await correct(db, id, author, { Email: value })
      await acknowledgeAnew(db, id)
    },
  },
  withdraw: {
    may: isOpen,
    isDone: (_, { isWithdrawn }) => isWithdrawn,
    work: ({ db, enquiry: { id }, author }) =>
      addEntry(db, id, author, {
        what: WITHDRAWN,
        set: { Status: 'Closed', ClosedAs: 'No interest', RemindOn: null },
      }),
  },
  keep: {
    may: (situation) =>
      situation.enquiry.eraseAt !== null ||
      (isYoung(situation) && standingOf(situation.entries, situation.now).isWithdrawn),
    isDone: ({ eraseAt }, { isWithdrawn }) => !eraseAt && !isWithdrawn,
    async work({ db, enquiry, entries, author, staff }) {
      if (enquiry.eraseAt) {
        await setErasure(db, enquiry.id, author, false)
        return tellOfErasure(db, enquiry.id, false, staff)
      }
      const withdrawal = entries.findLast(({ what }) => what === WITHDRAWN)
      if (withdrawal) await takeBack(db, enquiry, author, withdrawal, entries)
    },
  },
  notMine: {
    may: (situation) => situation.link === 'mail' && isYoung(situation),
    isDone: (_, { isNotTheirs }) => isNotTheirs,
    work: ({ db, enquiry: { id }, author }) => addEntry(db, id, author, { what: NOT_MINE }),
  },
  erase: {
    may: ({ enquiry: { eraseAt } }) => eraseAt === null,
    isDone: ({ eraseAt }) => eraseAt !== null,
    async work({ db, enquiry: { id }, author, staff }) {
      await setErasure(db, id, author, true)
      await tellOfErasure(db, id, true, staff)
    },
  },
}

const COUNTED = [PROPOSAL, 'Correction', WITHDRAWN, NOT_MINE, 'Erasure']
const refusals = {
  over: 'This cannot be changed here any more. Please call us.',
  tooMany: 'Much was changed here already. Please call us.',
  reference: 'Please type the reference as it stands above.',
}

/** An act that is refused, with what the page shows of it. */
export class ActRefused extends RequestError {
  readonly page: YourEnquiry
  constructor(page: YourEnquiry) {
    super(400)
    this.page = page
  }
}

export type YourEnquiries = ReturnType<typeof createYourEnquiry>

interface Options {
  availability: Pick<Availability, 'failed'>
  onQueued(): void
  staff: string[]
}

export function createYourEnquiry(db: Db, { availability, onQueued, staff }: Options) {
  async function asRequestError<T>(work: Promise<T>): Promise<T> {
    return work.catch((cause: unknown) => {
      if (cause instanceof RequestError) throw cause
      availability.failed(cause)
      throw new RequestError(503, messages.failed, { cause })
    })
  }

  /** The link of a mail to an address whose owner has said "This is not mine" works for saying it again only. */
  async function find(db: Prisma.TransactionClient, token: string, lock = Prisma.empty) {
    const { id, key } = readToken(token)
    const [enquiry] = await readWithSecret(db, Prisma.sql`WHERE form."Id" = ${id}::uuid ${lock}`)
    const link = linkOf(enquiry, key)
    if (!enquiry || !link) return undefined
    const entries = (await readHistory(db, [id])).get(id) ?? []
    const now = await readNow(db)
    return { db, enquiry, entries, link, now, hasEnded: link === 'mail' && standingOf(entries, now).isNotTheirs }
  }

  async function act(db: Prisma.TransactionClient, token: string, name: Act, fields: URLSearchParams): Promise<string> {
    const found = await find(db, token, Prisma.sql`FOR NO KEY UPDATE`)
    if (!found || (found.hasEnded && name !== 'notMine')) throw new RequestError(404)
    const { enquiry, entries, now } = found
    const typed = name === 'erase' ? 'reference' : name
    const refuse = (message: string): never => {
      throw new ActRefused({ ...view(found), problem: { act: name, message, value: fields.get(typed) ?? '' } })
    }
    const value = readValue(name, fields, enquiry.reference, refuse)
    if (acts[name].isDone(enquiry, standingOf(entries, now), value)) return next(found, name)
    if (!acts[name].may(found)) refuse(refusals.over)
    const done = entries.filter(({ byVisitor, what }) => byVisitor && COUNTED.includes(what))
    if (name !== 'keep' && done.length >= ACTS_MAX) refuse(refusals.tooMany)

    await acts[name].work({ ...found, author: { who: null, key: randomUUID() }, staff }, value)
    const [changed] = await readWithSecret(db, Prisma.sql`WHERE form."Id" = ${enquiry.id}::uuid`)
    if (!changed) throw new RequestError(404)
    await remindStaff(db, changed, now)
    if (name !== 'erase') await queueChange(db, enquiry.id, staff)
    return next({ ...found, enquiry: changed }, name)
  }

  return {
    /** What the page shows; undefined for a token that nobody has. */
    async show(token: string): Promise<YourEnquiry | undefined> {
      const found = await asRequestError(find(db, token))
      return found && !found.hasEnded ? view(found) : undefined
    },
    /** @returns the page that follows @throws RequestError 404, 503, or ActRefused */
    async act(token: string, name: Act, fields: URLSearchParams): Promise<string> {
      const location = await asRequestError(db.$transaction((transaction) => act(transaction, token, name, fields)))
      setImmediate(onQueued)
      return location
    },
  }
}

function next({ enquiry, link }: Pick<Situation, 'enquiry' | 'link'>, name: Act): string {
  if (name === 'notMine') return `${YOUR_ENQUIRY_PATH}?notMine`
  return yourEnquiryUrl(link === 'mail' ? mailToken(enquiry) : confirmationToken(enquiry))
}

/** What was typed, by the rules of the form. */
function readValue(name: Act, fields: URLSearchParams, reference: string, refuse: (message: string) => never): string {
  if (name === 'erase') {
    const plain = (text: string) => text.toUpperCase().replace(/[^A-Z0-9]/g, '')
    return plain(fields.get('reference') ?? '') === plain(reference) ? '' : refuse(refusals.reference)
  }
  if (!isField(name)) return ''
  const typed = readOrderFields(fields)[name]
  const { success, data, error } = orderContentSchema.shape[name].safeParse(typed)
  return success ? String(data) : refuse(error.issues[0]?.message ?? messages.malformed)
}

function isField(name: Act): name is Act & OrderField {
  return name in orderContentSchema.shape
}

/** What the visitor says is a reason to ring today. Suspected spam is none. */
async function remindStaff(db: Prisma.TransactionClient, enquiry: EnquiryWithSecret, now: Date): Promise<void> {
  const today = formatIndianDay(now)
  const { id, status, remindOn, suspectedSpam, eraseAt } = enquiry
  if (suspectedSpam || eraseAt || status === 'Closed' || (remindOn && remindOn <= today)) return
  await addEntry(db, id, { who: null, key: randomUUID() }, { what: 'Reminder', set: { RemindOn: today } })
}

function view(found: Situation): YourEnquiry {
  const { enquiry, entries, link, now } = found
  const standing = readStanding(enquiry, entries, now)
  // As it stood fifteen minutes ago: what may be done must not tell more.
  const shown = {
    ...found,
    enquiry: { ...enquiry, status: standing.status === 'Withdrawn' ? 'Closed' : standing.status },
  }
  return {
    token: link === 'mail' ? mailToken(enquiry) : confirmationToken(enquiry),
    reference: enquiry.reference,
    products: enquiry.products,
    quantity: maskLargeQuantity(enquiry.quantity),
    receivedAt: formatIndianTime(enquiry.receivedAt),
    mobile: enquiry.mobile.slice(-4),
    email: maskEmail(enquiry.email),
    standing,
    may: allActs.filter((name) => acts[name].may(shown)),
  }
}

/** `a…a@shop.in` */
function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  const letters = [...email.slice(0, at)]
  return `${letters[0] ?? ''}…${letters.length > 2 ? letters.at(-1) : ''}${email.slice(at)}`
}
