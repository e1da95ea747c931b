import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'
import { buyerTypes, products } from '../../shared/catalogue.ts'
import type { Db } from '../database/database.ts'
import { EnquiryStatus } from '../database/generated/enums.ts'
import { withDatabase } from '../database/open-database.ts'
import { memberName } from '../enquiries/enquiry.ts'
import { type Command, count, parse, UsageError } from './command.ts'
import { csvOptions, type EnquiryFilter, readEnquiries, toRecord } from './enquiry-csv.ts'
import { indianDay } from './indian-time.ts'
import { exportPerson } from './person.ts'

const options = {
  from: { type: 'string' },
  to: { type: 'string' },
  product: { type: 'string' },
  type: { type: 'string' },
  status: { type: 'string' },
  person: { type: 'string' },
} as const

const PROGRESS_STEP = 1000

export const exportCommand: Command = {
  summary: 'write enquiries as CSV, or all we hold about one person as JSON',
  help: `Usage: npm run -s staff -- export [options] > enquiries.csv
       npm run -s staff -- export --person EMAIL|MOBILE > person.json

  --from YYYY-MM-DD   received on this Indian day or later
  --to YYYY-MM-DD     received on this Indian day or earlier
  --product NAME      ${products.join(' or ')}
  --type NAME         ${buyerTypes.join(' or ')}
  --status NAME       ${Object.values(EnquiryStatus).join(', ')}
  --person WHO        a mail address in any case, or a mobile number, also with +91 and spaces; stands alone

With npm's -s, else npm writes two lines of its own before the first. "Received" is Indian time, "ReceivedAt" UTC. A
text that a spreadsheet would take for a formula gets an apostrophe in front.`,
  async run(args, env) {
    const { person, ...filters } = parse(args, options).values
    if (person !== undefined && Object.keys(filters).length > 0) throw new UsageError('--person stands alone')
    const where = toFilter(filters)
    if (person !== undefined) return exportPerson(person, env(), process.stdout)
    await withDatabase(env(), ({ db }) => writeCsv(db, where, process.stdout))
  },
}

type Filters = Partial<Record<Exclude<keyof typeof options, 'person'>, string>>

function toFilter({ from, to, product, type, status }: Filters): EnquiryFilter {
  const first = from === undefined ? undefined : indianDay(from).start
  const end = to === undefined ? undefined : indianDay(to).end
  if (first && end && first >= end) throw new UsageError('--from is later than --to')
  return {
    receivedAt: { ...(first && { gte: first }), ...(end && { lt: end }) },
    ...(product !== undefined && { products: choice('--product', product, products) }),
    ...(type !== undefined && { retailerSelfUse: choice('--type', type, buyerTypes) }),
    ...(status !== undefined && { status: choice('--status', status, Object.values(EnquiryStatus)) }),
  }
}

/** Prisma's member for a value as people write it. */
function choice<Member extends string>(option: string, text: string, values: readonly string[]): Member {
  const value = values.find((each) => each.toLowerCase() === text.trim().toLowerCase())
  if (!value) throw new UsageError(`${option} must be one of: ${values.join(', ')}`)
  return memberName(value) as Member
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
