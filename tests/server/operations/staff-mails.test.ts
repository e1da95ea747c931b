// `staff mails` says why mails wait and what did not arrive; `mails retry` has them sent once more, each once.
import { describe, expect, it } from 'vitest'
import { anOrder, submit } from '../../support/an-order.ts'
import { eventually } from '../../support/eventually.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, anOpenDatabase } from '../../support/fixtures.ts'
import { staff } from '../../support/staff-command.ts'
import { hoursAgo, storeEnquiry } from '../../support/stored-enquiry.ts'
import type { TestApp } from '../../support/test-app.ts'

const rows = (app: TestApp) => app.db.mail.findMany({ orderBy: { kind: 'asc' } })
const states = async (app: TestApp) => (await rows(app)).map(({ status }) => status)

describe('staff mails', () => {
  it('says that mails wait for a key', async () => {
    const { db, env } = await anOpenDatabase()
    await storeEnquiry(db, {}, { Notice: 'Pending', Acknowledgement: 'Pending' })
    const { stdout } = await staff(['mails'], { ...env, STAFF_EMAILS: STAFF })
    expect(stdout).toMatch(/^RESEND_API_KEY is not set here: unless the site has one, mails wait\.\n/)
    expect(stdout).toMatch(/^Pending \(2\)$/m)
    expect(stdout).toMatch(/1 enquiry is still New, the oldest for \d+ seconds?: QV-/)
  })

  it('lists each mail once, the most urgent first, and shows no address of a visitor that Resend repeats', async () => {
    const { db, env } = await anOpenDatabase()
    const bounced = await storeEnquiry(db, { receivedAt: hoursAgo(0.1) }, { Notice: 'Bounced' })
    const failed = { Acknowledgement: ['Failed', '422 to asha@shop.example'] as [string, string] }
    const ring = await storeEnquiry(db, { mobile: '9876501234' }, failed)
    await storeEnquiry(db, { status: 'Closed' }, { Acknowledgement: 'Failed' })
    const unknown = await storeEnquiry(db, { receivedAt: hoursAgo(0.1) }, { Notice: 'Unknown' })
    const pending = await storeEnquiry(db, { receivedAt: hoursAgo(1) }, { Notice: 'Pending' })
    const { stdout } = await staff(['mails'], env)
    const titles = stdout.match(/^[A-Z][^\n]* \(\d+\)$/gm)
    expect(titles).toEqual([
      'To staff, and did not arrive (1)',
      'Visitors to ring (1)',
      'Not sent, and not tried again (2)',
      'Pending (1)',
    ])
    for (const reference of [bounced, ring, unknown, pending])
      expect(stdout.split(reference)).toHaveLength(reference === pending ? 3 : 2)
    expect(stdout).toContain('9876501234')
    expect(stdout).not.toContain('asha@shop.example')
    expect(stdout).toContain('2 enquiries wait for the next summary.')
    const [line] = await db.access.findMany({ orderBy: { at: 'asc' } })
    expect(line).toMatchObject({ command: 'mails', what: '1 mail' })
  })
})

describe('staff mails retry', () => {
  it('lists of what a restore has withheld only what it would send', async () => {
    const { db, env } = await anOpenDatabase()
    await storeEnquiry(db, {}, { Notice: 'Withheld', Acknowledgement: 'Withheld' })
    await db.mail.updateMany({ where: { kind: 'Acknowledgement' }, data: { kind: 'ErasureAsked' } })
    await db.mail.updateMany({ data: { withheldBecause: 'Restored' } })
    expect((await staff(['mails'], env)).stdout).toMatch(/^Withheld by a restore \(1\)$/m)
    expect((await staff(['mails', 'retry'], env)).stdout).toContain('These mails would be due (1)')
  })

  it('lists what Resend refused, and with --yes the site sends it under a new key, once', async () => {
    const app = await anApp()
    app.resend.behaviour = { status: 422, name: 'validation_error' }
    const { reference = '' } = await submit(app.url, anOrder())
    await eventually(async () => expect(await states(app)).toEqual(['Failed', 'Failed']))
    const before = await rows(app)
    app.resend.behaviour = 'accept'
    const listed = await staff(['mails', 'retry'], app.env)
    expect(listed.stdout).toMatch(/^These mails would be due \(2\)\n/)
    expect(listed.stdout).toContain('Nothing was changed. Repeat the command with --yes.')
    expect(await rows(app)).toEqual(before)
    const keyed = { ...app.env, RESEND_API_KEY: 're_test' }
    const sent = await staff(['mails', 'retry', reference.toLowerCase(), '--yes'], keyed)
    expect(sent.stdout).toMatch(/^2 mails are due now; the running site sends them/)
    await eventually(async () => expect(await states(app)).toEqual(['Sent', 'Sent']))
    for (const [index, { tag }] of (await rows(app)).entries()) expect(tag).not.toBe(before[index]?.tag)
    expect(app.resend.mails).toHaveLength(2)
    expect((await staff(['mails', 'retry', '--yes'], app.env)).stdout).toMatch(/^No mail can be sent once more\./)
  })

  it('never touches what is Pending or was sent; what was withheld keeps its key', async () => {
    const { db, env } = await anOpenDatabase()
    const reference = await storeEnquiry(db, {}, { Notice: 'Withheld', Acknowledgement: 'Pending' })
    await storeEnquiry(db, {}, { Notice: 'Delivered', Acknowledgement: 'Bounced' })
    const before = await db.mail.findMany({ orderBy: { id: 'asc' } })
    expect((await staff(['mails', 'retry', '--yes'], env)).stdout).toMatch(/^No mail /) // withheld for another reason than a restore
    expect((await staff(['mails', 'retry', reference, '--yes'], env)).stdout).toMatch(
      /^1 mail is due now; but RESEND_API_KEY is not set here/,
    )
    const after = await db.mail.findMany({ orderBy: { id: 'asc' } })
    expect(after[0]).toMatchObject({ status: 'Pending', tag: before[0]?.tag, withheldBecause: null })
    expect(after.slice(1)).toEqual(before.slice(1))
  })
})
