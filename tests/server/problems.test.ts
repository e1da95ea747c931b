// `/statusz` and `staff check` name what somebody has to mend, each problem in a sentence, without personal data.
import { describe, expect, it } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { type Env, readEnv } from '../../server/env.ts'
import { readProblems } from '../../server/mail/problems.ts'
import { REFUSED_LEASE } from '../../server/mail/states.ts'
import { aFolder } from '../support/a-folder.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF } from '../support/fake-resend.ts'
import { anApp, anOpenDatabase } from '../support/fixtures.ts'
import { hoursAgo, storeEnquiry } from '../support/stored-enquiry.ts'

const env: Env = {
  ...readEnv({}),
  RESEND_API_KEY: 're_test',
  RESEND_WEBHOOK_SECRET: 'whsec_x',
  STAFF_EMAILS: [STAFF],
}

/** A mail to staff that was taken so many hours ago. */
async function toStaff(db: Db, status: 'Sent' | 'Delivered' | 'Bounced' | 'Complained', hours: number, to = STAFF) {
  const at = hoursAgo(hours)
  await db.mail.create({
    data: { kind: 'SignIn', to, status, dueAt: null, queuedAt: at, firstTriedAt: at, sentAt: at },
  })
}

async function aSummary(db: Db, status: 'Sent' | 'Failed') {
  const text = 'Quvera: 1 enquiry'
  const sentAt = status === 'Sent' ? new Date() : null
  await db.summary.create({
    data: { text, mails: { create: { kind: 'Summary', to: STAFF, status, dueAt: null, sentAt } } },
  })
}

const cases: [what: string, arrange: (db: Db) => Promise<unknown>, problems: RegExp[]][] = [
  ['nothing', async () => {}, []],
  ['a new enquiry', (db) => storeEnquiry(db, {}, { Notice: 'Pending' }), []],
  [
    'a notice that has waited for 14 minutes',
    (db) => storeEnquiry(db, { receivedAt: hoursAgo(0.23) }, { Notice: 'Pending' }),
    [],
  ],
  [
    'a notice that has waited for 16 minutes',
    (db) => storeEnquiry(db, { receivedAt: hoursAgo(0.27) }, { Notice: 'Pending' }),
    [/^A mail to staff has waited for 16 minutes\.$/],
  ],
  [
    'an acknowledgement that waits',
    (db) => storeEnquiry(db, { receivedAt: hoursAgo(20) }, { Acknowledgement: 'Pending' }),
    [],
  ],
  [
    'an enquiry that is untold for an hour',
    (db) => storeEnquiry(db, { untoldSince: hoursAgo(1) }, { Notice: 'Unknown' }),
    [],
  ],
  [
    'an enquiry that is untold for longer than a summary and a quarter of an hour take',
    (db) => storeEnquiry(db, { untoldSince: hoursAgo(1.3) }, { Notice: 'Unknown' }),
    [/^Nobody has been told of an enquiry for 1 hour\.$/],
  ],
  ['suspected spam that is untold', (db) => storeEnquiry(db, { untoldSince: hoursAgo(20), suspectedSpam: true }), []],
  [
    'a notice for an address that is not configured',
    async (db) => {
      await storeEnquiry(db, {}, { Notice: 'Pending' })
      await db.$executeRaw`UPDATE "Quvera_Mail" SET "To" = 'gone@quvera.test' WHERE "Kind" = 'Notice'`
    },
    [/^1 mail waits for an address that is not in STAFF_EMAILS\.$/],
  ],
  [
    'a refused key',
    (db) => db.lease.create({ data: { name: REFUSED_LEASE, holder: 'x', until: hoursAgo(-0.01) } }),
    [/^Resend refuses the key or the sender/],
  ],
  [
    'a key that was refused before',
    (db) => db.lease.create({ data: { name: REFUSED_LEASE, holder: 'x', until: hoursAgo(0.1) } }),
    [],
  ],
  ['a mail that went out half an hour ago without an event', (db) => toStaff(db, 'Sent', 0.5), []],
  [
    'a mail that went out two hours ago without an event',
    (db) => toStaff(db, 'Sent', 2),
    [/^Mails went out, and Resend reports nothing of them/],
  ],
  [
    'one of two mails without an event',
    async (db) => {
      await toStaff(db, 'Sent', 2)
      await toStaff(db, 'Delivered', 3)
    },
    [],
  ],
  [
    'a bounce at an address of staff',
    (db) => toStaff(db, 'Bounced', 3),
    [/^The last mail to an address of staff did not arrive\.$/],
  ],
  [
    'a complaint at an address of staff',
    (db) => toStaff(db, 'Complained', 3),
    [/^A mail was marked as spam at an address of staff\.$/],
  ],
  [
    'a bounce before a mail that arrived',
    async (db) => {
      await toStaff(db, 'Bounced', 3)
      await toStaff(db, 'Delivered', 2)
    },
    [],
  ],
  [
    'a bounce at an address that was typed in capital letters then',
    (db) => toStaff(db, 'Bounced', 3, STAFF.toUpperCase()),
    [/^The last mail to an address of staff did not arrive\.$/],
  ],
  ['a bounce at an address that has left', (db) => toStaff(db, 'Bounced', 3, 'gone@quvera.test'), []],
  ['a bounce a week ago', (db) => toStaff(db, 'Bounced', 24 * 8), []],
  [
    'a summary that reached nobody',
    (db) => aSummary(db, 'Failed'),
    [/^The last summary has reached nobody\.$/, /did not arrive\.$/],
  ],
  [
    'one that did after it',
    async (db) => {
      await aSummary(db, 'Failed')
      await aSummary(db, 'Sent')
    },
    [],
  ],
]

describe('the problems of a site with', () => {
  it.each(cases)('%s', async (_, arrange, problems) => {
    const { db } = await anOpenDatabase()
    await arrange(db)
    expect(await readProblems(db, env)).toEqual(problems.map((problem) => expect.stringMatching(problem)))
  })
})

it('a missing backup is a problem, but not while the site makes the first one', async () => {
  const { db } = await anOpenDatabase()
  const settings = { ...env, BACKUP_DIR: await aFolder('backups') }
  expect(await readProblems(db, settings, { siteSeconds: 60 })).toEqual([])
  expect(await readProblems(db, settings, { siteSeconds: 3600 })).toEqual(['There is no daily backup in BACKUP_DIR.'])
})

it('staff get the address with it', async () => {
  const { db } = await anOpenDatabase()
  await toStaff(db, 'Bounced', 3)
  expect(await readProblems(db, env, { withAddresses: true })).toEqual([`The last mail to ${STAFF} did not arrive.`])
})

describe('/statusz', () => {
  it('is 200 while all is well, and 503 with the problems', async () => {
    const app = await anApp({ mails: false })
    expect(await (await fetch(`${app.url}/statusz`)).json()).toEqual({ status: 'ok' })
    await storeEnquiry(app.db, { name: 'Asha', receivedAt: hoursAgo(1.1) }, { Notice: 'Pending' })
    const other = await anApp({ mails: false })
    await storeEnquiry(other.db, { name: 'Asha', receivedAt: hoursAgo(1.1) }, { Notice: 'Pending' })
    const answer = await fetch(`${other.url}/statusz`)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toEqual({
      problems: ['A mail to staff has waited for 1 hour: RESEND_API_KEY is not set.'],
    })
    // At most one look at the database in ten seconds.
    expect((await fetch(`${app.url}/statusz`)).status).toBe(200)
  })

  it('is 503 when orders cannot be stored', async () => {
    const app = await anApp()
    await app.db.$executeRaw`ALTER TABLE "Quvera_Form" RENAME TO "Away"`
    const answer = await fetch(`${app.url}/statusz`)
    expect([answer.status, await answer.json()]).toEqual([503, { problems: ['Orders cannot be stored.'] }])
    await app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Form"`
  })

  it('is 503 while Resend refuses the key', async () => {
    const app = await anApp()
    app.resend.behaviour = { status: 400, name: 'validation_error', message: 'API key is invalid' }
    await storeEnquiry(app.db, {}, { Notice: 'Pending' })
    await eventually(() => expect(app.countLogged('a mail was not sent')).toBe(1))
    const answer = await fetch(`${app.url}/statusz`)
    expect(await answer.json()).toEqual({ problems: ['Resend refuses the key or the sender: no mail is sent.'] })
    expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
  })
})
