import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'
import { buyerTypes, products } from '../../shared/catalogue.ts'
import type { Db } from '../database/database.ts'
import { withDatabase } from '../database/open-database.ts'
import { count } from '../words.ts'
import { type Command, parse, UsageError } from './command.ts'
import { csvOptions, readEnquiries, toRecord } from './enquiry-csv.ts'
import { exportSubscribers } from './export-subscribers.ts'
import { type EnquiryFilter, statusNames, toFilter } from './filters.ts'
import { exportPerson } from './person.ts'

const options = {
  from: { type: 'string' },
  to: { type: 'string' },
  product: { type: 'string' },
  type: { type: 'string' },
  status: { type: 'string' },
  person: { type: 'string' },
  subscribers: { type: 'boolean', default: false },
} as const

const PROGRESS_STEP = 1000

export const exportCommand: Command = {
  summary: 'write enquiries as CSV, or all we hold about one person as JSON',
  help: `Usage: npm run -s staff -- export [options] > enquiries.csv
       npm run -s staff -- export --person EMAIL|MOBILE > person.json
       npm run -s staff -- export --subscribers > subscribers.csv

  --from YYYY-MM-DD   received on this Indian day or later
  --to YYYY-MM-DD     received on this Indian day or earlier
  --product NAME      ${products.join(' or ')}
  --type NAME         ${buyerTypes.join(' or ')}
  --status NAME       ${statusNames.join(', ')}
  --person WHO        a mail address in any case, or a mobile number, also with +91 and spaces; stands alone. The
                      subscription is found by its address only
  --subscribers       the newsletter's addresses instead; stands alone. Nobody has confirmed them: anybody can have typed
                      them, so nothing may be sent to them until they confirm

With npm's -s, else npm writes two lines of its own before the first. "Received" is Indian time, "ReceivedAt" UTC. A
text that a spreadsheet would take for a formula gets an apostrophe in front.`,
  login: "quvera_readonly or the tables' owner",
  async run(args, env) {
    const { person, subscribers, ...filters } = parse(args, options).values
    const others = Object.keys(filters).length + Number(subscribers)
    if (person !== undefined && others > 0) throw new UsageError('--person stands alone')
    if (subscribers && others > 1) throw new UsageError('--subscribers stands alone')
    const where = toFilter(filters)
    if (person !== undefined) return exportPerson(person, env(), process.stdout)
    if (subscribers) return exportSubscribers(env(), process.stdout)
    await withDatabase(env(), ({ db }) => writeCsv(db, where, process.stdout))
  },
}

async function writeCsv(db: Db, where: EnquiryFilter, output: Writable) {
  let written = 0
  async function* records() {
    for await (const row of readEnquiries(db, where)) {
      yield toRecord(row)
      written++
      if (process.stderr.isTTY && written % PROGRESS_STEP === 0) process.stderr.write(`\r${written} enquiries`)
    }
  }
  await pipeline(Readable.from(records()), stringify(csvOptions), output)
  if (process.stderr.isTTY) process.stderr.write(`\r${count(written, 'enquiry', 'enquiries')}\n`)
}
