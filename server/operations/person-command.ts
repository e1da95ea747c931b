import { pipeline } from 'node:stream/promises'
import { createCsv } from '../csv.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import { formatCount } from '../format.ts'
import { type AddCommand, type Terminal, UsageError, writeJson } from '../terminal.ts'
import { describeChosen, listReferences } from './access-log.ts'
import { isOfPerson, type Person, readPerson } from './person.ts'
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
  const { enquiries, subscriptions } = await readHoldings(db, person)
  const references = listReferences(enquiries.map(({ Reference: reference }) => ({ reference })))
  const count = formatCount(subscriptions.length, 'subscription', 'subscriptions')
  await recordAccess(db, subscriptions.length > 0 ? `${references} and ${count}` : references)
  print(JSON.stringify({ person, exportedAt: new Date(), enquiries, subscriptions }, undefined, 2))
  if (enquiries.length + subscriptions.length === 0) errors.write('Nothing is stored under this address or number.\n')
}

/** All we hold of a person. In SQL, so that all columns are exported under the database's names. */
async function readHoldings(db: Db, person: Person) {
  const email = 'email' in person ? person.email : null
  const enquiries = await db.$queryRaw<{ row: { Reference: string } }[]>`
    SELECT to_jsonb(form) - 'ContentHash' || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'EnquiryId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id"
    ), 'History', (
      SELECT coalesce(jsonb_agg(to_jsonb(change) - 'EnquiryId' - 'Who' ORDER BY change."Id"), '[]')
      FROM "Quvera_History" change WHERE change."EnquiryId" = form."Id"
    )) AS "row" FROM "Quvera_Form" form
    WHERE ${isOfPerson(person)} ORDER BY form."ReceivedAt"`
  const subscriptions = await db.$queryRaw<{ row: object }[]>`
    SELECT to_jsonb(subscriber) || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'SubscriberId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."SubscriberId" = subscriber."Id"
    )) AS "row" FROM (
      SELECT "Email", "SubscribedAt", "ConsentVersion", "ConfirmedAt", "EndsAt", "Id" FROM "Quvera_Subscriber"
    ) subscriber WHERE lower("Email") = lower(${email}::text)`
  return { enquiries: enquiries.map(({ row }) => row), subscriptions: subscriptions.map(({ row }) => row) }
}
