/** `npm run seed`: made-up enquiries for Studio and the staff command. The newest is of today. */
import { v7 as uuidv7 } from 'uuid'
import { BuyerType, Product } from '../server/database/generated/enums.ts'
import { createReference } from '../server/enquiries/insert-enquiries.ts'
import { readEnv } from '../server/env.ts'
import { exitWithReason, OperatorError } from '../server/errors.ts'
import { DAY_MS } from '../server/format.ts'
import { withDatabase } from '../server/open-database.ts'
import { brand } from '../shared/brand.ts'
import { PRIVACY_NOTICE_VERSION } from '../shared/order.ts'

const ENQUIRIES = 60
const BETWEEN_MS = (17 / 24) * DAY_MS
const people =
  'Asha Verma|Rohan Mehta|Fatima Sheikh|Karthik Iyer|Priya Nair|Gurpreet Singh|Ananya Das|Vikram Rathore|Meera Joshi|Joseph Fernandes|Sunita Yadav|Imran Qureshi|Lakshmi Reddy|Arjun Kapoor|Nandini Bose|Harish Patel|Zoya Khan|Deepak Sharma|Kavya Menon'
const shops =
  'Aarogya Medicos|City Care Pharmacy|Sai Medical Stores|Wellness Corner|Jeevan Chemists|Green Cross Pharmacy|Shanti Medical Hall'
const refusal = '422 validation_error: Invalid `to` field. The address is on the suppression list.'
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS

function pick(list: string, index: number): string {
  const items = list.split('|')
  return items[index % items.length] ?? ''
}

/** An enquiry and its mails. None is Pending, because a site with a key would send it. */
function enquiry(index: number) {
  const receivedAt = new Date(today - index * BETWEEN_MS)
  const isRetailer = index % 5 < 2
  const person = pick(people, index)
  const suspectedSpam = index % 25 === 9
  const sent = {
    status: 'Sent',
    attempts: 1,
    resendId: `seed-${index}`,
    firstTriedAt: receivedAt,
    sentAt: receivedAt,
    dueAt: null,
  } as const
  const refused = { status: 'Failed', attempts: 1, lastError: refusal, firstTriedAt: receivedAt, dueAt: null } as const
  const withheld = { status: 'Withheld', withheldBecause: 'TooOld', dueAt: null } as const
  const notice = { kind: 'Notice' as const, to: brand.email, ...(index % 33 === 20 ? withheld : sent) }
  const reply = { kind: 'Acknowledgement' as const, ...(index % 8 === 5 ? refused : sent) }
  return {
    id: uuidv7({ msecs: receivedAt.getTime() }),
    reference: createReference(),
    receivedAt,
    name: isRetailer ? `${person}, ${pick(shops, index)}` : person,
    email: `${person.toLowerCase().replace(' ', '.')}@${isRetailer ? 'shop' : 'mail'}.example`,
    mobile: `98${76_543_210 + index * 263_171}`,
    quantity: isRetailer ? 12 * (1 + (index % 20)) : 1 + (index % 4),
    retailerSelfUse: isRetailer ? BuyerType.Retailer : BuyerType.SelfUse,
    products: Object.values(Product)[index % 7 < 4 ? 0 : 1] as Product,
    status: index < 6 || index % 9 === 4 ? ('New' as const) : index < 20 ? ('Contacted' as const) : ('Closed' as const),
    suspectedSpam,
    privacyNoticeVersion: PRIVACY_NOTICE_VERSION,
    submissionKey: crypto.randomUUID(),
    mails: { create: suspectedSpam ? [] : [notice, reply] },
  }
}

await withDatabase({ ...readEnv(process.env), create: true, migrate: true }, async ({ db }) => {
  if ((await db.enquiry.count()) > 0)
    throw new OperatorError('The database holds enquiries; only an empty one is seeded.')
  const enquiries = Array.from({ length: ENQUIRIES }, (_, index) => enquiry(index))
  await db.$transaction(enquiries.map((data) => db.enquiry.create({ data })))
  console.log(
    `Stored ${ENQUIRIES} enquiries. The site sends none of their mails; \`staff mails retry --yes\` sends the refused ones.`,
  )
}).catch(exitWithReason)
