import { pipeline } from 'node:stream/promises'
import { formatCount } from '../../shared/count.ts'
import { createCsv } from '../csv.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { type AddCommand, type Terminal, UsageError, writeJson } from '../terminal.ts'
import { describeChosen, listReferences } from './access-log.ts'
import { ofPerson, type Person, readHoldings, readPerson } from './person.ts'
import { readRecords, recordColumns } from './records.ts'

export function exportCommand(add: AddCommand, terminal: Terminal) {
  add('export')
    .description('write all enquiries as CSV, or all we hold about one person as JSON; the desk downloads some of them')
    .option(
      '--person <who>',
      'a mail address in any case, or a mobile number; without other options. A subscription is found by its address only',
      readPerson,
    )
    .option('--json', 'for programs')
    .action(async ({ person, json }: { person?: Person; json?: boolean }) => {
      if (person && json) throw new UsageError('--person takes no other options')
      await terminal.onDatabase((db) =>
        person ? exportPerson(terminal, db, person) : exportEnquiries(terminal, db, json),
      )
    })
}

async function exportEnquiries(terminal: Terminal, db: Db, isJson = false) {
  const all = Prisma.sql`TRUE`
  await terminal.recordAccess(db, await describeChosen(db, all))
  const records = readRecords(db, all, 'oldest')
  if (isJson) await writeJson(terminal, records)
  else await pipeline(records, createCsv(recordColumns), terminal.output)
}

async function exportPerson({ print, errors, recordAccess }: Terminal, db: Db, person: Person) {
  const found = await db.enquiry.findMany({ where: ofPerson(person), select: { id: true } })
  const isTheirs = Prisma.sql`form."Id" = ANY(${found.map(({ id }) => id)}::uuid[])`
  const { enquiries, subscriptions } = await readHoldings(db, isTheirs, 'email' in person ? person.email : null)
  const references = listReferences(enquiries.map(({ Reference: reference }) => ({ reference })))
  const count = formatCount(subscriptions.length, 'subscription')
  await recordAccess(db, subscriptions.length > 0 ? `${references} and ${count}` : references)
  print(JSON.stringify({ person, exportedAt: new Date(), enquiries, subscriptions }, undefined, 2))
  if (enquiries.length + subscriptions.length === 0) errors.write('Nothing is stored under this address or number.\n')
}
