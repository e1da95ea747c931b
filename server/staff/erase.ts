import type { Db } from '../database/database.ts'
import { withDatabase } from '../database/open-database.ts'
import { dropCopies } from '../database/snapshot.ts'
import { eraseBefore } from '../enquiries/retention.ts'
import { count, inIndia } from '../words.ts'
import { subtractAge } from './age.ts'
import { type Command, parse, UsageError } from './command.ts'
import { readHoldings, readPerson } from './person.ts'

const NOTHING_CHANGED = 'Nothing was changed. Repeat the command with --yes to erase for good.'
const ELSEWHERE = 'Copies in backups, in mailboxes and at Resend are not reached from here.'

export const eraseCommand: Command = {
  summary: 'erase what we hold about one person, or enquiries that are too old',
  help: `Usage: npm run -s staff -- erase --person EMAIL|MOBILE [--yes]
       npm run -s staff -- erase --older-than 24m|730d [--yes]

  --person WHO       a mail address in any case, or a mobile number, also with +91 and spaces: the enquiries and their
                     mails; of an address the subscription too
  --older-than AGE   enquiries received more than so many months (24m) or days (730d) ago, with their mails
  --yes              erase; without it the command only tells what it would erase

What is erased cannot be brought back. ${ELSEWHERE}`,
  login: "the tables' owner",
  async run(args, env) {
    const { values } = parse(args, {
      person: { type: 'string' },
      'older-than': { type: 'string' },
      yes: { type: 'boolean', default: false },
    })
    const { person, 'older-than': age, yes } = values
    if ((person === undefined) === (age === undefined)) throw new UsageError('Say either --person or --older-than')
    const who = person === undefined ? undefined : readPerson(person)
    const before = subtractAge(new Date(), age ?? '1d')
    await withDatabase(env(), async ({ db }) => {
      await (who ? erasePerson(db, who, yes) : eraseOld(db, before, yes))
      if (yes) await dropCopies(db)
    })
  },
}

async function erasePerson(db: Db, person: ReturnType<typeof readPerson>, yes: boolean) {
  const { enquiries, subscriptions } = await readHoldings(db, person)
  const mails = enquiries.reduce((sum, enquiry) => sum + enquiry.Mails.length, 0)
  const what = `${amount(enquiries.length, mails)} and ${count(subscriptions.length, 'subscription', 'subscriptions')}`
  if (enquiries.length + subscriptions.length === 0) return console.log('Nothing is stored about this person.')
  for (const { Reference, ReceivedAt } of enquiries) console.log(`${Reference}  ${inIndia(new Date(ReceivedAt))}`)
  if (!yes) return console.log(`Would erase ${what}. ${NOTHING_CHANGED}`)
  await db.$transaction([
    db.enquiry.deleteMany({ where: { id: { in: enquiries.map(({ Id }) => Id) } } }),
    db.subscriber.deleteMany({ where: { email: { in: subscriptions.map(({ Email }) => Email) } } }),
  ])
  console.log(`Erased ${what}. ${ELSEWHERE}`)
}

async function eraseOld(db: Db, before: Date, yes: boolean) {
  const old = { receivedAt: { lt: before } }
  const { _count, _min, _max } = await db.enquiry.aggregate({
    where: old,
    _count: true,
    _min: { receivedAt: true },
    _max: { receivedAt: true },
  })
  if (!_min.receivedAt || !_max.receivedAt) return console.log(`No enquiry was received before ${inIndia(before)}.`)
  const mails = await db.mail.count({ where: { enquiry: old } })
  const period = `received before ${inIndia(before)}: the first on ${inIndia(_min.receivedAt)}, the last on ${inIndia(_max.receivedAt)}`
  const what = `${amount(_count, mails)} ${period}`
  const rest = `${count((await db.enquiry.count()) - _count, 'enquiry stays', 'enquiries stay')}.`
  if (!yes) return console.log(`Would erase ${what}. ${rest} ${NOTHING_CHANGED}`)
  await eraseBefore(db, before)
  console.log(`Erased ${what}. ${rest} ${ELSEWHERE}`)
}

function amount(enquiries: number, mails: number) {
  return `${count(enquiries, 'enquiry', 'enquiries')} with ${count(mails, 'mail', 'mails')}`
}
