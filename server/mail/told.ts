import { WAITING } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'

/*
 * Whether staff know of an enquiry is a query over facts. A doorbell is a mail to staff: a notice of one enquiry, or a summary
 * of all that waits; another mail to staff is none. It is good while it is on its way or has arrived. Staff know of an enquiry
 * that has a good notice, or a good summary that was queued at least a minute after it was received: whoever is rung goes to the
 * desk, and finds it there. Why a minute: docs/decisions/0014.
 *
 *   told    = a good notice, or received before SUMMARY_COVERS_UNTIL
 *   UNTOLD  = it waits, is a minute old, 31 days at most, and is not told
 */

/** Of a mail. */
const IS_GOOD = Prisma.sql`"Status" IN ('Pending', 'Sent', 'Delivered', 'Complained')`

/** What waits for longer stands in each digest. Also bounds the cost where there never was a summary. */
const LOOKED_BACK = Prisma.sql`now() - interval '31 days'`

/** What follows a SELECT list. A summary that is dated later than now, by a clock that was ahead, tells of nothing. */
const fromNewestSummary = (also: Prisma.Sql) => Prisma.sql`FROM "Quvera_Mail"
  WHERE "Kind" = 'Summary' AND "QueuedAt" <= clock_timestamp() ${also} ORDER BY "QueuedAt" DESC LIMIT 1`

/** When the last summary was written: all its mails have the time of their transaction. */
export const LAST_SUMMARY_AT = Prisma.sql`(SELECT "QueuedAt" ${fromNewestSummary(Prisma.empty)})`

/** Until when staff know by a good summary of what was received. One good mail of it is enough. */
const SUMMARY_COVERS_UNTIL = Prisma.sql`coalesce(
  (SELECT "QueuedAt" - interval '1 minute' ${fromNewestSummary(Prisma.sql`AND ${IS_GOOD}`)}), '-infinity')`

const ITS_NOTICES = Prisma.sql`SELECT FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id" AND mail."Kind" = 'Notice'`

/** The condition of enquiries (`form`) that are a minute old: by then one is visible, and its notice had its time. */
export const HAS_WAITED = Prisma.sql`form."ReceivedAt" <= clock_timestamp() - interval '1 minute'`

/** The condition of enquiries (`form`) that wait and that staff do not know of. */
export const UNTOLD = Prisma.sql`${WAITING}
  AND form."ReceivedAt" > greatest(${SUMMARY_COVERS_UNTIL}, ${LOOKED_BACK})
  AND ${HAS_WAITED}
  AND NOT EXISTS (${ITS_NOTICES} AND ${IS_GOOD})`

/** The condition of suspected spam (`form`) since the last good summary that never had a notice. */
export const SUSPECTED = Prisma.sql`form."SuspectedSpam" AND form."Status" = 'New'
  AND form."ReceivedAt" > ${SUMMARY_COVERS_UNTIL} AND NOT EXISTS (${ITS_NOTICES})`

/**
 * The condition of enquiries (`form`) that visitors changed since the last good summary, and of which no mail of the kind Change
 * tells. One that was not tried yet tells of nothing: by the time it may go the enquiry may be erased.
 */
export const CHANGED_BY_VISITOR = Prisma.sql`NOT form."SuspectedSpam" AND form."Id" IN (
  SELECT "EnquiryId" FROM "Quvera_History" entry WHERE entry."ByVisitor" AND entry."What" <> 'Reminder'
    AND entry."At" > greatest(${SUMMARY_COVERS_UNTIL}, ${LOOKED_BACK})
    AND NOT EXISTS (SELECT FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = entry."EnquiryId" AND mail."Kind" = 'Change'
      AND ${IS_GOOD} AND mail."FirstTriedAt" >= entry."At"))`

/** The condition of enquiries (`form`) that visitors asked to erase more than a minute ago, and that staff do not know of. */
export const ERASURE_UNTOLD = Prisma.sql`form."EraseAt" < now() + interval '1 day' - interval '1 minute' AND ${CHANGED_BY_VISITOR}`
