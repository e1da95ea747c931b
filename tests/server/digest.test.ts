import { describe, expect, it } from 'vitest'
import { digestText, hasNews, queueIfDue, readDigest } from '../../server/mail/digest.ts'
import { products } from '../../shared/catalogue.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { startServer } from '../support/server-process.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo, onDatabase, storedProducts, storeEnquiry } from '../support/stored-enquiry.ts'
import { createTestDatabase } from '../support/test-database.ts'

async function aDatabase() {
  const { db, env, close } = await openTestDatabase()
  atEnd(close)
  const digests = () => db.mail.findMany({ where: { kind: 'Digest' }, orderBy: { id: 'asc' } })
  return { db, env, digests }
}

/** Today, at this time in India. */
function atInIndia(clock: string, days = 0): Date {
  const day = new Date(Date.now() + 5.5 * 3_600_000 + days * 86_400_000).toISOString().slice(0, 10)
  return new Date(`${day}T${clock}:00+05:30`)
}

describe('the page', () => {
  it('names what nobody was told, whom to ring and what waits, and holds nothing that names a person', async () => {
    const { db } = await aDatabase()
    const untold = await storeEnquiry(
      db,
      { receivedAt: hoursAgo(3) },
      { Staff: ['Bounced', 'bounced: x@staff.example is full'] },
    )
    const ring = await storeEnquiry(
      db,
      { receivedAt: hoursAgo(2), products: storedProducts[1] },
      { Acknowledgement: 'Failed' },
    )
    const waiting = await storeEnquiry(db, { receivedAt: hoursAgo(80), suspectedSpam: true })
    const fresh = await storeEnquiry(db, { receivedAt: hoursAgo(23) })
    const done = await storeEnquiry(db, { receivedAt: hoursAgo(90), status: 'Closed' }, { Acknowledgement: 'Bounced' })
    await storeEnquiry(db, { receivedAt: hoursAgo(24 * 30), status: 'Closed' })

    const digest = await readDigest(db, new Date())
    const text = digestText(digest)
    const lines = text.split('\n')
    expect(lines[0]).toMatch(/^\w+: 1 enquiry waits, 2 mails did not arrive, \d\d \w{3} \d{4} \d\d:\d\d IST$/)
    const lineAfter = (title: string) => lines[lines.findIndex((line) => line.startsWith(title)) + 1]
    expect(lineAfter('Nobody has been told')).toMatch(
      new RegExp(`^${untold} · .* · 24 × ${products[0]}, Retailer · bounced: \\[address\\] is full$`),
    )
    expect(lineAfter('Ring these visitors')).toMatch(
      new RegExp(`^${ring} · .* · 24 × ${products[1]}, Retailer · Failed$`),
    )
    expect(lineAfter('Still New after 24 hours')).toMatch(new RegExp(`^${waiting} · .* · suspected spam · for 3 days$`))
    expect(lineAfter('The last seven days')).toBe('5 enquiries, 1 of them suspected spam')
    expect(text).toContain(
      `1 Closed, 4 New\n4 ${products[0]}, 1 ${products[1]}\n5 Retailer\n10 mails, 3 did not arrive`,
    )
    for (const other of [fresh, done, 'Asha', '9876543210', '@']) expect(text).not.toContain(other)
  })

  it('is one page however much there is', async () => {
    const { db } = await aDatabase()
    for (let number = 0; number < 40; number++)
      await storeEnquiry(db, { receivedAt: hoursAgo(30 + number) }, { Staff: 'Bounced', Acknowledgement: 'Bounced' })
    const text = digestText(await readDigest(db, new Date()))
    expect(text.match(/and 25 more/g)).toHaveLength(3)
    expect(text.split('\n').length).toBeLessThan(70)
  })

  it('reads no more rows than it has lines, however many there are', async () => {
    const { db } = await aDatabase()
    await db.$executeRaw`
      WITH form AS (
        INSERT INTO "Quvera_Form" ("Id", "Reference", "ReceivedAt", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey")
        SELECT gen_random_uuid(), 'QV-' || n, now() - interval '30 hours', 'x', 'a@b.in', '9876543210', 1, 'Self Use', ${products[0]}::"Quvera_Product", '1', gen_random_uuid()
        FROM generate_series(1, 2000) n RETURNING "Id"
      )
      INSERT INTO "Quvera_Mail" ("EnquiryId", "Kind", "Status")
      SELECT "Id", kind::"Quvera_MailKind", 'Bounced' FROM form CROSS JOIN (VALUES ('Staff'), ('Acknowledgement')) AS owed (kind)`
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
    const text = digestText(await readDigest(counting as unknown as typeof db, new Date()))
    expect(rows).toBeLessThan(60)
    expect(text).toContain(
      `2,000 enquiries\n2000 New\n2000 ${products[0]}\n2000 Self Use\n4,000 mails, 4000 did not arrive`,
    )
  })

  it('has nothing to say when everything was dealt with or is of today', async () => {
    const { db } = await aDatabase()
    await storeEnquiry(db, { status: 'Contacted', receivedAt: hoursAgo(90) }, { Acknowledgement: 'Bounced' })
    await storeEnquiry(db)
    expect(hasNews(await readDigest(db, new Date()))).toBe(false)
  })
})

describe('staff digest', () => {
  it('prints the page, and with --send queues it once there is something to say', async () => {
    const { db, env, digests } = await aDatabase()
    const nothing = await staff(['digest', '--send'], env)
    expect(nothing.stdout).toMatch(/^\w+: nothing waits, [\s\S]*There is nothing to say, so nothing is sent\.\n$/)
    const reference = await storeEnquiry(db, { receivedAt: hoursAgo(30) })
    const printed = await staff(['digest'], env)
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(printed.stdout).toContain(reference)
    expect(await digests()).toEqual([])
    expect((await staff(['digest', '--send'], env)).stdout).toContain('Queued, but RESEND_API_KEY is not set here')
    expect(await digests()).toMatchObject([
      { status: 'Pending', enquiryId: null, text: expect.stringContaining(reference) },
    ])
  })
})

describe('the digest of the day', () => {
  it('is queued once from its time on, whoever starts when, and again the next day', async () => {
    const { db, digests } = await aDatabase()
    await storeEnquiry(db, { receivedAt: hoursAgo(80) })
    expect(await queueIfDue(db, '09:00', atInIndia('08:59'))).toBe(false)
    const replicas = await Promise.all([1, 2, 3, 4].map(() => queueIfDue(db, '09:00', atInIndia('09:30'))))
    expect(replicas.filter(Boolean)).toHaveLength(1)
    expect(await queueIfDue(db, '09:00', atInIndia('09:31'))).toBe(false)
    expect(await queueIfDue(db, '09:00', atInIndia('23:59'))).toBe(false)
    expect(await digests()).toHaveLength(1)

    await db.lease.updateMany({ where: { name: 'digest' }, data: { until: new Date() } }) // as if the night had passed
    expect(await queueIfDue(db, '09:00', atInIndia('08:59', 1))).toBe(false)
    expect(await queueIfDue(db, '09:00', atInIndia('09:00', 1))).toBe(true)
    expect(await digests()).toHaveLength(2)
  })

  it('has its lease until the next day at its time', async () => {
    const { db } = await aDatabase()
    await queueIfDue(db, '09:00', atInIndia('09:30'))
    const [lease] = await db.lease.findMany({ where: { name: 'digest' } })
    expect((Number(lease?.until) - Date.now()) / 3_600_000).toBeCloseTo(23.5, 1)
  })

  it('is not made up for later on a day that had nothing to say at its time', async () => {
    const { db, digests } = await aDatabase()
    expect(await queueIfDue(db, '09:00', atInIndia('09:00'))).toBe(false)
    await storeEnquiry(db, { receivedAt: hoursAgo(80) })
    expect(await queueIfDue(db, '09:00', atInIndia('09:01'))).toBe(false)
    expect(await digests()).toEqual([])
  })

  it('is mailed to staff by the running site, once, also across a restart', async () => {
    const [{ env, drop }, resend] = await Promise.all([createTestDatabase(), startFakeResend()])
    atEnd(drop, resend.close)
    const reference = await onDatabase(env, (db) => storeEnquiry(db, { receivedAt: hoursAgo(80) }))
    const digest = { ...sendingThrough(resend), DIGEST_AT: '00:00' }
    const first = await startServer({ ...env, ...digest })
    atEnd(() => first.stop('SIGKILL'))
    await eventually(() => expect(resend.mails).toHaveLength(1))
    expect(resend.mails[0]).toMatchObject({ subject: expect.stringMatching(/^\w+: 1 enquiry waits, /) })
    expect(resend.mails[0]?.text).toContain(reference)
    await eventually(() =>
      onDatabase(env, async (db) => expect(await db.mail.count({ where: { kind: 'Digest', status: 'Sent' } })).toBe(1)),
    )
    expect(await first.stop()).toEqual({ code: 0, signal: null })
    const second = await startServer({ ...env, ...digest })
    atEnd(() => second.stop('SIGKILL'))
    await onDatabase(env, async (db) => expect(await db.mail.count({ where: { kind: 'Digest' } })).toBe(1))
    expect(second.stdout()).not.toContain('the digest of the day is queued')
  })
})
