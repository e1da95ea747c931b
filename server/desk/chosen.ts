import { type DeskState, filters } from '../../shared/desk.ts'
import { DAY_MS, parseIndianTime } from '../../shared/indian-time.ts'
import { REMINDED, WAITING } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import { RINGING } from '../database/history.ts'
import type { Choice } from './inputs.ts'
import { matches } from './search.ts'
import { nameOf } from './sessions.ts'

/* Which enquiries (`form`) a list, its counts and a download hold. */

/** As `belongsTo` of client/desk/tabs.ts, which decides about rows that are shown. */
export const ofTab: Record<DeskState, Prisma.Sql> = {
  new: WAITING,
  toRing: REMINDED,
  contacted: Prisma.sql`form."Status" = 'Contacted' AND NOT form."SuspectedSpam"`,
  closed: Prisma.sql`form."Status" = 'Closed' AND NOT form."SuspectedSpam"`,
  spam: Prisma.sql`form."Status" = 'New' AND form."SuspectedSpam"`,
  all: Prisma.sql`TRUE`,
}

/** Whether less than the whole tab is asked for. */
export const isFiltered = (choice: Choice): boolean => filters.some((name) => choice[name])

/** The condition of the enquiries (`form`) of a tab, with its filters and a search. */
export function isChosen(choice: Choice): Prisma.Sql {
  const { state, text = '', product, type, closedAs, by, from, to } = choice
  const isAboutDoing = by || (closedAs && (from || to))
  const conditions = [
    ofTab[state],
    ...(text.trim() ? [matches(text)] : []),
    ...(product ? [Prisma.sql`form."Products"::text = ${product}`] : []),
    ...(type ? [Prisma.sql`form."RetailerSelfUse"::text = ${type}`] : []),
    ...(closedAs ? [Prisma.sql`form."ClosedAs"::text = ${closedAs}`] : []),
    isAboutDoing ? wasDone(choice) : isWithin(Prisma.sql`form."ReceivedAt"`, { from, to }),
  ]
  return Prisma.join(conditions, ' AND ')
}

/** Something was done to it within these days: by this person, or closing it for this reason, if they are asked for. */
function wasDone({ closedAs, by, ...days }: Choice): Prisma.Sql {
  return Prisma.sql`form."Id" IN (SELECT "EnquiryId" FROM "Quvera_History" entry
    WHERE "What" <> ${RINGING} AND ${isWithin(Prisma.sql`"At"`, days)}
      AND ${by ? Prisma.sql`"Who" = ANY(${[by, nameOf({ email: by, byTerminal: true })]})` : Prisma.sql`TRUE`}
      AND ${closedAs ? Prisma.sql`"After" ->> 'ClosedAs' = ${closedAs}` : Prisma.sql`TRUE`})`
}

function isWithin(time: Prisma.Sql, { from, to }: Pick<Choice, 'from' | 'to'>): Prisma.Sql {
  const conditions = [
    Prisma.sql`TRUE`,
    ...(from ? [Prisma.sql`${time} >= ${parseIndianTime(from)}`] : []),
    ...(to ? [Prisma.sql`${time} < ${new Date(parseIndianTime(to).getTime() + DAY_MS)}`] : []),
  ]
  return Prisma.join(conditions, ' AND ')
}
