import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { DAY_MS } from '../words.ts'
import type { ClaimedMail } from './owed.ts'
import { kindsTo } from './states.ts'

/*
 * What may be sent now: so that a day's mails last for the day and staff are never far behind, and so that nobody can
 * misuse our mails. How fast Resend may be asked is another matter: resend.ts.
 */

/** Mails to staff in a day that are kept for bundles, as far as there are so many: with them no pause is over two hours. */
const BUNDLES_MIN = 20
const FIRST_PAUSE_MS = 4000
/** Suspected spam that is told of one by one in a day; the rest goes together, an hour late at most. */
const SUSPECTED_A_DAY = 20
const SUSPECTED_WAIT_MS = 3_600_000

const TO_A_MAILBOX = 3

/** Of the acknowledgements, or confirmations, that were decided last, so many may have been unwelcome. */
const DECIDED = 20
const UNWELCOME = 5
/** Confirmations, whose addresses cost nothing to type, hold no acknowledgements. */
const HOLDS = { Acknowledgement: 'acknowledgements held', Confirmation: 'confirmations held' }
const HOLD_HOURS = 24

export interface Budget {
  /** Mails in 24 hours, all processes together, as Resend counts them: one for each receiver. 0 for no limit. */
  mails: number
  /** How many receive a mail to staff. */
  staff: number
}

/** What was sent in the last 24 hours, what may have been, and what waits. */
export interface Used {
  toStaff: number
  toVisitors: number
  /** Since the last mail to staff. */
  quietMs: number
  /** Of the notices, those that told of suspected spam alone, up to `SUSPECTED_A_DAY`. */
  suspected: number
  /** How long the oldest suspected spam waits that may not be told of alone. */
  suspectedWaitMs: number
  /** Acknowledgements are held: too many were unwelcome. */
  held: boolean
}

/**
 * Visitors have a third of the budget, staff the rest. Staff are told one by one while there is plenty. Then all that
 * waits goes together, with pauses that grow from seconds to an even share of the day: however many enquiries come,
 * the rest lasts, and nobody waits for longer than one pause.
 * @returns how many `notices` may go to staff, one an enquiry, so many of them about suspected spam; whether all that wait
 * go together in a `bundle`; and how many mails may go to visitors
 */
export function planOf({ mails, staff }: Budget, used: Used) {
  const suspected = Math.max(0, SUSPECTED_A_DAY - used.suspected)
  const bundle = used.suspectedWaitMs > SUSPECTED_WAIT_MS
  const all = Number.POSITIVE_INFINITY
  if (mails === 0) return { notices: all, suspected, bundle, toVisitors: used.held ? 0 : all }
  const visitorShare = Math.floor(mails / 3)
  const toVisitors = used.held ? 0 : Math.max(0, visitorShare - used.toVisitors)
  const share = Math.max(1, Math.floor((mails - visitorShare) / staff))
  const bundles = Math.min(share, Math.max(Math.floor(share / 2), BUNDLES_MIN))
  const single = share - bundles
  if (used.toStaff < single) return { notices: single - used.toStaff, suspected, bundle, toVisitors }
  const isOpen = used.toStaff < share && used.quietMs >= pauseMs(bundles, used.toStaff - single)
  return { notices: 0, suspected: 0, bundle: isOpen, toVisitors }
}

/** How long to wait before one more bundle, of so many in a day. All pauses together are longer than a day. */
function pauseMs(bundles: number, sent: number): number {
  const growing = Math.floor(bundles / 3)
  const longest = DAY_MS / (bundles - growing)
  return sent >= growing ? longest : FIRST_PAUSE_MS * (longest / FIRST_PAUSE_MS) ** (sent / growing)
}

/** A try without a clear answer counts as sent. */
export async function readPlan(db: Db, budget: Budget) {
  const toStaff = Prisma.sql`"Kind"::text IN (${Prisma.join(kindsTo('staff'))})`
  const isHeld = (name: string) =>
    Prisma.sql`EXISTS (SELECT FROM "Quvera_Lease" WHERE "Name" = ${name} AND "Until" > now())`
  const [used] = await db.$queryRaw<[Used & { asks: boolean }]>`
    WITH used AS (
      SELECT ${toStaff} AS "toStaff", coalesce("SentAt", "AmbiguousAt") AS "at" FROM "Quvera_Mail"
      WHERE ${budget.mails} > 0 AND "BundledInto" IS NULL AND "Kind" <> 'Post'
        AND ("SentAt" > now() - interval '24 hours'
          OR ("Status" IN ('Pending', 'Unknown') AND "AmbiguousAt" > now() - interval '24 hours'))
    ), suspected AS (
      SELECT count(*)::int AS "suspected" FROM (
        SELECT FROM "Quvera_Form" form JOIN "Quvera_Mail" mail ON mail."EnquiryId" = form."Id" AND mail."Kind" = 'Staff'
        WHERE form."SuspectedSpam" AND mail."BundledInto" IS NULL AND mail."Attempts" > 0
          AND (CASE WHEN form."SuspectedSpam" THEN form."ReceivedAt" END) > now() - interval '24 hours'
        LIMIT ${SUSPECTED_A_DAY}
      ) alone
    )
    SELECT count(*) FILTER (WHERE used."toStaff")::int AS "toStaff",
      count(*) FILTER (WHERE NOT used."toStaff")::int AS "toVisitors",
      coalesce(extract(epoch FROM now() - max("at") FILTER (WHERE used."toStaff")) * 1000, ${DAY_MS})::float AS "quietMs",
      (SELECT "suspected" FROM suspected),
      CASE WHEN (SELECT "suspected" FROM suspected) < ${SUSPECTED_A_DAY} THEN 0 ELSE coalesce((
        SELECT extract(epoch FROM now() - mail."NextAttemptAt") * 1000
        FROM "Quvera_Mail" mail JOIN "Quvera_Form" form ON form."Id" = mail."EnquiryId" AND form."SuspectedSpam"
        WHERE mail."Status" = 'Pending' AND mail."Kind" = 'Staff' AND mail."BundledInto" IS NULL AND mail."Attempts" = 0
        ORDER BY mail."NextAttemptAt" LIMIT 1
      ), 0) END::float AS "suspectedWaitMs",
      ${isHeld(HOLDS.Acknowledgement)} AS "held", NOT ${isHeld(HOLDS.Confirmation)} AS "asks"
    FROM used`
  return { ...planOf(budget, used), asks: used.asks }
}

/**
 * Why this mail to a visitor is not to be sent, if so: nobody can flood a mailbox through our forms. Of the mails that the
 * same mailbox got, or gets, in the 24 hours before this one as many are counted as the limit asks: one for each enquiry
 * that came before, and the confirmations. Suspected spam got no acknowledgement, and would use up those of the person in
 * whose name it came.
 */
export async function withholdReason(db: Db, { id, enquiries, subscriber }: ClaimedMail): Promise<string | undefined> {
  const [enquiry] = enquiries
  if (enquiry?.suspectedSpam) return 'Not sent: suspected spam.'
  if (subscriber?.confirmedAt) return 'Not sent: the address is confirmed.'
  if (subscriber?.endsAt && subscriber.endsAt < new Date()) return 'Not sent: the subscription has ended.'
  const receiver = enquiry ?? subscriber
  if (!receiver) return undefined
  const { email } = receiver
  const receivedAt = enquiry?.receivedAt ?? new Date()
  const [{ earlier }] = await db.$queryRaw<[{ earlier: number }]>`
    SELECT count(*)::int AS "earlier" FROM (
      (SELECT FROM "Quvera_Form"
        WHERE "Quvera_mailbox"("Email") = "Quvera_mailbox"(${email}) AND NOT "SuspectedSpam"
          AND "ReceivedAt" BETWEEN ${receivedAt}::timestamptz - interval '24 hours' AND ${receivedAt}::timestamptz
          AND ("ReceivedAt", "Id") < (${receivedAt}::timestamptz, ${receiver.id}::uuid)
        LIMIT ${TO_A_MAILBOX})
      UNION ALL
      (SELECT FROM "Quvera_Subscriber" subscriber JOIN "Quvera_Mail" mail ON mail."SubscriberId" = subscriber."Id"
        WHERE "Quvera_mailbox"("Email") = "Quvera_mailbox"(${email}) AND mail."Id" < ${id}
          AND coalesce("SentAt", "AmbiguousAt") > now() - interval '24 hours'
        LIMIT ${TO_A_MAILBOX})
    ) same_mailbox`
  return earlier < TO_A_MAILBOX
    ? undefined
    : `Not sent: this address has had ${TO_A_MAILBOX} acknowledgements or confirmations within 24 hours.`
}

/**
 * Holds mails of this kind for a day when too many of the last ones were unwelcome: addresses are typed by anybody, and
 * our good name at receivers is what brings the notices to staff. Those sent before the end of an earlier hold are not
 * counted once more.
 * @returns whether they are held from now on
 */
export async function holdIfUnwelcome(db: Db, kind: keyof typeof HOLDS): Promise<boolean> {
  const hold = HOLDS[kind]
  const held = await db.$executeRaw`
    INSERT INTO "Quvera_Lease" AS hold ("Name", "Holder", "Until")
    SELECT ${hold}, 'reputation', now() + make_interval(hours => ${HOLD_HOURS})
    FROM (
      SELECT "Status" FROM "Quvera_Mail"
      WHERE "Kind"::text = ${kind} AND "Status" IN ('Delivered', 'Bounced', 'Complained')
        AND "SentAt" > greatest(now() - interval '7 days', (SELECT "Until" FROM "Quvera_Lease" WHERE "Name" = ${hold}))
      ORDER BY "SentAt" DESC LIMIT ${DECIDED}
    ) decided
    HAVING count(*) FILTER (WHERE "Status" <> 'Delivered') >= ${UNWELCOME}
    ON CONFLICT ("Name") DO UPDATE SET "Until" = excluded."Until" WHERE hold."Until" <= now()`
  return held > 0
}

const holding = () => ({ name: { in: Object.values(HOLDS) }, until: { gt: new Date() } })

/** Which mails are held, and until when. */
export async function readHolds(db: Db) {
  const leases = await db.lease.findMany({ where: holding(), orderBy: { name: 'asc' } })
  return leases.map(({ name, until }) => ({ isOfOrders: name === HOLDS.Acknowledgement, until }))
}

/** A person lets them go before. */
export async function endHold(db: Db): Promise<number> {
  const { count } = await db.lease.updateMany({ where: holding(), data: { until: new Date() } })
  return count
}
