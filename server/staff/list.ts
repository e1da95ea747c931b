import { products } from '../../shared/catalogue.ts'
import { withDatabase } from '../database/open-database.ts'
import { type Command, parse, UsageError } from './command.ts'
import { listHelp, listOptions, printEnquiries, readListOptions } from './enquiry-list.ts'
import { statusNames, toFilter } from './filters.ts'

export const listCommand: Command = {
  summary: 'list the enquiries, newest first',
  help: `Usage: npm run -s staff -- list [options]

  --new                 those that nobody has dealt with yet: the same as --status New
  --status NAME         ${statusNames.join(', ')}
  --since WHEN          received on this Indian day or later, 2026-11-30, or so long ago at most: 7d, 2m
  --product NAME        ${products.join(' or ')}
${listHelp}

Times are Indian. Mail tells what became of the enquiry's mails, the worst first: "Notice Bounced" means that staff were
not told by mail, "Ack Bounced" that the visitor's address is wrong. A narrow terminal shows fewer columns; \`staff show
REFERENCE\` tells everything of one enquiry.`,
  login: "quvera_readonly or the tables' owner",
  async run(args, env) {
    const { values } = parse(args, {
      new: { type: 'boolean', default: false },
      status: { type: 'string' },
      since: { type: 'string' },
      product: { type: 'string' },
      ...listOptions,
    })
    const { new: onlyNew, status, since, product } = values
    if (onlyNew && status !== undefined) throw new UsageError('Say either --new or --status')
    const where = toFilter({ status: onlyNew ? 'New' : status, since, product })
    const options = readListOptions(values)
    await withDatabase(env(), ({ db }) => printEnquiries(db, where, options))
  },
}
