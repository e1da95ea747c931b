import { brand } from '../../shared/brand.ts'
import { type Act, actedUrl, fieldOf, type YourEnquiry } from '../../shared/form-outcome.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { messages, type OrderField, orderContentSchema, readOrderFields } from '../../shared/order.ts'
import { type Db, readNow, TRANSACTION } from '../database/database.ts'
import { findWithSecret } from '../database/enquiry.ts'
import { isDatabaseRefusal } from '../database/errors.ts'
import type { Prisma } from '../database/generated/client.ts'
import { historyFacts, readHistory } from '../database/history.ts'
import { confirmationToken, linkOf, mailToken, readToken } from '../database/page-token.ts'
import { retryIfLost } from '../database/retry.ts'
import { RequestError } from '../http/errors.ts'
import { createTurns } from '../http/turns.ts'
import { queueChange } from '../mail/of-enquiry.ts'
import { maskLargeQuantity } from '../mail/templates.ts'
import type { Availability } from './availability.ts'
import { readStanding, shownEntries } from './standing.ts'
import { actOf, acts, isUsedUp, listActs, type Opened, remindStaff } from './your-enquiry-acts.ts'

/* The visitor's page. An act locks the row, as those of the desk do, and pressed twice it is done once. */

/** An act that has waited longer for those before it is not begun. */
const WAIT_MAX_MS = 5000

const refusals = {
  over: `This cannot be changed here any more. Please call ${brand.phone}.`,
  usedUp: `Much was changed here already. Please call ${brand.phone}.`,
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
  availability: Pick<Availability, 'isUp' | 'failed'>
  onQueued(): void
  staff: string[]
}

export function createYourEnquiry(db: Db, { availability, onQueued, staff }: Options) {
  /** Acts of one enquiry would wait for its row, each with a connection that orders need. */
  const inTurn = createTurns()

  /** Work may be repeated: an act that was done is not done again. */
  async function tryWork<T>(work: () => Promise<T>): Promise<T> {
    return retryIfLost(work, availability.isUp).catch((cause: unknown) => {
      if (cause instanceof RequestError) throw cause
      const isRefused = isDatabaseRefusal(cause) // orders may still be stored
      if (!isRefused) availability.failed(cause)
      throw new RequestError(isRefused ? 500 : 503, messages.failed, { cause })
    })
  }

  async function actOn(db: Prisma.TransactionClient, token: string, asked: Act, fields: URLSearchParams) {
    const opened = await open(db, token, true)
    if (!opened || (hasEnded(opened) && asked !== 'notMine')) throw new RequestError(404)
    const name = actOf(asked, opened)
    const { enquiry, now } = opened
    const refuse = (message: string): never => {
      throw new ActRefused({ ...view(opened), problem: { act: name, message, value: fields.get(fieldOf(name)) ?? '' } })
    }
    const value = readValue(name, fields, enquiry.reference, refuse)
    if (acts[name].isDone(opened, value)) return actedUrl(name, tokenOf(opened))
    if (!acts[name].may(opened)) refuse(refusals.over)
    if (isUsedUp(name, opened)) refuse(refusals.usedUp)

    await acts[name].work({ ...opened, db, staff, value, refuse: () => refuse(refusals.over) })
    const changed = await findWithSecret(db, 'Id', enquiry.id)
    if (!changed) throw new RequestError(404)
    await remindStaff(db, changed, now)
    if (name !== 'erase') await queueChange(db, enquiry.id, staff)
    return actedUrl(name, tokenOf({ ...opened, enquiry: changed }))
  }

  return {
    /** What the page shows; undefined for a token that nobody has. */
    async show(token: string): Promise<YourEnquiry | undefined> {
      const opened = await tryWork(() => open(db, token))
      return opened && !hasEnded(opened) ? view(opened) : undefined
    },
    /** @returns the page that follows @throws RequestError 404, 500, 503, or ActRefused */
    async act(token: string, name: Act, fields: URLSearchParams): Promise<string> {
      const work = (transaction: Prisma.TransactionClient) => actOn(transaction, token, name, fields)
      const since = performance.now()
      const location = await inTurn(readToken(token).id, () => {
        if (performance.now() - since > WAIT_MAX_MS) throw new RequestError(503, messages.failed)
        return tryWork(() => db.$transaction(work, TRANSACTION))
      })
      setImmediate(onQueued)
      return location
    },
  }
}

async function open(db: Pick<Db, '$queryRaw'>, token: string, isLocked = false): Promise<Opened | undefined> {
  const { id, key } = readToken(token)
  const enquiry = await findWithSecret(db, 'Id', id, isLocked)
  const link = linkOf(enquiry, key)
  if (!enquiry || !link) return undefined
  const entries = (await readHistory(db, [id])).get(id) ?? []
  return { enquiry, entries, link, now: await readNow(db) }
}

/** After "This is not mine" the link of the mails there works for saying it again only. */
function hasEnded({ link, entries, now }: Opened): boolean {
  return link === 'mail' && historyFacts(entries, now).isNotTheirs
}

function tokenOf({ enquiry, link }: Opened): string {
  return link === 'mail' ? mailToken(enquiry) : confirmationToken(enquiry)
}

/** What was typed, by the rules of the form. */
function readValue(name: Act, fields: URLSearchParams, reference: string, refuse: (message: string) => never): string {
  if (name === 'erase') {
    const plain = (text: string) => text.toUpperCase().replace(/[^A-Z0-9]/g, '')
    return plain(fields.get(fieldOf(name)) ?? '') === plain(reference) ? '' : refuse(refusals.reference)
  }
  if (!isField(name)) return ''
  const typed = readOrderFields(fields)[name]
  const { success, data, error } = orderContentSchema.shape[name].safeParse(typed)
  return success ? String(data) : refuse(error.issues[0]?.message ?? messages.malformed)
}

function isField(name: Act): name is Act & OrderField {
  return name in orderContentSchema.shape
}

function view(opened: Opened): YourEnquiry {
  const { enquiry, entries, now } = opened
  const standing = readStanding(enquiry, entries, now)
  return {
    token: tokenOf(opened),
    reference: enquiry.reference,
    products: enquiry.products,
    quantity: maskLargeQuantity(enquiry.quantity),
    receivedAt: formatIndianTime(enquiry.receivedAt),
    mobile: enquiry.mobile.slice(-4),
    email: maskEmail(enquiry.email),
    standing,
    may: listActs(
      { ...opened, entries: shownEntries(entries, now) },
      standing.status === 'Withdrawn' ? 'Closed' : standing.status,
    ),
  }
}

/** `a…a@shop.in` */
function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  const letters = [...email.slice(0, at)]
  return `${letters[0] ?? ''}…${letters.length > 2 ? letters.at(-1) : ''}${email.slice(at)}`
}
