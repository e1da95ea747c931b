// A mail changes its state only as the table of states allows, and the database refuses states that mean nothing.
import { describe, expect, it } from 'vitest'
import { type MailStatus, MailStatus as States } from '../../server/database/generated/enums.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anOpenDatabase } from '../support/fixtures.ts'
import { storeEnquiry } from '../support/stored-enquiry.ts'

const _all = Object.values(States) as MailStatus[]
const sent: MailStatus[] = ['Sent', 'Delivered', 'Bounced', 'Complained']

/** A row of this state that the database takes. */
const _columnsOf = (status: MailStatus) => ({
  status,
  dueAt: status === 'Pending' ? new Date() : null,
  sentAt: sent.includes(status) ? new Date() : null,
  withheldBecause: status === 'Withheld' ? ('TooOld' as const) : null,
})

describe('the database refuses', () => {
  const wrong: [what: string, data: object][] = [
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
    ['a second acknowledgement', {}],
  ]
  it.each(wrong)('%s', async (_, data) => {
    const { db } = await anOpenDatabase()
    const reference = await storeEnquiry(db)
    const { id: enquiryId } = await db.enquiry.findUniqueOrThrow({ where: { reference } })
    await expect(db.mail.create({ data: { enquiryId, kind: 'Acknowledgement', ...data } })).rejects.toThrow(
      /check|Unique/,
    )
    const [{ count }] = await db.$queryRaw<[{ count: number }]>`SELECT count(*)::int AS "count" FROM "Quvera_Mail"`
    expect(count).toBe(2)
  })

  it('an enquiry that is untold and dealt with', async () => {
    const { db } = await anOpenDatabase()
    await expect(storeEnquiry(db, { status: 'Closed', untoldSince: new Date() })).rejects.toThrow('check')
  })
})
