// The roles of prisma/roles.sql may do what the site and staff need and nothing more, and a missing right is named.
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { aClient } from '../support/a-client.ts'
import { anOrder, call, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { callDesk, cookieOf, postStaff } from '../support/desk.ts'
import { eventually } from '../support/eventually.ts'
import { STAFF, sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { aServer, aDatabase as aTestDatabase } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { hoursAgo, onDatabase, storeEnquiry } from '../support/stored-enquiry.ts'
import { administer } from '../support/test-database.ts'

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

/** What PostgreSQL says to each statement: its error code, or `allowed`. */
async function verdicts(url: string, statements: string[]): Promise<Record<string, string>> {
  const client = await aClient({ DATABASE_URL: url })
  const result: Record<string, string> = {}
  for (const statement of statements) {
    await client.query('BEGIN')
    result[statement] = await client.query(statement).then(
      () => 'allowed',
      (error) => error.code,
    )
    await client.query('ROLLBACK')
  }
  return result
}

function all(statements: string[], verdict: string) {
  return Object.fromEntries(statements.map((statement) => [statement, verdict]))
}

const REFUSED = '42501'
const NOT_THE_OWNER = ['DROP TABLE "Quvera_Form"', 'TRUNCATE "Quvera_Mail"', 'ALTER TABLE "Quvera_Form" ADD x int']

const ONLY_ADDED = [
  'DELETE FROM "Quvera_Access"',
  `UPDATE "Quvera_Access" SET "Who" = 'x'`,
  `INSERT INTO "Quvera_Access" ("Who", "Command", "What", "Role") VALUES ('', '', '', 'another')`,
  `INSERT INTO "Quvera_Access" ("Who", "Command", "What", "At") VALUES ('', '', '', now() - interval '1 day')`,
  'DELETE FROM "Quvera_History"',
  `INSERT INTO "Quvera_History" ("EnquiryId", "Column") SELECT "Id", 'Note' FROM "Quvera_Form"`,
]

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

  it('let the server store, mail and subscribe, and nothing more', async () => {
    const { app, owner } = await aDatabase()
    const resend = await startFakeResend()
    atEnd(resend.close)
    const server = await aServer({ DATABASE_URL: app, PUBLIC_URL: 'http://quvera.test', ...sendingThrough(resend) })
    const order = anOrder()
    const { reference = '', status } = await submit(server.url, order)
    expect(status).toBe(200)
    expect((await submit(server.url, order)).reference).toBe(reference)
    for (let times = 0; times < 2; times++) {
      expect((await call(server.url, 'subscription.subscribe', { email: 'a@shop.example' })).status).toBe(200)
    }
    const asks = () => resend.mails.filter(({ subject }) => subject.includes('confirm your subscription'))
    await eventually(() => expect(asks()).not.toEqual([]))
    await eventually(() => expect(resend.mails.length - asks().length).toBe(2))
    const [path = ''] = /\/subscription\?token=\S+/.exec(asks()[0]?.text ?? '') ?? []
    for (const [ask, answer] of [
      ['confirm', 303],
      ['end', 200],
    ] as const) {
      const body = new URLSearchParams({ do: ask })
      const sent = await fetch(server.url + path, { method: 'POST', redirect: 'manual', body })
      expect(sent.status).toBe(answer)
    }
    await eventually(async () =>
      expect((await staff(['mails'], { DATABASE_URL: app })).stdout).toMatch(/^No mail waits\.\n/),
    )
    expect(server.stdout()).not.toContain('"level":"error"')

    await staff(['export'], { DATABASE_URL: app }) // a line that it may not take away
    const forbidden = [
      ...NOT_THE_OWNER,
      'UPDATE "Quvera_Subscriber" SET "Secret" = \'x\'',
      'UPDATE "Quvera_Subscriber" SET "Email" = \'x\'',
      'SELECT * FROM "Quvera_Enquiries"',
      'DELETE FROM "Quvera_Form"',
      'DELETE FROM "Quvera_Mail"',
      `UPDATE "Quvera_Form" SET "Name" = 'x'`,
      'UPDATE "Quvera_Mail" SET "Kind" = \'Notice\'',
      'DELETE FROM _prisma_migrations',
      'CREATE TABLE mine (x int)',
      ...ONLY_ADDED,
    ]
    expect(await verdicts(app, forbidden)).toEqual(all(forbidden, REFUSED))
    const inserts = (columns: string, values: string) =>
      `INSERT INTO "Quvera_Form" (${columns}) SELECT ${values} FROM "Quvera_Form" LIMIT 1`
    const rewritten = ['ReceivedAt', 'Status', 'Note', 'Calls'].map((column) =>
      inserts(`"Id", "${column}"`, `"Id", "${column}"`),
    )
    expect(await verdicts(app, rewritten)).toEqual(all(rewritten, REFUSED))

    for (const command of [
      ['mails', 'retry', '--yes'],
      ['check'],
      ['export'],
      ['export', '--person', order.mobile],
      ['subscribers'],
      ['subscribers', '--remove', 'a@shop.example'],
    ] as string[][]) {
      expect(await staff(command, { DATABASE_URL: app }), command.join(' ')).toMatchObject({ code: 0, stderr: '' })
    }
    // The site's own role makes the daily backup.
    expect(await staff(['backup', '-'], { DATABASE_URL: app })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Wrote \d+ rows to standard output/),
    })
    const refused = await staff(['erase', '--person', order.email, '--yes'], { DATABASE_URL: app })
    expect(refused).toMatchObject({ code: 1, stdout: expect.not.stringContaining('Erased') })
    expect(refused.stderr).toMatch(/^[^\n]*permission denied[^\n]*\n$/i)
    const advice =
      "Set DATABASE_URL to the login of the tables' owner; to read, quvera_readonly is enough. After an update the owner runs prisma/roles.sql again."
    expect(refused.stderr).toContain(advice)
    await administer(owner, 'REVOKE SELECT ON "Quvera_History" FROM quvera_app') // as an older script left it
    expect((await staff(['export', '--person', order.mobile], { DATABASE_URL: app })).stderr).toContain(advice)
    expect((await staff(['erase', '--person', order.email, '--yes'], { DATABASE_URL: owner })).code).toBe(0)
  })

  it('let the site serve the desk, keep its sessions to it, and set no time of one', async () => {
    const { app, readonly, owner } = await aDatabase()
    const resend = await startFakeResend()
    atEnd(resend.close)
    const server = await aServer({ DATABASE_URL: app, ...sendingThrough(resend) })
    const { url } = server
    const { reference = '' } = await submit(url, anOrder({ website: 'filled in by a browser' }))
    await postStaff(url, 'sign-in', { email: STAFF, to: '/staff' })
    const link = () => resend.mails.map(({ text }) => /token=([\w-]+)/.exec(text)?.[1]).find(Boolean)
    await eventually(() => expect(link()).toBeDefined())
    const token = link() ?? ''
    const cookie = cookieOf(await postStaff(url, 'enter', { token }))
    for (const [name, input] of [
      ['list', { state: 'spam', text: 'asha' }],
      ['setSpam', { reference, spam: false, was: true }],
      ['setStatus', { reference, status: 'Contacted', was: 'New' }],
      ['addNote', { reference, text: 'x' }],
      ['addCall', { reference }],
      ['show', { reference }],
      ['setSpam', { reference, spam: true, was: false }],
    ] as const)
      expect([name, (await callDesk(url, cookie, name, input)).status]).toEqual([name, 200])
    expect((await postStaff(url, 'enquiries.csv', { state: 'all' }, { cookie })).status).toBe(200)
    const printed = await staff(['sign-in'], { DATABASE_URL: app, STAFF_EMAILS: STAFF })
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    await postStaff(url, 'sign-out', {}, { cookie })
    expect((await callDesk(url, cookie, 'list', { state: 'new' })).status).toBe(401)
    expect(server.stdout()).not.toContain('"level":"error"')

    const sessions = 'SELECT * FROM "Quvera_Session"'
    const rewritten = [
      'UPDATE "Quvera_Session" SET "At" = now()',
      `INSERT INTO "Quvera_Session" ("Hash", "IsLink", "Email", "At") VALUES (repeat('a', 64), FALSE, 'x', now())`,
    ]
    expect(await verdicts(app, [sessions])).toEqual(all([sessions], 'allowed'))
    expect(await verdicts(app, rewritten)).toEqual(all(rewritten, REFUSED))
    const bySecret = `INSERT INTO "Quvera_Session" ("Hash", "IsLink", "Email") VALUES ('a secret itself', FALSE, 'x')`
    expect(await verdicts(owner, [bySecret])).toEqual(all([bySecret], '23514'))
    expect(await verdicts(readonly, [sessions])).toEqual(all([sessions], REFUSED))
    expect((await staff(['sign-in'], { DATABASE_URL: readonly, STAFF_EMAILS: STAFF })).code).toBe(1)
  })

  it('lend the rights of the tables’ owner to nobody', async () => {
    const { app, readonly } = await aDatabase('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO PUBLIC') // as in a dump
    const borrowed = `
      CREATE FUNCTION pg_temp.spy() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE '%', current_user; END$$;
      CREATE TEMP TABLE "Quvera_History" AS TABLE public."Quvera_History" WITH NO DATA;
      GRANT ALL ON pg_temp."Quvera_History" TO PUBLIC;
      CREATE TRIGGER spy BEFORE INSERT ON pg_temp."Quvera_History" FOR EACH ROW EXECUTE FUNCTION pg_temp.spy();
      CREATE TEMP TABLE form AS SELECT gen_random_uuid() "Id", '' "Status", '' "SuspectedSpam", '' "Note";
      CREATE TRIGGER keep AFTER UPDATE ON form FOR EACH ROW EXECUTE FUNCTION "Quvera_keep_history"();
      UPDATE form SET "Note" = 'x'`
    const lent = `SELECT oid::regprocedure FROM pg_proc WHERE prosecdef AND has_function_privilege(oid, 'EXECUTE')`
    for (const [url, functions] of [
      [app, [{ oid: '"Quvera_erase_old"(timestamp with time zone,integer)' }]],
      [readonly, []],
    ] as const) {
      const client = await aClient({ DATABASE_URL: url })
      expect(await client.query(borrowed).catch((error) => error.message)).toMatch(/^permission denied for function/)
      expect((await client.query(lent)).rows).toEqual(functions)
    }
  })

  it('let the server erase what is past its time by one function, and nothing younger than a month', async () => {
    const { app, readonly, owner } = await aDatabase()
    for (const days of [800, 40, 20])
      await onDatabase({ DATABASE_URL: owner }, (db) => storeEnquiry(db, { receivedAt: hoursAgo(24 * days) }))
    const erase = async (url: string, before: string) => {
      const client = await aClient({ DATABASE_URL: url })
      const { rows } = await client.query(`SELECT "Quvera_erase_old"(${before}, 500) AS "erased"`)
      return rows[0].erased
    }
    expect(await erase(app, "now() - interval '24 months'")).toBe(1)
    expect(await erase(app, 'NULL')).toBe(0)
    expect(await erase(app, "'infinity'")).toBe(1)
    expect(await onDatabase({ DATABASE_URL: owner }, (db) => db.enquiry.count())).toBe(1)
    await expect(erase(readonly, 'now()')).rejects.toMatchObject({ code: REFUSED })
    await expect(onDatabase({ DATABASE_URL: app }, (db) => db.enquiry.deleteMany())).rejects.toThrow(
      'permission denied',
    )
  })

  it('after pg_restore one file keeps old mails from going out again, and who has left off the list', async () => {
    const { owner } = await aDatabase()
    const env = { DATABASE_URL: owner }
    await onDatabase(env, async (db) => {
      await storeEnquiry(db, {}, { Acknowledgement: 'Pending' })
      await db.subscriber.create({ data: { email: 'a@shop.example', consentVersion: '1', confirmedAt: new Date() } })
    })
    await administer(owner, await readFile('server/database/after-pg-restore.sql', 'utf8'))
    expect((await staff(['mails'], env)).stdout).toContain('Withheld by a restore')
    expect(await onDatabase(env, (db) => db.mail.count({ where: { status: 'Pending' } }))).toBe(0)
    expect(await onDatabase(env, (db) => db.mail.count({ where: { withheldBecause: 'Restored' } }))).toBe(1)
    expect((await staff(['subscribers'], env)).stdout).toContain('1 address, 1 of them not confirmed')
  })

  it('may store a field that the form gets later', async () => {
    const { owner } = await aDatabase(`ALTER TABLE "Quvera_Form" ADD "City" TEXT NOT NULL DEFAULT ''`)
    const client = await aClient({ DATABASE_URL: owner })
    const { rows } = await client.query(
      `SELECT "column" FROM unnest(ARRAY['City', 'Name', 'Status', 'Note', 'ReceivedAt']) AS "column"
       WHERE has_column_privilege('quvera_app', '"Quvera_Form"', "column", 'INSERT')`,
    )
    expect(rows).toEqual([{ column: 'City' }, { column: 'Name' }])
  })

  it('let staff look at everything and change nothing, or the status only', async () => {
    const { readonly, owner } = await aDatabase()
    for (const command of [['export'], ['export', '--person', 'asha@shop.example'], ['mails'], ['check']])
      expect((await staff(command, { DATABASE_URL: readonly })).code, command.join(' ')).toBe(0)
    // Their links hold the secrets.
    expect((await staff(['subscribers'], { DATABASE_URL: readonly })).stderr).toContain(
      'needs rights that this login lacks',
    )
    const lines = await onDatabase({ DATABASE_URL: readonly }, (db) => db.access.findMany({ orderBy: { at: 'asc' } }))
    expect(lines.map(({ command, role }) => [command, role])).toEqual(
      ['export', 'export'].map((command) => [command, 'quvera_readonly']),
    )
    const looks = ['Quvera_Form', 'Quvera_Mail', 'Quvera_Enquiries'].map((table) => `SELECT * FROM "${table}"`)
    looks.push('SELECT "Email", "ConfirmedAt" FROM "Quvera_Subscriber"')
    expect(await verdicts(readonly, looks)).toEqual(all(looks, 'allowed'))
    const setStatus = `UPDATE "Quvera_Form" SET "Status" = 'Closed'`
    const forbidden = [
      ...NOT_THE_OWNER,
      'SELECT "Secret" FROM "Quvera_Subscriber"',
      "INSERT INTO \"Quvera_Subscriber\" VALUES ('a', now(), '1')",
      'DELETE FROM "Quvera_Form"',
      `UPDATE "Quvera_Mail" SET "Status" = 'Pending'`,
      ...ONLY_ADDED,
    ]
    expect(await verdicts(readonly, [...forbidden, setStatus])).toEqual(all([...forbidden, setStatus], REFUSED))

    await administer(owner, 'GRANT UPDATE ("Status") ON "Quvera_Form" TO quvera_readonly')
    expect(await verdicts(readonly, [...forbidden, setStatus])).toEqual({
      ...all(forbidden, REFUSED),
      [setStatus]: 'allowed',
    })
  })
})
