import { existsSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { migrationsFolder } from '../../server/project-root.ts'
import { products } from '../../shared/catalogue.ts'
import { aFolder } from '../support/a-folder.ts'
import { type BackupContent, backupText } from '../support/backup-file.ts'
import { aDatabase, anOpenDatabase } from '../support/fixtures.ts'
import { openTestDatabase, type TestDatabase } from '../support/open-test-database.ts'
import { createFolder } from '../support/scratch.ts'
import { staff } from '../support/staff-command.ts'
import { onDatabase, storedProducts } from '../support/stored-enquiry.ts'
import { administer } from '../support/test-database.ts'

const MIGRATIONS = readdirSync(migrationsFolder()).filter((name) => /^\d/.test(name))
/** More than are inserted at once. */
const ENQUIRIES = 700
const HIGHEST = 50_000

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

function enquiry(number: number) {
  return {
    Id: id(number),
    Reference: `QV-${String(number).padStart(6, '0')}`,
    ReceivedAt: '2026-11-20T08:00:00+00:00',
    Name: 'Asha Verma',
    Email: 'asha.verma@shop.example',
    Mobile: '9876543210',
    Quantity: 24,
    RetailerSelfUse: 'Self Use',
    Products: products[1],
    Status: 'New',
    SuspectedSpam: false,
    NoticeVersion: '2026-11',
    SubmissionKey: id(number),
    Note: number === 1 ? 'Zoë said\nso \u2028' : null,
  }
}

function notice(number: number, mailId: number) {
  return {
    Id: mailId,
    EnquiryId: id(number),
    Kind: 'Staff',
    Status: 'Delivered',
    Attempts: 1,
    DueAt: '2026-11-20T08:00:00+00:00',
    TriedAt: '2026-11-20T08:01:00+00:00',
    LastError: null,
    ResendId: 'a-resend-id',
    Text: null,
  }
}

function anOldBackup(): BackupContent {
  const numbers = Array.from({ length: ENQUIRIES }, (_, index) => index + 1)
  const mails = numbers.map((number) => notice(number, number === 1 ? HIGHEST : number))
  return {
    migrations: MIGRATIONS,
    tables: {
      Quvera_Form: { columns: Object.keys(enquiry(1)), rows: numbers.map(enquiry) },
      Quvera_Mail: { columns: Object.keys(notice(1, 1)), rows: mails },
      Quvera_Subscriber: {
        columns: ['Email', 'SubscribedAt', 'ConsentVersion'],
        rows: [{ Email: 'a@shop.example', SubscribedAt: '2026-11-20T08:00:00+00:00', ConsentVersion: '2026-11' }],
      },
    },
  }
}

let folder: Awaited<ReturnType<typeof createFolder>>
beforeAll(async () => {
  folder = await createFolder('quvera-restore-')
})
afterAll(() => folder.remove())

let files = 0
async function aFile(text: string | Buffer): Promise<string> {
  const path = join(folder.path, `${++files}.gz`)
  await writeFile(path, gzipSync(text))
  return path
}

/** What the database is made of, as far as a restore could change it. */
function shape(env: Record<string, string>): Promise<unknown> {
  return onDatabase(
    env,
    (db) => db.$queryRaw`
      SELECT conname::text, pg_get_constraintdef(oid) AS definition FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace
      UNION ALL SELECT nspname::text, '' FROM pg_namespace WHERE nspname NOT LIKE 'pg_temp%' AND nspname NOT LIKE 'pg_toast%'
      ORDER BY 1`,
  )
}

describe('a backup', () => {
  it('comes back whole, and leaves the tables as they were', async () => {
    const { env } = await anOpenDatabase()
    const before = await shape(env)
    const restored = await staff(['restore', await aFile(backupText(anOldBackup())), '--mails'], env)
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(restored.stdout).toMatch(/^Restored 1,401 rows of the backup made at 2026-11-22T12:00:00\.000Z\.\n$/)
    await onDatabase(env, async (db) => {
      expect(await db.enquiry.count()).toBe(ENQUIRIES)
      expect(await db.enquiry.findUnique({ where: { id: id(1) } })).toMatchObject({
        reference: 'QV-000001',
        retailerSelfUse: 'SelfUse',
        products: storedProducts[1],
        quantity: 24n,
        receivedAt: new Date('2026-11-20T08:00:00Z'),
        note: 'Zoë said\nso \u2028',
      })
      const unconfirmed = { confirmedAt: null, secret: expect.stringMatching(/^[\da-f]{64}$/) }
      expect(await db.subscriber.findMany()).toMatchObject([unconfirmed])
      const notices = { kind: 'Notice' as const, enquiryId: { not: null } }
      expect(await db.mail.count({ where: notices })).toBe(ENQUIRIES)
      const next = await db.mail.create({ data: { kind: 'Summary', text: 'x', status: 'Withheld' } })
      expect(next.id).toBeGreaterThan(BigInt(HIGHEST))
    })
    expect(await shape(env)).toEqual(before)
  })

  it.runIf(inject('postgres'))('is restored by the owner of the tables, who need not be a superuser', async () => {
    const env = await aDatabase()
    const url = env.DATABASE_URL ?? ''
    const name = `owner_${crypto.randomUUID().replaceAll('-', '')}`
    await administer(
      url,
      `CREATE ROLE ${name} LOGIN; GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${name};
       ALTER ROLE ${name} SET TimeZone TO 'UTC'; ALTER SCHEMA public OWNER TO ${name};
       DO $$ DECLARE item record; BEGIN
         FOR item IN SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')
         LOOP EXECUTE format('ALTER TABLE %I OWNER TO ${name}', item.relname); END LOOP;
         FOR item IN SELECT typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e'
         LOOP EXECUTE format('ALTER TYPE %I OWNER TO ${name}', item.typname); END LOOP;
       END $$`,
    )
    const owner = { DATABASE_URL: Object.assign(new URL(url), { username: name }).href }
    const restored = await staff(['restore', await aFile(backupText(anOldBackup()))], owner)
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(await onDatabase(env, (db) => db.enquiry.count())).toBe(ENQUIRIES)
    await administer(url, `REASSIGN OWNED BY ${name} TO postgres; DROP OWNED BY ${name}; DROP ROLE ${name}`)
  })
})

describe('a file that is not a backup of this site', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.close())
  const ESCAPE = '\u001b]0;owned\u0007'
  const good = anOldBackup()

  it.each<[string, () => string | Buffer, RegExp]>([
    ['one line that never ends', () => Buffer.alloc(60 * 2 ** 20, 'a'), /Line 1 is longer than/],
    [
      'a row that never ends',
      () => `${backupText(good).split('\n').slice(0, 2).join('\n')}\n${'a'.repeat(60 * 2 ** 20)}`,
      /Line 3 is longer than/,
    ],
    ['no JSON', () => `@${ESCAPE}\n`, /is damaged or no backup/],
    [
      'a format with escape sequences',
      () => backupText(good).replace('"version":1', `"version":"${ESCAPE}"`),
      /is damaged or no backup/,
    ],
    [
      'a migration with escape sequences',
      () => backupText({ ...good, migrations: [ESCAPE] }),
      /is damaged or no backup/,
    ],
    ['a time with escape sequences', () => backupText({ ...good, madeAt: ESCAPE }), /is damaged or no backup/],
    [
      'a table with escape sequences',
      () => backupText({ ...good, tables: { [ESCAPE]: { columns: ['Id'], rows: [] } } }),
      /is damaged or no backup/,
    ],
    [
      'a column with escape sequences',
      () => backupText({ ...good, tables: { Quvera_Form: { columns: [ESCAPE], rows: [] } } }),
      /is damaged or no backup/,
    ],
    [
      'a row with escape sequences',
      () => backupText({ ...good, tables: { Quvera_Form: { columns: ['Id'], rows: [{ Id: ESCAPE }] } } }),
      /is damaged: its rows do not fit the tables/,
    ],
    [
      'a table that belongs to the database itself',
      () => {
        const lease = { Name: 'owned', Holder: 'owned', Until: '2026-11-20T08:00:00Z' }
        const tables = { Quvera_Lease: { columns: Object.keys(lease), rows: [lease] } }
        return backupText({ migrations: MIGRATIONS, tables })
      },
      /It holds a table that this site does not have/,
    ],
  ])('is refused at once, without a word of what is in it: %s', async (_what, content, message) => {
    const file = await aFile(content())
    const started = performance.now()
    const refused = await staff(['restore', file], database.env)
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(message)
    expect(refused.stderr).toMatch(/^[\x20-\x7e]+No row was restored\.\n$/)
    expect(refused.stderr).not.toContain('owned')
  })

  it.skipIf(inject('postgres'))('is known before a database is made, also at standard input', async () => {
    const dataDir = join(await aFolder('quvera-restored-'), 'data')
    expect(await staff(['restore', '-'], { DATA_DIR: dataDir })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^standard input is damaged or no backup: .* No row was restored\.\n$/),
    })
    expect(existsSync(dataDir)).toBe(false)
  })
})
