/** `npm run seed`: 60 made-up enquiries of the last 30 days, as a desk has them that two people work at. */
import { v7 as uuidv7 } from 'uuid'
import { createReference } from '../server/database/enquiry.ts'
import { BuyerType, ClosedAs, Product } from '../server/database/generated/enums.ts'
import { withDatabase } from '../server/database/open.ts'
import { readEnv } from '../server/env.ts'
import { exitWithReason, OperatorError } from '../server/errors.ts'
import { DAY_MS } from '../shared/indian-time.ts'
import { PRIVACY_NOTICE_VERSION } from '../shared/order.ts'

const ENQUIRIES = 60
const HOUR_MS = DAY_MS / 24
const DAYS = 30
const people =
  'Asha Verma|Rohan Mehta|Fatima Sheikh|Karthik Iyer|Priya Nair|Gurpreet Singh|Ananya Das|Vikram Rathore|Meera Joshi|José Fernandes|Sunita Yadav|Imran Qureshi|Lakshmi Reddy|Arjun Kapoor|नंदिनी बोस|Harish Patel|Zoya Khan|Deepak Sharma|Kavya Menon'
const shops =
  'Aarogya Medicos|City Care Pharmacy|Sai Medical Stores|Wellness Corner|Jeevan Chemists|Green Cross Pharmacy|Shanti Medical Hall'
const notes =
  'asks for a price by the box of ten|rings back on Monday after eleven|wants to know about the shell: fish gelatine|ordered by phone, invoice sent'
const bounce = '550 5.1.1 no such mailbox'

function pick(list: string, index: number): string {
  const items = list.split('|')
  return items[index % items.length] ?? ''
}

/** More on some days than on others, between eight in the morning and eleven at night. */
function timeOf(index: number, now: number): number {
  const daysAgo = Math.floor(DAYS * (index / ENQUIRIES) ** 1.15 + Math.abs(Math.sin(index * 2.3)) * 1.5)
  const midnight = Math.floor(now / DAY_MS) * DAY_MS - 5.5 * HOUR_MS
  const time = midnight - daysAgo * DAY_MS + (8 + ((index * 37) % 15)) * HOUR_MS + ((index * 17) % 60) * 60_000
  return time < now ? time : time - DAY_MS
}

const statusChange = (before: string, after: string) => ({
  what: 'Status',
  before: { Status: before },
  after: { Status: after },
})

function statusOf(index: number) {
  if (index < 4 || index % 11 === 4) return 'New'
  return index % 3 === 1 ? 'Contacted' : 'Closed'
}

/** An enquiry with its mails and history. No mail is Pending, because a site with a key would send it. */
function enquiry(index: number, now: number, staff: string[]) {
  const receivedAt = new Date(index === 0 ? now - 25 * 60_000 : timeOf(index, now))
  const isRetailer = index % 5 < 2
  const person = pick(people, index)
  const suspectedSpam = index % 20 === 9
  const status = statusOf(index)
  const calls = index % 6 === 3 ? 1 + (index % 2) : 0
  const first = staff[0] ?? ''
  const colleague = staff[1] ?? first.replace(/^[^@]*/, 'ravi')
  const later = (hours: number) => new Date(Math.min(now - 60_000, receivedAt.getTime() + hours * HOUR_MS))
  const called = Array.from({ length: calls }, (_, call) => ({ at: later(2 + 3 * call), who: first }))
  const noted = index % 4 === 2 ? [{ at: later(9), who: colleague, text: pick(notes, index) }] : []
  const answered = status === 'New' ? [] : [{ at: later(10 + (index % 9)), who: index % 2 ? first : colleague }]
  const arrived = {
    status: 'Delivered',
    attempts: 1,
    firstTriedAt: receivedAt,
    sentAt: receivedAt,
    dueAt: null,
  } as const
  const bounced = { ...arrived, status: 'Bounced', lastError: bounce } as const
  const mails = [
    ...staff.map((to) => ({ kind: 'Notice' as const, to, ...arrived, resendId: `seed-${index}` })),
    { kind: 'Acknowledgement' as const, ...(index % 8 === 5 ? bounced : arrived) },
  ]
  const row = {
    id: uuidv7({ msecs: receivedAt.getTime() }),
    reference: createReference(),
    receivedAt,
    name: isRetailer ? `${person}, ${pick(shops, index)}` : person,
    email: `customer.${index}@${isRetailer ? 'shop' : 'mail'}.example`,
    mobile: `98${76_543_210 + (index % 9 === 1 ? 1 : index) * 263_171}`, // one rings again and again
    quantity: isRetailer ? 12 * (1 + (index % 20)) : 1 + (index % 4),
    retailerSelfUse: isRetailer ? BuyerType.Retailer : BuyerType.SelfUse,
    products: Object.values(Product)[index % 7 < 4 ? 0 : 1] as Product,
    status: suspectedSpam ? ('New' as const) : (status as 'New'),
    suspectedSpam,
    closedAs: status === 'Closed' && !suspectedSpam ? (Object.values(ClosedAs)[index % 4] as ClosedAs) : null,
    remindOn: status === 'New' && calls > 0 && !suspectedSpam ? new Date(now - (index % 2) * DAY_MS) : null,
    privacyNoticeVersion: PRIVACY_NOTICE_VERSION,
    submissionKey: crypto.randomUUID(),
  }
  const of = { enquiryId: row.id }
  const closed = status === 'Closed' ? answered : []
  const history = [
    ...called.map((call) => ({ ...of, ...call, what: 'Call' })),
    ...noted.map((note) => ({ ...of, ...note, what: 'Note' })),
    ...answered.map((change) => ({ ...of, ...change, ...statusChange('New', 'Contacted') })),
    ...closed.map(({ who }) => ({ ...of, at: later(60), who, ...statusChange('Contacted', 'Closed') })),
  ]
  return suspectedSpam
    ? { row, mails: [], history: [] }
    : { row, mails: mails.map((mail) => ({ ...of, ...mail })), history }
}

const env = readEnv(process.env)
await withDatabase({ ...env, create: true, migrate: true }, async ({ db }) => {
  if ((await db.enquiry.count()) > 0)
    throw new OperatorError('The database holds enquiries; only an empty one is seeded.')
  const now = Date.now()
  const enquiries = Array.from({ length: ENQUIRIES }, (_, index) => enquiry(index, now, env.STAFF_EMAILS))
  await db.$transaction([
    db.enquiry.createMany({ data: enquiries.map(({ row }) => row) }),
    db.mail.createMany({ data: enquiries.flatMap(({ mails }) => mails) }),
    db.historyEntry.createMany({ data: enquiries.flatMap(({ history }) => history) }),
  ])
  console.log(`Stored ${ENQUIRIES} enquiries. None of their mails is sent.`)
}).catch(exitWithReason)
