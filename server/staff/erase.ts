import { formatIndianTime } from '../../shared/indian-time.ts'
import { readNow, retryDeadlock } from '../database/database.ts'
import { formatCount } from '../format.ts'
import {
  type Age,
  findByReference,
  type Person,
  personFilter,
  readAge,
  readPerson,
  readReferences,
  UsageError,
} from './input.ts'
import type { AddCommand, Terminal } from './output.ts'

const LISTED_MAX = 50
const byTime = (direction: 'asc' | 'desc') => [{ receivedAt: direction }, { id: direction }]
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
        const named = { id: { in: (await findByReference(db, references)).map(({ id }) => id) } }
        const old = olderThan && { receivedAt: { lt: olderThan(await readNow(db)) } }
        const where = old ?? (person ? personFilter(person) : named)
        const select = { id: true, reference: true, receivedAt: true }
        const find = (order: 'asc' | 'desc', take: number) =>
          db.enquiry.findMany({ where, select, orderBy: byTime(order), take })
        const count = await db.enquiry.count({ where })
        const subscription = person && 'email' in person ? { email: person.email.toLowerCase() } : undefined
        const subscriptions = subscription ? await db.subscriber.count({ where: subscription }) : 0
        const mails = formatCount(await db.mail.count({ where: { enquiry: where } }), 'mail', 'mails')
        const what = `${formatCount(count, 'enquiry', 'enquiries')} with ${mails} and ${formatCount(subscriptions, 'subscription', 'subscriptions')}`
        await recordAccess(db, yes ? what : `only shown: ${what}`) // also without --yes: the answer tells whether we know the person
        if (count + subscriptions === 0) return print('Nothing stored matches.')
        const toLine = ({ reference, receivedAt }: { reference: string; receivedAt: Date }) =>
          `${reference}  ${formatIndianTime(receivedAt)}`
        for (const row of await find('asc', LISTED_MAX)) print(toLine(row))
        if (count > LISTED_MAX)
          for (const row of await find('desc', 1)) print(`and ${count - LISTED_MAX} more, the last: ${toLine(row)}`)
        if (!yes)
          return print(`Would erase ${what}. Nothing was changed. Repeat the command with --yes to erase for good.`)
        while (true) {
          const ids = (await find('asc', CHUNK)).map(({ id }) => id)
          if (ids.length === 0) break
          await retryDeadlock(() => db.enquiry.deleteMany({ where: { id: { in: ids } } }))
        }
        if (subscription) await db.subscriber.deleteMany({ where: subscription })
        print(`Erased ${what}. ${ELSEWHERE}`)
      })
    })
}
