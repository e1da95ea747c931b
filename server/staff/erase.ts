import type { Db } from '../database/database.ts'
import { withDatabase } from '../database/open-database.ts'
import { type Command, count, parse, UsageError } from './command.ts'
import { inIndia } from './indian-time.ts'
import { readHoldings, readPerson } from './person.ts'

const DAY_MS = 86_400_000
const AGE_MAX = 1200
/** Few enough for one statement to stay well within the time limit of a query. */
const CHUNK = 500
const NOTHING_CHANGED = 'Nothing was changed. Repeat the command with --yes to erase for good.'
const ELSEWHERE = 'Copies in backups, in mailboxes and at Resend are not reached from here.'

export const eraseCommand: Command = {
  summary: 'erase what we hold about one person, or enquiries that are too old',
  help: `Usage: npm run -s staff -- erase --person EMAIL|MOBILE [--yes]
       npm run -s staff -- erase --older-than 24m|DAYS [--yes]

  --person WHO       a mail address in any case, or a mobile number, also with +91 and spaces: the enquiries, their
                     mails, and the subscription
  --older-than AGE   enquiries received more than so many months (24m) or days (730) ago, with their mails
  --yes              erase; without it the command only tells what it would erase

What is erased cannot be brought back. ${ELSEWHERE}`,
  async run(args, env) {
    const { values } = parse(args, {
      person: { type: 'string' },
      'older-than': { type: 'string' },
      yes: { type: 'boolean', default: false },
    })
    const { person, 'older-than': age, yes } = values
    if ((person === undefined) === (age === undefined)) throw new UsageError('Say either --person or --older-than')
    if (person !== undefined) {
      const who = readPerson(person)
      return withDatabase(env(), ({ db }) => erasePerson(db, who, yes))
    }
    const before = subtractAge(new Date(), age ?? '')
    return withDatabase(env(), ({ db }) => eraseOld(db, before, yes))
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
  const [enquiries, mails] = [await db.enquiry.count({ where: old }), await db.mail.count({ where: { enquiry: old } })]
  const what = `${amount(enquiries, mails)} received before ${inIndia(before)}`
  if (enquiries === 0) return console.log(`No enquiry was received before ${inIndia(before)}.`)
  if (!yes) return console.log(`Would erase ${what}. ${NOTHING_CHANGED}`)
  for (;;) {
    const rows = await db.enquiry.findMany({ where: old, select: { id: true }, take: CHUNK })
    if (rows.length === 0) break
    await db.enquiry.deleteMany({ where: { id: { in: rows.map(({ id }) => id) } } })
  }
  console.log(`Erased ${what}. ${ELSEWHERE}`)
}

function amount(enquiries: number, mails: number) {
  return `${count(enquiries, 'enquiry', 'enquiries')} with ${count(mails, 'mail', 'mails')}`
}

/** `24m`: the same day of the month 24 months ago, or the last one of a shorter month. `730`: as many days. */
export function subtractAge(now: Date, age: string): Date {
  const [, digits, unit] = /^([1-9]\d{0,4})([md]?)$/.exec(age) ?? []
  const number = Number(digits)
  if (!digits || (unit === 'm' && number > AGE_MAX)) throw new UsageError(`"${age}" is not an age; write 24m or 730`)
  if (unit !== 'm') return new Date(now.getTime() - number * DAY_MS)
  const result = new Date(now)
  result.setUTCMonth(result.getUTCMonth() - number)
  if (result.getUTCDate() !== now.getUTCDate()) result.setUTCDate(0)
  return result
}
