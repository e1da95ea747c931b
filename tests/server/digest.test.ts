// The digest names once a day the enquiries and mails that staff have to deal with, and holds no personal data.
import { describe, expect, it } from 'vitest'
import { readSummary, writeDigestIfDue } from '../../server/mail/summary.ts'
import { products } from '../../shared/catalogue.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { anOpenDatabase, aServer } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo, onDatabase, storedProducts, storeEnquiry } from '../support/stored-enquiry.ts'
import { createTestDatabase } from '../support/test-database.ts'

async function aDigestDatabase() {
  const { db, env } = await anOpenDatabase()
  const digests = () => db.mail.findMany({ where: { kind: 'Summary' }, orderBy: { id: 'asc' } })
  const digestAt = (at: string, now: Date) => writeDigestIfDue(db, at, now)
  return { db, env, digests, digestAt }
}

/** Today, at this time in India. */
function atInIndia(clock: string, days = 0): Date {
  const day = new Date(Date.now() + 5.5 * 3_600_000 + days * 86_400_000).toISOString().slice(0, 10)
  return new Date(`${day}T${clock}:00+05:30`)
}

describe('the page', () => {
  it('lists undelivered notices, visitors to ring and what waits, and holds no personal data', async () => {
    const { db } = await aDigestDatabase()
    const untold = await storeEnquiry(
      db,
      { receivedAt: hoursAgo(3) },
      { Notice: ['Bounced', 'bounced: Permanent General 550 5.1.1 x@staff.example, Asha has left'] },
    )
    const ring = await storeEnquiry(
      db,
      { receivedAt: hoursAgo(2), products: storedProducts[1] },
      { Acknowledgement: 'Failed' },
    )
    const waiting = await storeEnquiry(db, { receivedAt: hoursAgo(80), suspectedSpam: true })
    const fresh = await storeEnquiry(db, { receivedAt: hoursAgo(23) })
    const done = await storeEnquiry(db, { receivedAt: hoursAgo(90), status: 'Closed' }, { Acknowledgement: 'Bounced' })

    const text = (await readSummary(db, new Date())) ?? ''
    const lines = text.split('\n')
    expect(lines[0]).toMatch(/^\w+: 1 enquiry waits, 2 mails did not arrive, \d\d \w{3} \d{4} \d\d:\d\d IST$/)
    const lineAfter = (title: string) => lines[lines.findIndex((line) => line.startsWith(title)) + 1]
    expect(lineAfter('Nobody has been told')).toMatch(
      new RegExp(`^${untold} · 24 × ${products[0]}, Retailer · .* IST · Notice Bounced 550 5.1.1$`),
    )
    expect(lineAfter('Ring these visitors')).toMatch(
      new RegExp(`^${ring} · 24 × ${products[1]}, Retailer · .* IST · Ack Failed$`),
    )
    expect(lineAfter('Still New after 24 hours')).toMatch(new RegExp(`^${waiting} · .* · suspected spam$`))
    for (const other of [fresh, done, 'Asha', '9876543210', '@']) expect(text).not.toContain(other)
  })

  it('describes fifty in a line each, lists a thousand by reference, and reads the references of the others', async () => {
    const { db } = await aDigestDatabase()
    await db.$executeRaw`
      WITH form AS (
        INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
        SELECT gen_random_uuid(), 'QV-' || n, now() - interval '30 hours', 'x', 'a@b.in', '9876543210', 1, 'Self Use', ${products[0]}::"Quvera_Product", '1', gen_random_uuid()
        FROM generate_series(1, 1900) n RETURNING "Id"
      )
      INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Status", "DueAt")
      SELECT "Id", kind::"Quvera_MailKind", 'Bounced', now() FROM form CROSS JOIN (VALUES ('Notice'), ('Acknowledgement')) AS mails (kind)`
    let rows = 0
    const counting = db.$extends({
      query: {
        async $allOperations({ args, query }) {
          const result = await query(args)
          rows += Array.isArray(result) ? result.length : 1
          return result
        },
      },
    })
    const text = (await readSummary(counting as unknown as typeof db, new Date())) ?? ''
    expect(rows).toBeLessThan(6200)
    expect(text.match(/^QV-\d+ · /gm)).toHaveLength(150)
    expect(text.match(/^Also: (?:QV-\d+(?:, )?){1000}$/gm)).toHaveLength(3)
    expect(text.match(/^And 850 more: npm run -s staff -- (?:mails|list --new)$/gm)).toHaveLength(3)
    expect(Buffer.byteLength(text)).toBeLessThan(50_000) // Gmail shows 102 kB
  })

  it('lists an enquiry that Studio reopened after it was closed, and not one that the staff command did', async () => {
    const { db, env } = await aDigestDatabase()
    const [stale, deliberate] = [await storeEnquiry(db), await storeEnquiry(db)]
    await staff(['status', stale, deliberate, 'Closed'], env)
    expect(await readSummary(db, new Date())).toBeUndefined()
    await db.enquiry.update({ where: { reference: stale }, data: { status: 'Contacted' } }) // as Studio writes
    await staff(['status', deliberate, 'Contacted'], env)
    const text = await readSummary(db, new Date())
    expect(text).toMatch(/^\w+: 1 enquiry reopened, /)
    expect(text).toMatch(new RegExp(`^Closed, and opened again [^\n]*\n${stale} · `, 'm'))
    expect(text).not.toContain(deliberate)
    expect(await readSummary(db, new Date(Date.now() + 25 * 3_600_000))).toBeUndefined()
    await staff(['status', stale, 'Closed'], env)
    expect(await readSummary(db, new Date())).toBeUndefined()
  })

  it('is empty when every enquiry is of today or was dealt with', async () => {
    const { db } = await aDigestDatabase()
    await storeEnquiry(db, { status: 'Contacted', receivedAt: hoursAgo(90) }, { Acknowledgement: 'Bounced' })
    await storeEnquiry(db)
    expect(await readSummary(db, new Date())).toBeUndefined()
  })
})

describe('staff check', () => {
  it('prints the page after the settings, and sends nothing', async () => {
    const { db, env, digests } = await aDigestDatabase()
    const nothing = await staff(['check'], env)
    expect(nothing.stdout).toMatch(/\n\nNo enquiry has waited for a day, and no mail has failed\.\n$/)
    const reference = await storeEnquiry(db, { receivedAt: hoursAgo(30) })
    const printed = await staff(['check'], env)
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(printed.stdout).toContain(reference)
    expect(await digests()).toEqual([])
  })
})

describe('the digest of the day', () => {
  it('is written once from its time on, and again the next day', async () => {
    const { db, digests, digestAt } = await aDigestDatabase()
    await storeEnquiry(db, { receivedAt: hoursAgo(80) })
    expect(await digestAt('09:00', atInIndia('08:59'))).toBe(false)
    expect(await digestAt('09:00', atInIndia('09:30'))).toBe(true)
    expect(await digestAt('09:00', atInIndia('09:31'))).toBe(false)
    expect(await digestAt('09:00', atInIndia('22:59'))).toBe(false)
    expect(await digests()).toHaveLength(1)

    await db.lease.updateMany({ where: { name: 'digest' }, data: { until: new Date() } }) // as if the night had passed
    expect(await digestAt('09:00', atInIndia('08:59', 1))).toBe(false)
    expect(await digestAt('09:00', atInIndia('09:00', 1))).toBe(true)
    expect(await digests()).toHaveLength(2)
  })

  it('has its lease until the next day at its time', async () => {
    const { db, digestAt } = await aDigestDatabase()
    await digestAt('09:00', atInIndia('09:30'))
    const [lease] = await db.lease.findMany({ where: { name: 'digest' } })
    expect((Number(lease?.until) - Date.now()) / 3_600_000).toBeCloseTo(23.5, 1)
  })

  it('is not written later on a day on which it was empty at its time', async () => {
    const { db, digests, digestAt } = await aDigestDatabase()
    expect(await digestAt('09:00', atInIndia('09:00'))).toBe(false)
    await storeEnquiry(db, { receivedAt: hoursAgo(80) })
    expect(await digestAt('09:00', atInIndia('09:01'))).toBe(false)
    expect(await digests()).toEqual([])
  })

  it('is mailed to staff by the running site, once, also across a restart', async () => {
    const [{ env, drop }, resend] = await Promise.all([createTestDatabase(), startFakeResend()])
    atEnd(drop, resend.close)
    const reference = await onDatabase(env, (db) => storeEnquiry(db, { receivedAt: hoursAgo(80) }))
    const digest = { ...sendingThrough(resend), DIGEST_AT: '00:00' }
    const first = await aServer({ ...env, ...digest })
    await eventually(() => expect(resend.mails).toHaveLength(1))
    expect(resend.mails[0]).toMatchObject({ subject: expect.stringMatching(/^\w+: 1 enquiry waits, /) })
    expect(resend.mails[0]?.text).toContain(reference)
    const isSent = { kind: 'Summary', status: 'Sent' } as const
    await eventually(() => onDatabase(env, async (db) => expect(await db.mail.count({ where: isSent })).toBe(1)))
    expect(await first.stop()).toEqual({ code: 0, signal: null })
    const second = await aServer({ ...env, ...digest })
    await submit(second.url, anOrder())
    await eventually(() => expect(resend.mails.length).toBeGreaterThanOrEqual(3)) // sent after it has looked for a digest
    await onDatabase(env, async (db) => expect(await db.mail.count({ where: { kind: 'Summary' } })).toBe(1))
  })
})
