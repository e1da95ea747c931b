/** `npm run seed`: enquiries to look at in Studio and to try the staff command on. Always the same ones, as of today. */
import { v7 as uuidv7 } from 'uuid'
import { BuyerType, Product } from '../server/database/generated/enums.ts'
import { withDatabase } from '../server/database/open-database.ts'
import { readEnv } from '../server/env.ts'
import { describeFailure, OperatorError } from '../server/errors.ts'
import { brand } from '../shared/brand.ts'
import { NOTICE_VERSION } from '../shared/order.ts'
import { REFERENCE_ALPHABET } from '../shared/reference-shape.ts'
import { CONSENT_VERSION } from '../shared/subscription.ts'
import { createPrng } from './prng.ts'

const ENQUIRIES = 60
const SUBSCRIBERS = 8
const DAYS = 42
const DAY_MS = 86_400_000

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

/** An enquiry and its mails. None is Pending: a site with a key would send it to somebody. */
function enquiry(prng: ReturnType<typeof createPrng>, today: number) {
  const receivedAt = new Date(today - prng.below(DAYS) * DAY_MS - prng.below(14 * 60) * 60_000)
  const isRetailer = prng.chance(0.4)
  const person = prng.pick(people)
  const name = isRetailer ? `${person}, ${prng.pick(shops)}` : person
  const suspectedSpam = prng.chance(0.04)
  const age = (today - receivedAt.getTime()) / DAY_MS
  const mail = (kind: 'Staff' | 'Acknowledgement') => {
    if (kind === 'Acknowledgement' && prng.chance(0.12)) {
      return { kind, status: 'Failed' as const, attempts: 1, lastError: prng.pick(refusals) }
    }
    if (prng.chance(0.03)) return { kind, status: 'Withheld' as const, lastError: 'Not sent: made by the seed.' }
    return { kind, status: 'Sent' as const, attempts: 1, resendId: `seed-${prng.below(1e9)}`, sentAt: receivedAt }
  }
  return {
    id: uuidv7({ msecs: receivedAt.getTime(), random: prng.bytes(16) }),
    reference: `${brand.referencePrefix}-${Array.from({ length: 6 }, () => prng.pick([...REFERENCE_ALPHABET])).join('')}`,
    receivedAt,
    name,
    email: `${person.toLowerCase().replace(' ', '.')}@${isRetailer ? 'shop' : 'mail'}.example`,
    mobile: `${6 + prng.below(4)}${String(prng.below(1e9)).padStart(9, '0')}`,
    quantity: isRetailer ? 12 * (1 + prng.below(20)) : 1 + prng.below(4),
    retailerSelfUse: isRetailer ? BuyerType.Retailer : BuyerType.SelfUse,
    products: prng.pick(Object.values(Product)),
    status:
      age > 14 && prng.chance(0.7)
        ? ('Closed' as const)
        : prng.chance(age / 14)
          ? ('Contacted' as const)
          : ('New' as const),
    suspectedSpam,
    noticeVersion: NOTICE_VERSION,
    submissionKey: uuidv7({ msecs: receivedAt.getTime(), random: prng.bytes(16) }),
    mails: { create: suspectedSpam ? [mail('Staff')] : [mail('Staff'), mail('Acknowledgement')] },
  }
}

try {
  await withDatabase(readEnv(process.env), async ({ db }) => {
    if ((await db.enquiry.count()) > 0)
      throw new OperatorError('The database holds enquiries; only an empty one is seeded.')
    const prng = createPrng(300)
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
    const data = Array.from({ length: ENQUIRIES }, () => enquiry(prng, today))
    await db.$transaction([
      ...data.map((each) => db.enquiry.create({ data: each })),
      db.subscriber.createMany({
        data: people.slice(0, SUBSCRIBERS).map((person, index) => ({
          email: `${person.toLowerCase().replace(' ', '.')}@mail.example`,
          subscribedAt: new Date(today - index * 3 * DAY_MS),
          consentVersion: CONSENT_VERSION,
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
