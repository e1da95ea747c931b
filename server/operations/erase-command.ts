import { formatCount } from '../../shared/count.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { type Db, readNow } from '../database/database.ts'
import type { Prisma } from '../database/generated/client.ts'
import { type AddCommand, type Terminal, UsageError } from '../terminal.ts'
import { type Age, findByReference, ofPerson, type Person, readAge, readPerson, readReferences } from './person.ts'

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
        const where = await readMeant(db, references, person, olderThan)
        const count = await db.enquiry.count({ where })
        const subscription = person && 'email' in person ? { email: person.email.toLowerCase() } : undefined
        const subscriptions = subscription ? await db.subscriber.count({ where: subscription }) : 0
        const mails = formatCount(await db.mail.count({ where: { enquiry: where } }), 'mail')
        const what = `${formatCount(count, 'enquiry', 'enquiries')} with ${mails} and ${formatCount(subscriptions, 'subscription')}`
        // Also without --yes: the answer tells whether we know the person. With it, before: an erasure that fails half-way has its line.
        await recordAccess(db, `${yes ? 'to erase' : 'only shown'}: ${what}`)
        if (count + subscriptions === 0) return print('Nothing stored matches.')
        for (const line of await listLines(db, where, 'asc', LISTED_MAX)) print(line)
        if (count > LISTED_MAX)
          for (const last of await listLines(db, where, 'desc', 1))
            print(`and ${count - LISTED_MAX} more, the last: ${last}`)
        if (!yes)
          return print(`Would erase ${what}. Nothing was changed. Repeat the command with --yes to erase for good.`)
        // Another process may erase the same ones first: the end is when none is left.
        do await db.enquiry.deleteMany({ where, limit: CHUNK })
        while ((await db.enquiry.count({ where, take: 1 })) > 0)
        if (subscription) await db.subscriber.deleteMany({ where: subscription })
        await recordAccess(db, `erased: ${what}`)
        print(`Erased ${what}. ${ELSEWHERE}`)
      })
    })
}

async function readMeant(
  db: Db,
  references: string[],
  person?: Person,
  olderThan?: Age,
): Promise<Prisma.EnquiryWhereInput> {
  if (olderThan) return { receivedAt: { lt: olderThan(await readNow(db)) } }
  return person ? ofPerson(person) : { id: { in: (await findByReference(db, references)).map(({ id }) => id) } }
}

async function listLines(
  db: Db,
  where: Prisma.EnquiryWhereInput,
  order: 'asc' | 'desc',
  take: number,
): Promise<string[]> {
  const select = { reference: true, receivedAt: true }
  const found = await db.enquiry.findMany({ where, select, orderBy: [{ receivedAt: order }, { id: order }], take })
  return found.map(({ reference, receivedAt }) => `${reference}  ${formatIndianTime(receivedAt)}`)
}
