import { formatIndianTime } from '../../shared/indian-time.ts'
import { readNow } from '../database/database.ts'
import { type Enquiry, inOrder, type ListOrder, readEnquiries } from '../database/enquiry.ts'
import { Prisma } from '../database/generated/client.ts'
import { formatCount } from '../format.ts'
import { type AddCommand, type Terminal, UsageError } from '../terminal.ts'
import { type Age, findByReference, isOfPerson, type Person, readAge, readPerson, readReferences } from './person.ts'

const LISTED_MAX = 50
/** Few enough for a short statement. */
const CHUNK = 500
const ELSEWHERE =
  'Not erased: copies in backups (erase again after a restore), in mailboxes, at Resend and at NOTIFY_URL, what is being sent just now, and bytes in the files of the database until they are written over.'

export function eraseCommand(add: AddCommand, { print, recordAccess, onDatabase }: Terminal) {
  add('erase')
    .summary('erase one enquiry, what we hold about one person, or enquiries that are too old')
    .argument('[references...]', 'enquiries, with their mails; a subscription stays')
    .option(
      '--person <who>',
      'a mail address in any case, or a mobile number: the enquiries and their mails; of an address the subscription too',
      readPerson,
    )
    .option(
      '--older-than <age>',
      'enquiries received more than so many months (24m) or days (730d) ago, with their mails',
      readAge,
    )
    .option('--yes', 'erase; without it the command only shows what it would erase')
    .description(`What is erased here comes back only from a backup. ${ELSEWHERE}`)
    .action(async (words: string[], options: { person?: Person; olderThan?: Age; yes?: boolean }) => {
      const { person, olderThan, yes } = options
      if ([words[0], person, olderThan].filter(Boolean).length !== 1)
        throw new UsageError('Name either REFERENCE, --person or --older-than')
      const references = readReferences(words)
      await onDatabase(async (db) => {
        const ids = (await findByReference(db, references)).map(({ id }) => id)
        let isMeant = Prisma.sql`form."Id" = ANY(${ids}::uuid[])`
        if (olderThan) isMeant = Prisma.sql`form."ReceivedAt" < ${olderThan(await readNow(db))}`
        else if (person) isMeant = isOfPerson(person)
        const find = (order: ListOrder, most: number) =>
          readEnquiries(db, Prisma.sql`WHERE ${isMeant} ORDER BY ${inOrder(order)} LIMIT ${most}`)
        const [{ count, mailCount }] = await db.$queryRaw<[{ count: number; mailCount: number }]>`
          SELECT count(DISTINCT form."Id")::int AS "count", count(mail."Id")::int AS "mailCount"
          FROM "Quvera_Form" form LEFT JOIN "Quvera_Mail" mail ON mail."EnquiryId" = form."Id" WHERE ${isMeant}`
        const subscription = person && 'email' in person ? { email: person.email.toLowerCase() } : undefined
        const subscriptions = subscription ? await db.subscriber.count({ where: subscription }) : 0
        const mails = formatCount(mailCount, 'mail', 'mails')
        const what = `${formatCount(count, 'enquiry', 'enquiries')} with ${mails} and ${formatCount(subscriptions, 'subscription', 'subscriptions')}`
        await recordAccess(db, yes ? what : `only shown: ${what}`) // also without --yes: the answer tells whether we know the person
        if (count + subscriptions === 0) return print('Nothing stored matches.')
        const toLine = ({ reference, receivedAt }: Enquiry) => `${reference}  ${formatIndianTime(receivedAt)}`
        for (const enquiry of await find('oldest', LISTED_MAX)) print(toLine(enquiry))
        if (count > LISTED_MAX)
          for (const last of await find('newest', 1)) print(`and ${count - LISTED_MAX} more, the last: ${toLine(last)}`)
        if (!yes)
          return print(`Would erase ${what}. Nothing was changed. Repeat the command with --yes to erase for good.`)
        const eraseSome = () => db.$executeRaw`
          DELETE FROM "Quvera_Form" WHERE "Id" IN (SELECT form."Id" FROM "Quvera_Form" form WHERE ${isMeant} LIMIT ${CHUNK})`
        // Another process may erase the same ones first: the end is when none is left.
        do await eraseSome()
        while ((await find('oldest', 1)).length > 0)
        if (subscription) await db.subscriber.deleteMany({ where: subscription })
        print(`Erased ${what}. ${ELSEWHERE}`)
      })
    })
}
