import { expect } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { brand } from '../../shared/brand.ts'
import { eventually } from './eventually.ts'
import { type FakeResend, STAFF } from './fake-resend.ts'
import type { LoadResult } from './load.ts'

const REFERENCE = new RegExp(`${brand.referencePrefix}-\\w+`)

/** Waits until no mail is pending, or until their number has not changed for `stalledMs`. */
async function untilSent(db: Db, stalledMs: number) {
  const countPending = () => db.mail.count({ where: { status: 'Pending' } })
  let pending = await countPending()
  while (pending > 0) {
    const before = pending
    const changed = await eventually(async () => (await countPending()) !== before, stalledMs).then(
      () => true,
      () => false,
    )
    if (!changed) return
    pending = await countPending()
  }
}

/** What a fault has cost: compares what clients were told with what is stored, and that with what Resend took. */
export async function audit(
  db: Db,
  load: Pick<LoadResult, 'sent' | 'acknowledged'>,
  resend: FakeResend,
  stalledMs = 60_000,
) {
  await untilSent(db, stalledMs)
  const rows = await db.enquiry.findMany({ select: { submissionKey: true, reference: true, email: true } })
  const references = new Map(rows.map((row) => [row.submissionKey, row.reference]))
  // By receiver and reference, and not by idempotency key: a mail sent twice is a double also without a key.
  const expected = rows.flatMap((row) => [`${STAFF} ${row.reference}`, `${row.email} ${row.reference}`])
  // A summary of notices that did not arrive is no mail of an enquiry, and has no reference in its subject.
  const ofEnquiries = resend.mails.filter(({ subject }) => REFERENCE.test(subject))
  const accepted = ofEnquiries.map((mail) => `${mail.to.join()} ${REFERENCE.exec(mail.subject)?.[0]}`)
  const acceptedOnce = new Set(accepted)
  const expectedOnce = new Set(expected)
  return {
    sent: load.sent.length,
    acknowledged: load.acknowledged.size,
    stored: rows.length,
    lost: [...load.acknowledged].filter(([key, reference]) => references.get(key) !== reference).length,
    doubled: rows.length - new Set(rows.map((row) => row.email)).size,
    mailsExpected: expected.length,
    mailsMissing: expected.filter((key) => !acceptedOnce.has(key)).length,
    mailsDoubled: accepted.length - acceptedOnce.size,
    mailsUnexpected: [...acceptedOnce].filter((mail) => !expectedOnce.has(mail)).length,
  }
}

export function expectNothingLost(result: Awaited<ReturnType<typeof audit>>): void {
  expect(result).toMatchObject({ lost: 0, doubled: 0, mailsMissing: 0, mailsDoubled: 0, mailsUnexpected: 0 })
}
