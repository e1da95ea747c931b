// `/statusz` and `staff check` name what somebody has to mend, each problem in a sentence, without personal data.
// `/readyz` tells whether orders can be stored, and nothing else.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { Db } from '../../../server/database/database.ts'
import { type Env, readEnv } from '../../../server/env.ts'
import { createProblemReader, readProblems } from '../../../server/operations/problems.ts'
import { DAY_MS, formatIndianDay } from '../../../shared/indian-time.ts'
import { messages } from '../../../shared/order.ts'
import { aFolder } from '../../support/a-folder.ts'
import { anOrder, submit } from '../../support/an-order.ts'
import { atEnd } from '../../support/at-end.ts'
import { eventually } from '../../support/eventually.ts'
import { STAFF } from '../../support/fake-resend.ts'
import { anApp, anOpenDatabase, aServer } from '../../support/fixtures.ts'
import { columnsOf, hoursAgo, storeEnquiry } from '../../support/stored-enquiry.ts'

const env: Env = {
  ...readEnv({}),
  RESEND_API_KEY: 're_test',
  RESEND_WEBHOOK_SECRET: 'whsec_x',
  STAFF_EMAILS: [STAFF],
}

type Step = (db: Db) => Promise<unknown>
const enquiry =
  (fields: object, mails?: object): Step =>
  (db) =>
    storeEnquiry(db, fields, mails)

/** A mail to staff that was taken so many hours ago. */
const toStaff =
  (status: 'Sent' | 'Delivered' | 'Bounced' | 'Complained', hours: number, to = STAFF): Step =>
  (db) => {
    const at = hoursAgo(hours)
    const times = { queuedAt: at, firstTriedAt: at, sentAt: at }
    return db.mail.create({ data: { kind: 'SignIn', to, ...columnsOf(status), ...times } })
  }

/** One that was queued so many hours ago. */
const summary =
  (status: 'Sent' | 'Failed', hours: number): Step =>
  (db) => {
    const data = { kind: 'Summary', to: STAFF, text: 'Quvera: 1 waiting', queuedAt: hoursAgo(hours) } as const
    return db.mail.create({ data: { ...data, ...columnsOf(status) } })
  }

/** As an answer leaves it that says that no mail is taken. */
const notTaken =
  (dueAt: Date): Step =>
  (db) =>
    db.mail.updateMany({
      where: { status: 'Pending' },
      data: { attempts: 1, lastError: '401 restricted_api_key', dueAt },
    })
const forOthers: Step = (db) => db.mail.updateMany({ where: { kind: 'Notice' }, data: { to: 'gone@quvera.test' } })
const [waits, unknown] = [{ Notice: 'Pending' }, { Notice: 'Unknown' }]
const noEvent = /^Mails went out, and Resend reports nothing of them/
const notArrived = /^The last mail to an address of staff did not arrive\.$/
const spam = /^A mail was marked as spam at an address of staff\.$/
const refused = /^Resend takes no mails: it refuses RESEND_API_KEY or MAIL_FROM/
const waited = /^A mail to staff has waited for 16 minutes\.$/
const notTold = /^Nobody has been told of an enquiry for 1 hour\.$/
const nobody = /^1 mail waits for an address that is not in STAFF_EMAILS\.$/
const reachedNobody = /^The last summary has reached nobody\.$/

const cases: [what: string, problems: RegExp[], ...steps: Step[]][] = [
  ['a notice that has waited for 14 minutes', [], enquiry({ receivedAt: hoursAgo(0.23) }, waits)],
  ['a notice that has waited for 16 minutes', [waited], enquiry({ receivedAt: hoursAgo(0.27) }, waits)],
  ['an acknowledgement that waits', [], enquiry({ receivedAt: hoursAgo(20) }, { Acknowledgement: 'Pending' })],
  ['an enquiry that is untold for an hour', [], enquiry({ receivedAt: hoursAgo(1) }, unknown)],
  ['one that is untold for longer than a summary takes', [notTold], enquiry({ receivedAt: hoursAgo(1.3) }, unknown)],
  ['suspected spam that is untold', [], enquiry({ receivedAt: hoursAgo(20), suspectedSpam: true })],
  ['a notice for an address that is not configured', [nobody], enquiry({}, waits), forOthers],
  ['a mail that Resend does not take', [refused], enquiry({ receivedAt: hoursAgo(0.1) }, waits), notTaken(hoursAgo(0))],
  ['one that it did not take in the last minute', [], enquiry({}, waits), notTaken(hoursAgo(0))],
  [
    'one that waits for the budget since then',
    [],
    enquiry({ receivedAt: hoursAgo(0.1) }, waits),
    notTaken(hoursAgo(0.05)),
  ],
  ['a mail that went out half an hour ago without an event', [], toStaff('Sent', 0.5)],
  ['a mail that went out two hours ago without an event', [noEvent], toStaff('Sent', 2)],
  ['one of two mails without an event', [], toStaff('Sent', 2), toStaff('Delivered', 3)],
  ['a bounce at an address of staff, typed otherwise', [notArrived], toStaff('Bounced', 3, STAFF.toUpperCase())],
  ['a complaint at an address of staff', [spam], toStaff('Complained', 3)],
  ['a bounce before a mail that arrived', [], toStaff('Bounced', 3), toStaff('Delivered', 2)],
  ['a bounce at an address that has left', [], toStaff('Bounced', 3, 'gone@quvera.test')],
  ['a bounce a week ago', [], toStaff('Bounced', 24 * 8)],
  ['a summary that reached nobody', [reachedNobody, notArrived], summary('Failed', 1)],
  ['one that did after it', [], summary('Failed', 1), summary('Sent', 0.5)],
]

it.each(cases)('the problems of a site with %s', async (_, problems, ...steps) => {
  const { db } = await anOpenDatabase()
  for (const step of steps) await step(db)
  expect(await readProblems(db, env)).toEqual(problems.map((problem) => expect.stringMatching(problem)))
})

it('a backup that is overdue is a problem of the site from its start', async () => {
  const { db } = await anOpenDatabase()
  const BACKUP_DIR = await aFolder('backups')
  const read = createProblemReader(db, { ...env, BACKUP_DIR })
  expect(await read()).toEqual([]) // the first one can still be expected
  await writeFile(join(BACKUP_DIR, 'quvera-2026-01-01.sql.gz'), '')
  expect(await read()).toEqual([
    expect.stringMatching(/^The newest daily backup in BACKUP_DIR is \d+ days old\.$/),
    expect.stringMatching(/^The database is new since/), // which was made after that day, too
  ])
})

it('a database that is younger than the first backup, without an enquiry from before, is a problem', async () => {
  const { db } = await anOpenDatabase()
  const BACKUP_DIR = await aFolder('backups')
  const read = () => readProblems(db, { ...env, BACKUP_DIR })
  const addBackup = (time: Date) => writeFile(join(BACKUP_DIR, `quvera-${formatIndianDay(time)}.sql.gz`), '')
  const [{ madeAt }] = await db.$queryRaw<
    [{ madeAt: Date }]
  >`SELECT min(finished_at) AS "madeAt" FROM _prisma_migrations`
  const earlier = new Date(madeAt.getTime() - 2 * DAY_MS)
  await addBackup(new Date())
  await addBackup(new Date(madeAt.getTime() - DAY_MS)) // perhaps of a clock that is ahead
  expect(await read()).toEqual([])
  await addBackup(earlier)
  expect(await read()).toEqual([
    `The database is new since ${formatIndianDay(madeAt)}, but BACKUP_DIR has backups from before: is it the right one? See the runbook.`,
  ])
  await storeEnquiry(db, { receivedAt: earlier }, { Notice: 'Delivered' }) // as a restore brings it
  expect(await read()).toEqual([])
})

it('staff get the address with it', async () => {
  const { db } = await anOpenDatabase()
  await toStaff('Bounced', 3)(db)
  expect(await readProblems(db, env, { withAddresses: true })).toEqual([`The last mail to ${STAFF} did not arrive.`])
})

it('/statusz is 200 while all is well, and 503 with the problems, at most one look in ten seconds', async () => {
  const [well, ill] = [await anApp({ mails: false }), await anApp({ mails: false })]
  expect(await (await fetch(`${well.url}/statusz`)).json()).toEqual({ status: 'ok' })
  for (const { db } of [well, ill]) await enquiry({ name: 'Asha', receivedAt: hoursAgo(1.1) }, waits)(db)
  expect((await fetch(`${well.url}/statusz`)).status).toBe(200)
  const answer = await fetch(`${ill.url}/statusz`)
  const problem = 'A mail to staff has waited for 1 hour: RESEND_API_KEY is not set.'
  expect([answer.status, await answer.json()]).toEqual([503, { problems: [problem] }])
})

it('/statusz is 503 while Resend refuses the key, and /readyz is not', async () => {
  const app = await anApp()
  app.resend.behaviour = { status: 400, name: 'validation_error', message: 'API key is invalid' }
  await storeEnquiry(app.db, { receivedAt: hoursAgo(0.1) }, { Notice: 'Pending' })
  await eventually(() => expect(app.countLogged('a mail was not sent')).toBe(1))
  const answer = await fetch(`${app.url}/statusz`)
  expect(await answer.json()).toEqual({
    problems: ['Resend takes no mails: it refuses RESEND_API_KEY or MAIL_FROM, or a limit of the account is used up.'],
  })
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200)
})

it('a failed write makes the site unready until writing works again, in two lines of the log', async () => {
  const app = await anApp({ mails: false })
  const read = async (path: string) => (await fetch(app.url + path)).json()
  expect(await read('/readyz')).toEqual({ status: 'ok' })
  await app.db.$executeRaw`ALTER TABLE "Quvera_Mail" RENAME TO "Away"`
  for (let index = 0; index < 5; index++)
    expect(await submit(app.url, anOrder())).toMatchObject({ status: 503, message: messages.failed })
  expect((await fetch(`${app.url}/readyz`)).status).toBe(503)
  expect([await read('/readyz'), await read('/statusz')]).toEqual([
    { status: 'unavailable' }, // nothing else for the public
    { problems: ['Orders cannot be stored.'] },
  ])
  await app.db.$executeRaw`ALTER TABLE "Away" RENAME TO "Quvera_Mail"`
  await eventually(async () => expect((await fetch(`${app.url}/readyz`)).status).toBe(200))
  expect(await app.db.enquiry.count()).toBe(0)
  expect(app.loggedErrors()).toMatchObject([{ cause: '42P01', msg: 'enquiries cannot be stored' }])
  expect(app.countLogged('enquiries can be stored again')).toBe(1)
})

it('a full disk is told in words, in the log and to a monitor', async () => {
  const app = await anApp({ mails: false })
  await app.db.$executeRaw`CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$`
  await app.db.$executeRaw`CREATE TRIGGER fill BEFORE INSERT ON "Quvera_Form" EXECUTE FUNCTION fill()`
  expect((await submit(app.url, anOrder())).status).toBe(503)
  const problems = ['Orders cannot be stored: the disk is full.']
  expect(await (await fetch(`${app.url}/statusz`)).json()).toEqual({ problems })
  expect(app.loggedErrors()).toMatchObject([{ cause: '53100', msg: 'enquiries cannot be stored: the disk is full' }])
})

it('without a key the site warns at its start of mails that have waited', async () => {
  const { env: variables, db } = await anOpenDatabase()
  await enquiry({ receivedAt: hoursAgo(3.1) }, waits)(db)
  const server = await aServer(variables)
  await eventually(() => expect(server.stdout()).toContain('A mail to staff has waited for 3 hours'))
})

it('an untold enquiry is a problem of the site at two looks a minute apart, as the sender comes first after an outage', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  atEnd(() => vi.useRealTimers())
  const { db } = await anOpenDatabase()
  await enquiry({ receivedAt: hoursAgo(2) }, unknown)(db)
  const read = createProblemReader(db, env)
  expect(await read()).toEqual([])
  vi.advanceTimersByTime(61_000)
  expect(await read()).toEqual([expect.stringMatching(/^Nobody has been told of an enquiry for 2 hours/)])
})
