/** `npm run seed`: enquiries to look at in Studio and to try the staff command on. Always the same ones, as of today. */
import { createHash } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { BuyerType, Product } from '../server/database/generated/enums.ts'
import { withDatabase } from '../server/database/open-database.ts'
import { readEnv } from '../server/env.ts'
import { describeFailure, OperatorError } from '../server/errors.ts'
import { DAY_MS } from '../server/words.ts'
import { brand } from '../shared/brand.ts'
import { NOTICE_VERSION } from '../shared/order.ts'
import { REFERENCE_ALPHABET, REFERENCE_LENGTH } from '../shared/reference-shape.ts'
import { CONSENT_VERSION } from '../shared/subscription.ts'

const ENQUIRIES = 60
const SUBSCRIBERS = 8
const DAYS = 42

const people =
  'Asha Verma|Rohan Mehta|Fatima Sheikh|Karthik Iyer|Priya Nair|Gurpreet Singh|Ananya Das|Vikram Rathore|Meera Joshi|Joseph Fernandes|Sunita Yadav|Imran Qureshi|Lakshmi Reddy|Arjun Kapoor|Nandini Bose|Harish Patel|Zoya Khan|Deepak Sharma|Kavya Menon|Thomas Kurian'.split(
    '|',
  )
const shops =
  'Aarogya Medicos|City Care Pharmacy|Sai Medical Stores|Wellness Corner|Jeevan Chemists|Green Cross Pharmacy|Shanti Medical Hall|New Life Chemists'.split(
    '|',
  )
const refusals = [
  '422 validation_error: Invalid `to` field. The address is on the suppression list.',
  '422 invalid_parameter: The `to` address does not accept mail.',
]

/** What looks like chance, and is the same each time. */
function chanceOf(index: number) {
  const bytes = (what: string) => createHash('sha256').update(`${index} ${what}`).digest()
  const below = (limit: number, what: string) => bytes(what).readUInt32BE() % limit
  return { bytes, below, pick: <T>(items: readonly T[], what: string): T => items[below(items.length, what)] as T }
}

/** An enquiry and its mails. None is Pending: a site with a key would send it to somebody. */
function enquiry(index: number, today: number) {
  const { bytes, below, pick } = chanceOf(index)
  const receivedAt = new Date(today - below(DAYS, 'day') * DAY_MS - below(14 * 60, 'minute') * 60_000)
  const isRetailer = below(10, 'retailer') < 4
  const person = pick(people, 'person')
  const suspectedSpam = below(25, 'spam') === 0
  const age = (today - receivedAt.getTime()) / DAY_MS
  const mail = (kind: 'Staff' | 'Acknowledgement') => {
    if (kind === 'Acknowledgement' && below(8, 'refused') === 0)
      return { kind, status: 'Failed' as const, attempts: 1, lastError: pick(refusals, 'refusal') }
    if (below(33, kind) === 0) return { kind, status: 'Withheld' as const, lastError: 'Not sent: made by the seed.' }
    return { kind, status: 'Sent' as const, attempts: 1, resendId: `seed-${kind}-${index}`, sentAt: receivedAt }
  }
  const status = age > 14 && below(10, 'closed') < 7 ? 'Closed' : below(14, 'contacted') < age ? 'Contacted' : 'New'
  const characters = Array.from({ length: REFERENCE_LENGTH }, (_, at) =>
    pick([...REFERENCE_ALPHABET], `character ${at}`),
  )
  return {
    id: uuidv7({ msecs: receivedAt.getTime(), random: bytes('id') }),
    reference: `${brand.referencePrefix}-${characters.join('')}`,
    receivedAt,
    name: isRetailer ? `${person}, ${pick(shops, 'shop')}` : person,
    email: `${person.toLowerCase().replace(' ', '.')}@${isRetailer ? 'shop' : 'mail'}.example`,
    mobile: `${6 + below(4, 'first digit')}${String(below(1e9, 'mobile')).padStart(9, '0')}`,
    quantity: isRetailer ? 12 * (1 + below(20, 'dozens')) : 1 + below(4, 'quantity'),
    retailerSelfUse: isRetailer ? BuyerType.Retailer : BuyerType.SelfUse,
    products: pick(Object.values(Product), 'product'),
    status: status as 'New' | 'Contacted' | 'Closed',
    suspectedSpam,
    noticeVersion: NOTICE_VERSION,
    submissionKey: uuidv7({ msecs: receivedAt.getTime(), random: bytes('key') }),
    mails: { create: suspectedSpam ? [mail('Staff')] : [mail('Staff'), mail('Acknowledgement')] },
  }
}

try {
  await withDatabase({ ...readEnv(process.env), make: true, migrate: true }, async ({ db }) => {
    if ((await db.enquiry.count()) > 0)
      throw new OperatorError('The database holds enquiries; only an empty one is seeded.')
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
    const data = Array.from({ length: ENQUIRIES }, (_, index) => enquiry(index, today))
    await db.$transaction([
      ...data.map((each) => db.enquiry.create({ data: each })),
      db.subscriber.createMany({
        data: people.slice(0, SUBSCRIBERS).map((person, index) => ({
          email: `${person.toLowerCase().replace(' ', '.')}@mail.example`,
          subscribedAt: new Date(today - index * 3 * DAY_MS),
          consentVersion: CONSENT_VERSION,
          confirmedAt: new Date(today - index * 2 * DAY_MS),
        })),
        skipDuplicates: true,
      }),
    ])
    console.log(`Stored ${ENQUIRIES} enquiries and ${SUBSCRIBERS} subscribers. None of their mails will be sent.`)
  })
} catch (error) {
  console.error(describeFailure(error))
  process.exitCode = 1
}
