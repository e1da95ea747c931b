// The database refuses states of a mail or an enquiry that mean nothing, whoever writes them.
import { expect, it } from 'vitest'
import { STAFF } from '../../support/fake-resend.ts'
import { anOpenDatabase } from '../../support/fixtures.ts'
import { storeEnquiry } from '../../support/stored-enquiry.ts'

it.each<[what: string, data: object]>([
  ['a notice without a receiver', { kind: 'Notice' }],
  ['an acknowledgement with a receiver of staff', { kind: 'Acknowledgement', to: STAFF }],
  ['a summary about an enquiry', { kind: 'Summary', to: STAFF }],
  ['a sign-in about an enquiry', { kind: 'SignIn', to: STAFF }],
  ['a confirmation about an enquiry', { kind: 'Confirmation' }],
  ['Pending without DueAt', { dueAt: null }],
  ['Failed with DueAt', { status: 'Failed' }],
  ['Sent without SentAt', { status: 'Sent', dueAt: null }],
  ['Pending with SentAt', { sentAt: new Date() }],
  ['Withheld without a reason', { status: 'Withheld', dueAt: null }],
  ['Failed with a reason to withhold', { status: 'Failed', dueAt: null, withheldBecause: 'TooOld' }],
  ['a second notice to one of staff', { kind: 'Notice', to: STAFF }],
  ['a summary without a text', { kind: 'Summary', to: STAFF, enquiry: undefined }],
  ['a text of another kind', { text: 'x' }],
])('the database refuses %s', async (_, data) => {
  const { db } = await anOpenDatabase()
  const enquiry = { connect: { reference: await storeEnquiry(db) } }
  const mail = { kind: 'Acknowledgement' as const, enquiry, ...data }
  await expect(db.mail.create({ data: mail })).rejects.toThrow(/check|Unique/)
  expect(await db.mail.count()).toBe(2)
})
