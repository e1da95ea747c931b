import { withDatabase } from '../database/open-database.ts'
import { type Command, parse, UsageError } from './command.ts'
import { choice, statusNames } from './filters.ts'
import { findByReference, readReference } from './find-enquiry.ts'

export const statusCommand: Command = {
  summary: 'say that an enquiry is Contacted, Closed or New',
  help: `Usage: npm run -s staff -- status REFERENCE … ${statusNames.join('|')}

One enquiry or several. When one of them is not there, nothing is changed.`,
  async run(args, env) {
    const { positionals } = parse(args, {}, { positionals: true })
    if (positionals.length < 2) throw new UsageError(`Name a reference, then one of: ${statusNames.join(', ')}`)
    const status = choice<(typeof statusNames)[number]>('The status', positionals.at(-1) ?? '', statusNames)
    const references = [...new Set(positionals.slice(0, -1).map(readReference))]
    await withDatabase(env(), async ({ db }) => {
      const rows = await findByReference(db, references)
      await db.enquiry.updateMany({ where: { id: { in: rows.map(({ id }) => id) } }, data: { status } })
      for (const row of rows) {
        const change = row.status === status ? `is ${status} already` : `${row.status} → ${status}`
        console.log(`${row.reference}  ${row.name}: ${change}`)
      }
    })
  },
}
