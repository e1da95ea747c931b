import type { Db } from '../database/database.ts'
import { count } from '../words.ts'

export async function withholdMails(db: Db, which: { ids: bigint[] } | { before: Date }): Promise<void> {
  const rows = await db.mail.findMany({
    where:
      'ids' in which
        ? { id: { in: which.ids }, status: { in: ['Pending', 'Failed', 'Unknown'] } }
        : { status: 'Pending', enquiry: { receivedAt: { lt: which.before } } },
    select: { id: true, ambiguousAt: true },
  })
  const [untried, tried] = [rows.filter((row) => !row.ambiguousAt), rows.filter((row) => row.ambiguousAt)]
  const withheld =
    (await withhold(db, untried, 'Not sent: withheld by staff.')) +
    (await withhold(db, tried, 'Withheld by staff; an earlier try may have sent it.'))
  console.log(`${count(withheld, 'mail is', 'mails are')} withheld: never sent, unless a try is under way just now.`)
  const others = 'ids' in which ? which.ids.length - withheld : 0
  if (others > 0) console.log(`Left: ${count(others, 'mail', 'mails')} that are sent, withheld or not there.`)
}

/** Unless it was sent meanwhile. */
async function withhold(db: Db, rows: { id: bigint }[], lastError: string): Promise<number> {
  const { count: changed } = await db.mail.updateMany({
    where: { id: { in: rows.map(({ id }) => id) }, status: { in: ['Pending', 'Failed', 'Unknown'] } },
    data: { status: 'Withheld', lastError },
  })
  return changed
}
