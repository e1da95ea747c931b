import type { Db } from '../database/database.ts'

export interface OldestNew {
  reference: string
  seconds: number
  /** How many enquiries are New. */
  count: number
}

/** The enquiry that has waited longest for somebody to set its status; undefined when none waits. */
export async function readOldestNew(db: Db, now = new Date()): Promise<OldestNew | undefined> {
  const where = { status: 'New' as const }
  const oldest = await db.enquiry.findFirst({ where, orderBy: { receivedAt: 'asc' } })
  if (!oldest) return undefined
  const seconds = Math.max(0, Math.round((now.getTime() - oldest.receivedAt.getTime()) / 1000))
  return { reference: oldest.reference, seconds, count: await db.enquiry.count({ where }) }
}
