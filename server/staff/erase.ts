import type { Db } from '../database/database.ts'
import { DROP_COPIES } from '../database/snapshot.ts'
import { eraseBefore } from '../enquiries/retention.ts'
import { formatCount, formatIndianTime } from '../format.ts'
import { findByReference, type Person, readAge, readPerson, readReferences, UsageError } from './input.ts'
import type { AddCommand, Terminal } from './output.ts'

const NOTHING_CHANGED = 'Nothing was changed. Repeat the command with --yes to erase for good.'
const ELSEWHERE =
  'Not reached from here: copies in backups (erase again after a restore), in mailboxes, at Resend and at NOTIFY_URL, what is being sent just now, and bytes in the files of the database until they are written over.'

export function eraseCommand(add: AddCommand, terminal: Terminal) {
  add('erase')
    .summary('erase one enquiry, what we hold about one person, or enquiries that are too old')
    .usage(
      `REFERENCE … [--yes]
       npm run -s staff -- erase --person EMAIL|MOBILE [--yes]
       npm run -s staff -- erase --older-than 24m|730d [--yes]`,
    )
    .argument('[references...]', 'enquiries, with their mails; a subscription stays')
    .option(
      '--person <who>',
      'a mail address in any case, or a mobile number, also with +91 and spaces: the enquiries and their mails; of an address the subscription too',
      readPerson,
    )
    .option(
      '--older-than <age>',
      'enquiries received more than so many months (24m) or days (730d) ago, with their mails',
      (age) => readAge(age),
    )
    .option('--yes', 'erase; without it the command only tells what it would erase')
    .description(`What is erased here comes back only from a backup. ${ELSEWHERE}`)
    .action(async (words: string[], { person, olderThan, yes = false }: Options) => {
      if ([words[0], person, olderThan].filter(Boolean).length !== 1)
        throw new UsageError('Say either REFERENCE, --person or --older-than')
      const references = readReferences(words)
      await terminal.onDatabase(async (db) => {
        const rows = await findByReference(db, references)
        const named = { references: rows.map(({ reference }) => reference) }
        await (olderThan ? eraseOld(terminal, db, olderThan, yes) : eraseThese(terminal, db, person ?? named, yes))
        if (yes) await db.$executeRawUnsafe(DROP_COPIES)
      })
    })
}

interface Options {
  person?: Person
  olderThan?: Date
  yes?: boolean
}

async function eraseThese(terminal: Terminal, db: Db, whose: Whose, yes: boolean) {
  const { print } = terminal
  const { enquiries, subscriptions } = await readHoldings(db, whose)
  const mails = enquiries.reduce((sum, enquiry) => sum + enquiry.Mails.length, 0)
  const what = `${amount(enquiries.length, mails)} and ${formatCount(subscriptions.length, 'subscription', 'subscriptions')}`
  if (enquiries.length + subscriptions.length === 0) return print('Nothing is stored about this person.')
  for (const { Reference, ReceivedAt } of enquiries) print(`${Reference}  ${formatIndianTime(new Date(ReceivedAt))}`)
  if (!yes) return print(`Would erase ${what}. ${NOTHING_CHANGED}`)
  await terminal.recordAccess(db, what)
  await db.$transaction([
    db.enquiry.deleteMany({ where: { id: { in: enquiries.map(({ Id }) => Id) } } }),
    db.subscriber.deleteMany({ where: { email: { in: subscriptions.map(({ Email }) => Email) } } }),
  ])
  print(`Erased ${what}. ${ELSEWHERE}`)
}

async function eraseOld(terminal: Terminal, db: Db, before: Date, yes: boolean) {
  const { print } = terminal
  const old = { receivedAt: { lt: before } }
  const at = { receivedAt: true } as const
  const { _count, _min, _max } = await db.enquiry.aggregate({ where: old, _count: true, _min: at, _max: at })
  if (!_min.receivedAt || !_max.receivedAt) return print(`No enquiry was received before ${formatIndianTime(before)}.`)
  const mails = await db.mail.count({ where: { enquiry: old } })
  const period = `received before ${formatIndianTime(before)}: the first on ${formatIndianTime(_min.receivedAt)}, the last on ${formatIndianTime(_max.receivedAt)}`
  const what = `${amount(_count, mails)} ${period}`
  const rest = `${formatCount((await db.enquiry.count()) - _count, 'enquiry stays', 'enquiries stay')}.`
  if (!yes) return print(`Would erase ${what}. ${rest} ${NOTHING_CHANGED}`)
  await terminal.recordAccess(db, what)
  await eraseBefore(db, before)
  print(`Erased ${what}. ${rest} ${ELSEWHERE}`)
}

function amount(enquiries: number, mails: number) {
  return `${formatCount(enquiries, 'enquiry', 'enquiries')} with ${formatCount(mails, 'mail', 'mails')}`
}

/** Rows as the database has them: all columns under their own names. */
interface Holdings {
  enquiries: { Id: string; Reference: string; ReceivedAt: string; Mails: unknown[] }[]
  subscriptions: { Email: string }[]
}

type Whose = Person | { references: string[] }

/**
 * All we hold of a person, or enquiries by their references. Subscriptions are found by their address only: the
 * addresses beside a mobile number may be anybody's, typed by somebody else. In SQL, because Prisma's way to ignore case
 * takes `_` and `%` for wildcards.
 */
export async function readHoldings(db: Db, whose: Whose): Promise<Holdings> {
  const { email, mobile, references }: { email?: string; mobile?: string; references?: string[] } = whose
  const enquiries = await db.$queryRaw<{ row: Holdings['enquiries'][number] }[]>`
    SELECT to_jsonb(form) || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'EnquiryId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."EnquiryId" = form."Id"
    ), 'History', (
      SELECT coalesce(jsonb_agg(to_jsonb(change) - 'EnquiryId' - 'Who' ORDER BY change."Id"), '[]')
      FROM "Quvera_History" change WHERE change."EnquiryId" = form."Id"
    )) AS "row" FROM "Quvera_Form" form
    WHERE lower("Email") = lower(${email ?? null}::text) OR "Mobile" = ${mobile ?? null}::text OR "Reference" = ANY(${references ?? []}::text[])
    ORDER BY form."ReceivedAt"`
  const subscriptions = await db.$queryRaw<{ row: Holdings['subscriptions'][number] }[]>`
    SELECT to_jsonb(subscriber) || jsonb_build_object('Mails', (
      SELECT coalesce(jsonb_agg(to_jsonb(mail) - 'SubscriberId' ORDER BY mail."Id"), '[]')
      FROM "Quvera_Mail" mail WHERE mail."SubscriberId" = subscriber."Id"
    )) AS "row" FROM (
      SELECT "Email", "SubscribedAt", "ConsentVersion", "ConfirmedAt", "EndsAt", "Id" FROM "Quvera_Subscriber"
    ) subscriber WHERE lower("Email") = lower(${email ?? null}::text)`
  return { enquiries: enquiries.map(({ row }) => row), subscriptions: subscriptions.map(({ row }) => row) }
}
