// Staff see which mails wait or failed and whom to ring, and can send or withhold them; a sent mail is not sent again.
import { expect, it } from 'vitest'
import { anOrder, submit } from '../support/an-order.ts'
import { eventually } from '../support/eventually.ts'
import { anApp, anOpenDatabase } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo, storeEnquiry } from '../support/stored-enquiry.ts'

/** A running site that sends through a fake Resend. */
async function aSite(summaryWaitMs = 600_000) {
  const { url, db, env, resend } = await anApp({ retrySeconds: 600, summaryWaitMs })
  return { url, db, env, resend }
}

it('lists a mail that Resend refused, and the site sends it after retry', async () => {
  const { url, env, resend } = await aSite()
  resend.behaviour = { status: 422, name: 'validation_error' }
  const { reference } = await submit(url, anOrder())
  await eventually(async () => expect((await staff(['mails'], env)).stdout.match(/Failed/g)).toHaveLength(2))
  const { stdout } = await staff(['mails'], env)
  expect(stdout).toContain(reference)
  expect(stdout).toContain('422 validation_error')
  expect(stdout).not.toContain('@')

  resend.behaviour = 'accept'
  expect((await staff(['mails', 'retry', '--yes'], env)).stdout).toContain('2 mails are due now')
  await eventually(() => expect(resend.mails).toHaveLength(2))
  await eventually(async () => expect((await staff(['mails'], env)).stdout).toMatch(/^No mail waits\.\n/))
})

it('retries a mail that Resend accepted and then failed to send, under a new key; a summary too', async () => {
  const { url, env, resend, db } = await aSite()
  await submit(url, anOrder())
  await db.mail.create({ data: { kind: 'Summary', key: 'summary/x', text: 'Quvera: a page\n\nof lines' } })
  const states = async () => (await db.mail.findMany({ orderBy: { id: 'asc' } })).map(({ status }) => status)
  await eventually(async () => expect(await states()).toEqual(['Sent', 'Sent', 'Sent']))
  for (const expected of [6, 9]) {
    await db.mail.updateMany({ data: { status: 'Failed', lastError: 'failed: by Resend' } })
    expect((await staff(['mails', 'retry', '--yes'], env)).stdout).toContain('3 mails are due now')
    await eventually(() => expect(resend.mails).toHaveLength(expected))
    await eventually(async () => expect(await states()).toEqual(['Sent', 'Sent', 'Sent']))
  }
  expect(new Set(resend.mails.map(({ key }) => key)).size).toBe(9)
  expect(new Set(resend.mails.map(({ text }) => text)).size).toBe(3)
})

it('says that mails wait for a key', async () => {
  const { db, env } = await anOpenDatabase()
  await storeEnquiry(db, {}, { Notice: 'Pending' })
  expect((await staff(['mails'], env)).stdout).toContain('RESEND_API_KEY is not set here')
  expect((await staff(['mails'], { ...env, RESEND_API_KEY: 're_test' })).stdout).not.toContain('not set')
})

it('makes a waiting mail due now', async () => {
  const { url, env, resend } = await aSite()
  resend.behaviour = 'html'
  await submit(url, anOrder())
  await eventually(() => expect(resend.calls.all).toBeGreaterThan(1))
  await eventually(async () => expect((await staff(['mails'], env)).stdout.match(/502 /g)).toHaveLength(2))
  resend.behaviour = 'accept'
  await staff(['mails', 'retry', '--yes'], env)
  await eventually(() => expect(resend.mails).toHaveLength(2))
})

it('sends no acknowledgement after staff have marked the enquiry as spam', async () => {
  const { url, env, db, resend } = await aSite()
  resend.behaviour = 'html'
  const { reference = '' } = await submit(url, anOrder())
  await eventually(async () => expect((await staff(['mails'], env)).stdout.match(/502 /g)).toHaveLength(2))
  await staff(['status', reference, 'spam'], env)
  resend.behaviour = 'accept'
  await staff(['mails', 'retry', reference], env)
  await eventually(async () =>
    expect(await db.mail.findMany({ orderBy: { id: 'asc' } })).toMatchObject([
      { kind: 'Notice', status: 'Sent' },
      {
        kind: 'Acknowledgement',
        status: 'Withheld',
        lastError: expect.stringMatching(/^Not sent again, .*: suspected spam\.$/),
      },
    ]),
  )
})

it('sends the notice and acknowledgement of an enquiry that was suspected spam, also after a summary told of it', async () => {
  const { url, env, resend, db } = await aSite(0)
  const { reference = '' } = await submit(url, anOrder({ website: 'x' }))
  await eventually(() => expect(resend.mails.map(({ key }) => key.split('/')[0])).toEqual(['summary']))
  const reasons = async () => (await db.mail.findMany({ orderBy: { kind: 'asc' } })).map(({ lastError }) => lastError)
  await eventually(async () =>
    expect(await reasons()).toEqual([
      expect.stringMatching(/^Told in summary \d+\.$/),
      'Not sent: suspected spam.',
      null,
    ]),
  )
  expect((await staff(['mails', 'retry', reference], env)).stdout).toContain('0 mails are due now')
  await staff(['status', reference, 'not-spam'], env)
  expect((await staff(['mails', 'retry', reference], env)).stdout).toContain('2 mails are due now')
  await eventually(() => expect(resend.mails).toHaveLength(3))
  const [enquiry] = await db.enquiry.findMany()
  expect(
    resend.mails
      .map(({ key }) => key)
      .slice(1)
      .toSorted(),
  ).toEqual([`ack/${enquiry?.id}`, `staff/${enquiry?.id}`])
})

it('retries an Unknown mail only with its option, and never a mail that was sent or withheld', async () => {
  const { url, env, resend, db } = await aSite()
  await submit(url, anOrder())
  await eventually(() => expect(resend.mails).toHaveLength(2))
  await eventually(async () => expect(await db.mail.count({ where: { status: 'Sent' } })).toBe(2))
  await db.mail.updateMany({ where: { kind: 'Notice' }, data: { status: 'Unknown', triedAt: new Date(0) } })
  const [sent] = await db.mail.findMany({ where: { status: 'Sent' } })

  const careful = await staff(['mails', 'retry', '--yes'], env)
  expect(careful.stdout).toContain('0 mails are due now')
  expect(careful.stdout).toContain(
    'Left out: 1 mail, sent or withheld before, Unknown, or a post that is tried again by itself. --restored includes those that a restore withheld, --include-unknown the Unknown ones.',
  )
  const named = await staff(['mails', 'retry', String(sent?.id)], env)
  expect(named.stdout).toContain('0 mails are due now')

  const calls = resend.calls.all
  expect((await staff(['mails', 'retry', '--yes', '--include-unknown'], env)).stdout).toContain('1 mail is due now')
  await eventually(() => expect(resend.calls.all).toBe(calls + 1))
  await eventually(async () => expect(await db.mail.count({ where: { status: 'Sent' } })).toBe(2))
})

it('lists first the enquiries nobody was told of, then visitors to ring, and last the oldest New enquiry', async () => {
  const { db, env } = await anOpenDatabase()
  const wrong = await storeEnquiry(
    db,
    { name: 'Rohan Mehta', receivedAt: hoursAgo(5) },
    { Acknowledgement: ['Bounced', 'no rohan@x.example here'] },
  )
  const untold = await storeEnquiry(db, { receivedAt: hoursAgo(75) }, { Notice: ['Bounced', 'mailbox full'] })
  const spam = await storeEnquiry(db, { receivedAt: hoursAgo(6) }, { Notice: 'Complained' })
  const handled = await storeEnquiry(
    db,
    { status: 'Contacted', receivedAt: hoursAgo(200) },
    { Notice: 'Bounced', Acknowledgement: 'Bounced' },
  )
  const pending = await storeEnquiry(db, { receivedAt: hoursAgo(2) }, { Notice: 'Pending' })

  const { code, stdout } = await staff(['mails'], env)
  expect(code).toBe(0)
  const order = [
    'ALARM: nobody has been told of these enquiries (1)',
    untold,
    'mailbox full',
    'npm run -s staff -- status REFERENCE Contacted',
    'Visitors to ring (1)',
    wrong,
    '9876543210',
    'Rohan Mehta',
    'Pending (1)',
    pending,
    `4 enquiries are still New, the oldest for 3 days: ${untold}`,
  ]
  let from = 0
  for (const part of order) {
    const at = stdout.indexOf(part, from)
    expect(at, `${part} in its place in\n${stdout}`).toBeGreaterThanOrEqual(from)
    from = at
  }
  expect(stdout).not.toContain(handled)
  expect(stdout).not.toContain('@')
  expect((await staff(['mails'], env, 90)).stdout).toMatch(/ 9876543210 +Rohan Mehta/)

  await staff(['status', untold, spam, wrong, 'Contacted'], env)
  const after = (await staff(['mails'], env)).stdout
  expect(after).toMatch(/Pending \(1\)/)
  expect(after).not.toMatch(/ALARM|Visitors to ring/)
})

it('withholds mails that are named, and says when there is no key to send with', async () => {
  const { db, env } = await anOpenDatabase()
  const old = await storeEnquiry(db, {}, { Notice: 'Pending', Acknowledgement: 'Pending' })
  await storeEnquiry(db, {}, { Notice: 'Pending', Acknowledgement: 'Failed' })
  const tried = await db.mail.findFirstOrThrow({ where: { status: 'Pending' }, orderBy: { id: 'desc' } })

  expect((await staff(['mails', 'withhold', old], env)).stdout).toContain('2 mails are withheld')
  await db.mail.update({ where: { id: tried.id }, data: { triedAt: new Date() } })
  const unknown = await staff(['mails', 'withhold', String(tried.id), '999999'], env)
  expect(unknown).toMatchObject({ code: 1, stderr: 'There is no mail 999999. npm run -s staff -- mails lists them.\n' })
  const named = await staff(['mails', 'withhold', String(tried.id)], env)
  expect(named.stdout).toContain('1 mail is withheld')
  const withheld = await db.mail.findMany({ where: { status: 'Withheld' }, orderBy: { id: 'asc' } })
  expect(withheld.map(({ lastError }) => lastError)).toEqual([
    'Not sent: withheld by staff.',
    'Not sent: withheld by staff.',
    'Withheld by staff; an earlier try may have sent it.',
  ])

  const retried = await staff(['mails', 'retry', '--yes'], env)
  expect(retried.stdout).toBe(
    '1 mail is due now; but RESEND_API_KEY is not set here: no mail is sent until the site runs with one.\n',
  )
  expect(await db.mail.count({ where: { status: 'Pending' } })).toBe(1)
})

it('retries mails that staff withheld, if they are named, and none that an earlier try may have sent', async () => {
  const { db, env } = await anOpenDatabase()
  const reference = await storeEnquiry(db, {}, { Notice: 'Pending', Acknowledgement: 'Pending' })
  await db.mail.updateMany({ where: { kind: 'Acknowledgement' }, data: { triedAt: new Date() } })
  const { id } = await db.mail.create({ data: { kind: 'Summary', key: 'summary/x', text: 'x' } })
  await staff(['mails', 'withhold', reference, String(id)], env)
  expect((await staff(['mails', 'retry', '--yes'], env)).stdout).toContain('0 mails are due now')
  expect((await staff(['mails', 'retry', reference, String(id)], env)).stdout).toContain('2 mails are due now')
  expect(await db.mail.findMany({ orderBy: { kind: 'asc' } })).toMatchObject([
    { kind: 'Notice', status: 'Pending', lastError: null, dueAt: expect.any(Date) },
    { kind: 'Acknowledgement', status: 'Withheld' },
    { kind: 'Summary', status: 'Pending', lastError: null, dueAt: expect.any(Date) },
  ])
})

it('only lists mails when none are named, and keeps their reasons until the next try', async () => {
  const { db, env } = await anOpenDatabase()
  const old = await storeEnquiry(
    db,
    { receivedAt: hoursAgo(24 * 30) },
    { Notice: ['Failed', '422 validation_error: no'], Acknowledgement: ['Failed', '422 no such domain'] },
  )
  const fresh = await storeEnquiry(db, {}, { Acknowledgement: ['Failed', '422 no such user'] })
  const mails = () => db.mail.findMany({ where: { status: { not: 'Delivered' } }, orderBy: { id: 'asc' } })
  const before = await mails()

  const { stdout } = await staff(['mails', 'retry'], env)
  for (const part of [
    'These mails would be due (3)',
    old,
    fresh,
    '422 no such domain',
    'Nothing was changed.',
    '--yes',
  ])
    expect(stdout).toContain(part)
  const unknown = await staff(['mails', 'retry', String(before[0]?.id), '999999'], env)
  expect(unknown).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'There is no mail 999999. npm run -s staff -- mails lists them.\n',
  })
  expect(await staff(['mails', 'retry', 'QV-ZZZZZZ'], env)).toMatchObject({ code: 1, stdout: '' })
  expect(await mails()).toEqual(before)
  await db.mail.updateMany({ where: { status: { not: 'Delivered' } }, data: { status: 'Withheld' } })
  expect((await staff(['mails', 'retry'], env)).stdout).toMatch(/^No mail would be due\.\n/)
  for (const { id, status } of before) await db.mail.update({ where: { id }, data: { status } })
  expect(await mails()).toEqual(before)

  const bare = await storeEnquiry(db)
  await db.mail.deleteMany({ where: { enquiry: { reference: bare } } })
  expect(await staff(['mails', 'retry', bare], env)).toMatchObject({ code: 1, stdout: '' })
  expect(await mails()).toEqual(before)

  const named = await staff(['mails', 'retry', 'qv', fresh.slice(3)], env)
  expect(named.stdout).toMatch(/^1 mail is due now;.*\nLeft out: 1 mail, sent or .*\n$/)
  expect(await mails()).toMatchObject([before[0], before[1], { status: 'Pending', lastError: '422 no such user' }])
  expect((await staff(['mails', 'retry', '--yes'], env)).stdout).toMatch(/^3 mails are due now;/)
  expect((await mails()).map(({ status, lastError }) => [status, lastError])).toEqual(
    before.map(({ lastError }) => ['Pending', lastError]),
  )
})
