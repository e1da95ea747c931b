// The roles of prisma/roles.sql may do what the site and staff need and nothing more, and a missing right is named.
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { brand } from '../../../shared/brand.ts'
import { exampleOrder } from '../../../shared/order.ts'
import { aClient } from '../../support/a-client.ts'
import { anOrder, call, submit } from '../../support/an-order.ts'
import { callDesk, cookieOf, postStaff } from '../../support/desk.ts'
import { eventually } from '../../support/eventually.ts'
import { STAFF, sendingThrough } from '../../support/fake-resend.ts'
import { aResend, aServer, aDatabase as aTestDatabase } from '../../support/fixtures.ts'
import { staff } from '../../support/staff-command.ts'
import { hoursAgo, onDatabase, storeEnquiry } from '../../support/stored-enquiry.ts'
import { administer } from '../../support/test-database.ts'
import { press, sendOrder } from '../../support/your-enquiry.ts'

const PASSWORD = 'only-for-this-test'

/** A database on which the script was run, once as it is and once again, and its address for each role. */
async function aDatabase(before = '') {
  const env = await aTestDatabase()
  const owner = env.DATABASE_URL ?? ''
  await administer(owner, before)
  const script = await readFile('prisma/roles.sql', 'utf8')
  await administer(owner, script)
  await administer(owner, script)
  const as = async (username: string) => {
    await administer(owner, `ALTER ROLE ${username} PASSWORD '${PASSWORD}'`)
    return Object.assign(new URL(owner), { username, password: PASSWORD }).href
  }
  return { owner, app: await as('quvera_app'), readonly: await as('quvera_readonly') }
}

const REFUSED = '42501'
const rewrite = (column: string) =>
  `INSERT INTO "Quvera_Form" ("Id", "${column}") SELECT "Id", "${column}" FROM "Quvera_Form" LIMIT 1`

/** Which roles may do what. No other may: the site's one is `app`. */
const rights: [statement: string, ...may: ('app' | 'readonly')[]][] = [
  [`SELECT "Name", "Status", "ContentHash" FROM "Quvera_Form"`, 'app', 'readonly'],
  [`SELECT * FROM "Quvera_Form"`, 'app'],
  [`SELECT "Secret" FROM "Quvera_Form"`, 'app'],
  [`SELECT "SubmissionKey" FROM "Quvera_Form"`, 'app'],
  [`SELECT to_jsonb(form) FROM "Quvera_Form" form`, 'app'],
  [`UPDATE "Quvera_Form" SET "Secret" = 'x'`],
  [`UPDATE "Quvera_Form" SET "SubmissionKey" = gen_random_uuid()`],
  [`UPDATE "Quvera_Form" SET "EraseAt" = now() - interval '1 day'`],
  [`SELECT * FROM "Quvera_Mail"`, 'app', 'readonly'],
  [`SELECT * FROM "Quvera_Enquiries"`, 'readonly'],
  [`SELECT "Email", "ConfirmedAt" FROM "Quvera_Subscriber"`, 'app', 'readonly'],
  [`SELECT "Secret" FROM "Quvera_Subscriber"`, 'app'],
  [`SELECT * FROM "Quvera_Session"`, 'app'],
  [`UPDATE "Quvera_Form" SET "Status" = 'Closed'`, 'app'],
  [`UPDATE "Quvera_Form" SET "RemindOn" = now()`, 'app'],
  ...[
    'Name',
    'Email',
    'Mobile',
    'Quantity',
    'RetailerSelfUse',
    'Products',
    'EraseAt',
    'ReceivedAt',
    'ContentHash',
    'Secret',
  ].map((column): [string] => [`UPDATE "Quvera_Form" SET "${column}" = "${column}"`]),
  ...['ReceivedAt', 'Status', 'RemindOn', 'EraseAt', 'Secret'].map((column): [string] => [rewrite(column)]),
  [`UPDATE "Quvera_Mail" SET "LastError" = 'x'`, 'app'],
  [`UPDATE "Quvera_Mail" SET "Kind" = 'Notice'`],
  [`UPDATE "Quvera_Subscriber" SET "Secret" = 'x'`],
  [`UPDATE "Quvera_Subscriber" SET "Email" = 'x'`],
  [`INSERT INTO "Quvera_Subscriber" ("Email", "ConsentVersion") VALUES ('a', '1')`, 'app'],
  [`UPDATE "Quvera_Session" SET "At" = now()`],
  [`INSERT INTO "Quvera_Session" ("Hash", "Kind", "Email", "At") VALUES (repeat('a', 64), 'Link', 'x', now())`],
  [`INSERT INTO "Quvera_Session" ("Hash", "Kind", "Email", "UsedAt") VALUES (repeat('a', 64), 'Link', 'x', now())`],
  [`UPDATE "Quvera_Session" SET "LeadsTo" = '/staff'`, 'app'],
  [`SELECT "Quvera_use_session"('x')`, 'app'],
  [`DELETE FROM "Quvera_Session"`, 'app'],
  [`DELETE FROM "Quvera_Form"`],
  [`DELETE FROM "Quvera_Mail"`],
  [`DELETE FROM _prisma_migrations`],
  [`DROP TABLE "Quvera_Form"`],
  [`TRUNCATE "Quvera_Mail"`],
  [`ALTER TABLE "Quvera_Form" ADD x int`],
  [`CREATE TABLE mine (x int)`],
  [`CREATE TEMPORARY TABLE mine (x int)`],
  [`SELECT lo_create(0)`],
  [`SELECT lo_creat(-1)`],
  [`SELECT lo_from_bytea(0, 'x')`],
  [`INSERT INTO "Quvera_Access" ("Who", "Command", "What") VALUES ('', '', '')`, 'app', 'readonly'],
  [`INSERT INTO "Quvera_Access" ("Who", "Command", "What", "Role") VALUES ('', '', '', 'another')`],
  [`INSERT INTO "Quvera_Access" ("Who", "Command", "What", "At") VALUES ('', '', '', now() - interval '1 day')`],
  [`UPDATE "Quvera_Access" SET "Who" = 'x'`],
  [`DELETE FROM "Quvera_Access"`],
  [`DELETE FROM "Quvera_History"`],
  [`UPDATE "Quvera_History" SET "Who" = 'x'`],
  [`INSERT INTO "Quvera_History" ("EnquiryId", "What") SELECT "Id", 'Note' FROM "Quvera_Form"`, 'app'],
  [`INSERT INTO "Quvera_History" ("EnquiryId", "What", "At") SELECT "Id", 'Note', now() FROM "Quvera_Form"`],
  [`INSERT INTO "Quvera_History" ("EnquiryId", "What", "Role") SELECT "Id", 'Note', 'x' FROM "Quvera_Form"`],
  [`SELECT "Quvera_correct"("Id", '{"Name": "x"}', 'x', "Id", 'Correction', NULL) FROM "Quvera_Form"`, 'app'],
  [`SELECT "Quvera_set_erasure"("Id", TRUE, 'x', "Id", 'Erasure', NULL) FROM "Quvera_Form"`, 'app'],
  [`SELECT "Quvera_erase_asked"()`, 'app'],
]

/** So many days ago, as time zones have it: `J1` to `J365`. */
function dayOfYear(daysAgo: number): string {
  const day = new Date(hoursAgo(24 * daysAgo).setUTCFullYear(2023))
  return `J${Math.ceil((day.getTime() - Date.UTC(2022, 11, 31, 23)) / 86_400_000)}`
}

describe('the roles of prisma/roles.sql', () => {
  it.each<[what: string, sql: string, says: RegExp]>([
    [
      'where the script was not run again for a new version',
      'REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM quvera_app',
      /^The role quvera_app lacks rights that this version needs: first run prisma\/roles\.sql/m,
    ],
    [
      'where a migration is due',
      "DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_tables'",
      /^Migration \d+_tables is due, and this role may not apply it\. [^\n]* staff -- migrate[^\n]*\n$/,
    ],
    [
      'whose rights a restore has taken',
      'REVOKE SELECT ON _prisma_migrations FROM PUBLIC, quvera_app',
      /^This login may not read the table of migrations\. The owner of the tables has to run prisma\/roles\.sql again\.\n$/,
    ],
  ])('end a start %s, and say what to run', async (_what, sql, says) => {
    const { app, owner } = await aDatabase()
    await administer(owner, sql)
    const server = await aServer({ DATABASE_URL: app }, { waitUntilReady: false })
    expect(await server.exited).toEqual({ code: 1, signal: null })
    expect(server.stderr()).toMatch(says)
  })

  it.runIf(brand.newsletter)('let visitors subscribe, and staff read and remove what they did', async () => {
    const { app } = await aDatabase()
    const resend = await aResend()
    const server = await aServer({ DATABASE_URL: app, PUBLIC_URL: 'http://quvera.test', ...sendingThrough(resend) })
    for (let times = 0; times < 2; times++)
      expect((await call(server.url, 'subscription.subscribe', { email: 'a@shop.example' })).status).toBe(200)
    const asking = () => resend.mails.find(({ subject }) => subject.includes('confirm your subscription'))
    await eventually(() => expect(asking()).toBeDefined())
    const [path = ''] = /\/subscription\?token=\S+/.exec(asking()?.text ?? '') ?? []
    const press = (button: string) =>
      fetch(server.url + path, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ do: button }) })
    expect([(await press('confirm')).status, (await press('end')).status]).toEqual([303, 200])
    for (const words of ['subscribers', 'subscribers --remove a@shop.example'])
      expect(await staff(words.split(' '), { DATABASE_URL: app }), words).toMatchObject({ code: 0 })
    expect(server.stdout()).not.toContain('"level":"error"')
  })

  it('let the server store and mail, and staff do with it what needs no owner', async () => {
    const { app, owner } = await aDatabase()
    const resend = await aResend()
    const server = await aServer({ DATABASE_URL: app, PUBLIC_URL: 'http://quvera.test', ...sendingThrough(resend) })
    const order = anOrder()
    const { reference = '', status } = await submit(server.url, order)
    expect(status).toBe(200)
    expect((await submit(server.url, order)).reference).toBe(reference)
    await eventually(() => expect(resend.mails).toHaveLength(2))
    const mails = async () => (await staff(['mails'], { DATABASE_URL: app })).stdout
    await eventually(async () => expect(await mails()).toMatch(/^No mail waits\.\n/))
    expect(server.stdout()).not.toContain('"level":"error"')

    const person = `--person ${order.mobile}`
    // The last: the site's own role makes the daily backup.
    for (const words of ['mails retry --yes', 'check', 'export', `export ${person}`, 'backup -'])
      expect(await staff(words.split(' '), { DATABASE_URL: app }), words).toMatchObject({ code: 0 })
    const erase = ['erase', '--person', order.email, '--yes']
    const refused = await staff(erase, { DATABASE_URL: app })
    expect(refused).toMatchObject({ code: 1, stdout: expect.not.stringContaining('Erased') })
    expect(refused.stderr).toMatch(/^[^\n]*permission denied[^\n]*\n$/i)
    const advice =
      "Set DATABASE_URL to the login of the tables' owner; to read, quvera_readonly is enough. After an update the owner runs prisma/roles.sql again."
    expect(refused.stderr).toContain(advice)
    await administer(owner, 'REVOKE SELECT ON "Quvera_History" FROM quvera_app') // as an older script left it
    expect((await staff(['export', ...person.split(' ')], { DATABASE_URL: app })).stderr).toContain(advice)
    expect((await staff(erase, { DATABASE_URL: owner })).code).toBe(0)
  })

  it('let the site serve the desk, and keep its sessions to it', async () => {
    const { app, readonly, owner } = await aDatabase()
    const resend = await aResend()
    const { url, stdout } = await aServer({ DATABASE_URL: app, ...sendingThrough(resend) })
    const { reference = '' } = await submit(url, anOrder({ website: 'filled in by a browser' }))
    await postStaff(url, 'sign-in', { email: STAFF, to: '/staff' })
    let token = ''
    // From 9:00 to 15:00 in India the digest may come first.
    const isIt = ({ text = '' }) => (token ||= /token=([\w-]+)/.exec(text)?.[1] ?? '')
    await eventually(() => expect(resend.mails.some(isIt)).toBe(true))
    const cookie = cookieOf(await postStaff(url, 'enter', { token }))
    const key = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    for (const [name, input] of [
      ['list', { state: 'spam', text: 'asha' }],
      ['pulse', { showing: [reference] }],
      ['setSpam', { key: key(1), references: [reference], spam: false, was: true }],
      ['setStatus', { key: key(2), references: [reference], status: 'Contacted', was: 'New' }],
      ['addNote', { key: key(3), reference, text: 'x' }],
      ['addCall', { key: key(4), reference }],
      ['remind', { key: key(5), reference, on: null }],
      ['correct', { key: key(6), reference, was: exampleOrder, now: { ...exampleOrder, quantity: 1 } }],
      ['erase', { key: key(7), references: [reference], subscription: true }],
      ...[7, 6, 5, 4, 3, 2].map((n): [string, object] => ['takeBack', { key: key(10 + n), of: key(n) }]),
      ['add', { ...exampleOrder, key: key(20) }],
      ['show', { reference }],
      ['person', { reference }],
      ['setSpam', { key: key(8), references: [reference], spam: true, was: false }],
    ] as [string, object][])
      expect([name, await callDesk(url, cookie, name, input)]).toMatchObject([name, { status: 200 }])
    expect((await postStaff(url, 'enquiries.csv', { state: 'all' }, { cookie })).status).toBe(200)
    const printed = await staff(['sign-in'], { DATABASE_URL: app, STAFF_EMAILS: STAFF, PORT: new URL(url).port })
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    await postStaff(url, 'sign-out', {}, { cookie })
    expect((await callDesk(url, cookie, 'list', { state: 'new' })).status).toBe(401)
    expect(stdout()).not.toContain('"level":"error"')

    const bySecret = `INSERT INTO "Quvera_Session" ("Hash", "Kind", "Email") VALUES ('a secret itself', 'Link', 'x')`
    await expect(administer(owner, bySecret)).rejects.toMatchObject({ code: '23514' })
    expect((await staff(['sign-in'], { DATABASE_URL: readonly, STAFF_EMAILS: STAFF })).code).toBe(1)
  })

  it('let the site serve the visitor’s page, with every act of it, and date nothing back', async () => {
    const { app, owner } = await aDatabase()
    const { url, stdout } = await aServer({ DATABASE_URL: app, STAFF_EMAILS: STAFF })
    const { token, reference } = await sendOrder(url)
    const fields = { mobile: '9971112345', quantity: '30', email: 'asha@right.example', reference }
    const acts = ['mobile', 'quantity', 'email', 'withdraw', 'resume', 'erase', 'keep', 'erase']
    for (const act of acts) expect([act, (await press(url, token, act, fields)).status]).toEqual([act, 303])
    const { id, secret, eraseAt } = await onDatabase({ DATABASE_URL: owner }, (db) => db.enquiry.findFirstOrThrow())
    expect(eraseAt?.getTime()).toBeGreaterThan(Date.now() + 23 * 3_600_000)
    expect((await press(url, token, 'keep')).status).toBe(303)
    const byMail = `${id}.${hash('sha256', `mail${secret}`, 'hex')}`
    expect((await press(url, byMail, 'notMine')).status).toBe(303)
    expect(stdout()).not.toContain('"level":"error"')
    const client = await aClient({ DATABASE_URL: app })
    for (const backdated of [`now() - interval '1 day'`, `'-infinity'`, `now()`])
      await expect(client.query(`UPDATE "Quvera_Form" SET "EraseAt" = ${backdated}`)).rejects.toMatchObject({
        code: REFUSED,
      })
    expect((await client.query('SELECT "Quvera_erase_asked"()')).rows).toEqual([])
  })

  it('lend the rights of the tables’ owner to nobody', async () => {
    const { app, readonly, owner } = await aDatabase('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO PUBLIC') // as in a dump
    const borrowed = `
      CREATE FUNCTION pg_temp.spy() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE '%', current_user; END$$;
      CREATE TEMP TABLE "Quvera_History" AS TABLE public."Quvera_History" WITH NO DATA;
      GRANT ALL ON pg_temp."Quvera_History" TO PUBLIC;
      CREATE TRIGGER spy BEFORE INSERT ON pg_temp."Quvera_History" FOR EACH ROW EXECUTE FUNCTION pg_temp.spy();
      SELECT "Quvera_set_erasure"("Id", TRUE, 'x', "Id", 'Erasure', NULL) FROM "Quvera_Form"`
    await onDatabase({ DATABASE_URL: owner }, (db) => storeEnquiry(db))
    await administer(owner, `GRANT TEMPORARY ON DATABASE ${new URL(owner).pathname.slice(1)} TO PUBLIC`) // without it the first line fails
    const lent = `SELECT proname AS name FROM pg_proc WHERE prosecdef AND has_function_privilege(oid, 'EXECUTE') ORDER BY proname`
    const functions = [
      'Quvera_correct',
      'Quvera_erase_asked',
      'Quvera_erase_old',
      'Quvera_set_erasure',
      'Quvera_use_session',
    ]
    for (const [url, outcome, may] of [
      [readonly, /^permission denied for function/, []],
      [app, /^done$/, functions], // and the trigger in the way was not run
    ] as const) {
      const client = await aClient({ DATABASE_URL: url })
      const done = client.query(borrowed).then(() => 'done')
      expect(await done.catch((error) => error.message)).toMatch(outcome)
      expect((await client.query(lent)).rows.map(({ name }) => name)).toEqual(may)
    }
    expect(
      await onDatabase({ DATABASE_URL: owner }, (db) => db.historyEntry.count({ where: { what: 'Erasure' } })),
    ).toBe(1)
  })

  it('let the server erase what is past its time by one function, and nothing younger than a month', async () => {
    const { app, readonly, owner } = await aDatabase()
    for (const days of [800, 40, 26])
      await onDatabase({ DATABASE_URL: owner }, (db) => storeEnquiry(db, { receivedAt: hoursAgo(24 * days) }))
    const erase = async (url: string, before: string) => {
      const client = await aClient({ DATABASE_URL: url })
      await client.query(`SET TimeZone = 'AAA0BBB-167:59,${dayOfYear(10)}/0,${dayOfYear(-10)}/0'`) // its last month has 24 days
      return (await client.query(`SELECT "Quvera_erase_old"('enquiries', ${before}, 500) AS "erased"`)).rows[0].erased
    }
    expect(await erase(app, "now() - interval '24 months'")).toBe(1)
    expect([await erase(app, 'NULL'), await erase(app, "'infinity'")]).toEqual([0, 1])
    await expect(erase(readonly, 'now()')).rejects.toMatchObject({ code: REFUSED })
    expect(await onDatabase({ DATABASE_URL: owner }, (db) => db.enquiry.count())).toBe(1)
  })

  it('after pg_restore one file keeps old mails from going out again, who has left off the list, and what was to be erased for a day', async () => {
    const { owner } = await aDatabase()
    const env = { DATABASE_URL: owner }
    await onDatabase(env, async (db) => {
      await storeEnquiry(db, {}, { Acknowledgement: 'Pending' })
      await storeEnquiry(db, { eraseAt: new Date(0) })
      await db.subscriber.create({ data: { email: 'a@shop.example', consentVersion: '1', confirmedAt: new Date() } })
    })
    await administer(owner, await readFile('server/database/after-pg-restore.sql', 'utf8'))
    expect((await staff(['mails'], env)).stdout).toContain('Withheld by a restore (1)')
    expect(await onDatabase(env, (db) => db.mail.count({ where: { status: 'Pending' } }))).toBe(0)
    expect((await staff(['subscribers'], env)).stdout).toContain('1 address, 1 of them not confirmed')
    // Who wants to keep what somebody had asked to erase has a day.
    const toErase = { eraseAt: { gt: new Date(Date.now() + 23 * 3_600_000) } }
    expect(await onDatabase(env, (db) => db.enquiry.count({ where: toErase }))).toBe(1)
  })

  it('let the server store only the columns that the script names', async () => {
    const { owner } = await aDatabase(`ALTER TABLE "Quvera_Form" ADD "AnotherColumn" TEXT NOT NULL DEFAULT ''`)
    const client = await aClient({ DATABASE_URL: owner })
    const { rows } = await client.query(
      `SELECT attname FROM pg_attribute WHERE attrelid = '"Quvera_Form"'::regclass AND attnum > 0
       AND NOT has_column_privilege('quvera_app', attrelid, attnum, 'INSERT') ORDER BY attname`,
    )
    expect(rows.map(({ attname }) => attname)).toEqual([
      'AnotherColumn',
      'ClosedAs',
      'EraseAt',
      'ReceivedAt',
      'RemindOn',
      'SearchText',
      'Secret',
      'Status',
    ])
  })

  it('let each do what the table says, and nothing more', async () => {
    const { owner, ...urls } = await aDatabase()
    await onDatabase({ DATABASE_URL: owner }, async (db) => {
      await storeEnquiry(db, {}, { Notice: 'Pending' })
      await db.access.create({ data: { who: 'young', command: 'list', what: '' } })
    })
    for (const role of ['app', 'readonly'] as const) {
      const client = await aClient({ DATABASE_URL: urls[role] })
      for (const [statement, ...may] of rights) {
        await client.query('BEGIN')
        const verdict = await client.query(statement).then(
          () => 'allowed',
          (error) => error.code,
        )
        expect([role, statement, verdict]).toEqual([role, statement, may.includes(role) ? 'allowed' : REFUSED])
        await client.query('ROLLBACK')
      }
    }
  })

  it('let staff look at everything but the secrets of links, with a line in the access log', async () => {
    const { readonly } = await aDatabase()
    for (const words of ['export', 'export --person asha@shop.example', 'mails', 'check'])
      expect((await staff(words.split(' '), { DATABASE_URL: readonly })).code, words).toBe(0)
    const refused = await staff(['subscribers'], { DATABASE_URL: readonly })
    expect(refused.stderr).toContain('needs rights that this login lacks')
    const lines = await onDatabase({ DATABASE_URL: readonly }, (db) => db.access.findMany())
    expect(lines).toMatchObject(Array(2).fill({ command: 'export', role: 'quvera_readonly' }))
  })
})
