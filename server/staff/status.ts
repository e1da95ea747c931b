import { Command } from 'commander'
import { withDatabase } from '../database/open-database.ts'
import { findByReference, readReference, readStatus, statusNames, UsageError } from './input.ts'
import type { Terminal } from './output.ts'

export function statusCommand({ env, print }: Terminal): Command {
  const names = statusNames.join('|')
  return new Command('status')
    .summary('say that an enquiry is Contacted, Closed or New')
    .usage(`REFERENCE … ${names}`)
    .argument('<words...>', `references, one or several, then one of ${names}`)
    .description('When one of them is not there, nothing is changed.')
    .action(async (words: string[]) => {
      if (words.length < 2) throw new UsageError(`Name a reference, then one of: ${statusNames.join(', ')}`)
      const status = readStatus(words.at(-1) ?? '')
      const references = [...new Set(words.slice(0, -1).map(readReference))]
      await withDatabase(env(), async ({ db }) => {
        const rows = await findByReference(db, references)
        await db.enquiry.updateMany({ where: { id: { in: rows.map(({ id }) => id) } }, data: { status } })
        for (const row of rows) {
          const change = row.status === status ? `is ${status} already` : `${row.status} → ${status}`
          print(`${row.reference}  ${row.name}: ${change}`)
        }
      })
    })
}
