// A backup brings back every row and every value, or restores none.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { lstat, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, call, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { aDatabase, anOpenDatabase } from '../support/fixtures.ts'
import { openTestDatabase, type TestDatabase } from '../support/open-test-database.ts'
import { createFolder } from '../support/scratch.ts'
import { runShell, staff, startStaff } from '../support/staff-command.ts'
import { onDatabase, storeEnquiries, storeEnquiry } from '../support/stored-enquiry.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const AWKWARD = 'Zoë "O’Hara" \\ \\N \\. back\u2028line\ttab\r\nनमस्ते 🌿'

async function aPath(): Promise<string> {
  return join(await aFolder('quvera-backup-'), 'backup.sql.gz')
}

/** A site with enquiries, mails and a subscription. */
async function aSite(mails = true) {
  const app = await startTestApp({ mails })
  for (const name of ['Asha Verma', 'Second']) {
    expect((await submit(app.url, anOrder({ name, email: `${crypto.randomUUID()}@shop.example` }))).status).toBe(200)
  }
  await app.db.enquiry.updateMany({ where: { name: 'Second' }, data: { name: AWKWARD } })
  await call(app.url, 'subscription.subscribe', { email: 'a@shop.example' })
  return app
}

async function aBackup(env: Record<string, string>): Promise<string> {
  const file = await aPath()
  expect(await staff(['backup', file], env)).toMatchObject({ code: 0, stdout: '' })
  return file
}

let site: TestApp
/** A backup of it. */
let whole = ''
beforeAll(async () => {
  site = await aSite()
  await eventually(async () => expect(await site.db.mail.count({ where: { status: 'Sent' } })).toBe(5))
  const folder = await createFolder('quvera-backup-')
  whole = join(folder.path, 'backup.sql.gz')
  expect(await staff(['backup', whole], site.env)).toMatchObject({ code: 0, stdout: '' })
  return async () => {
    await site.close()
    await folder.remove()
  }
})

/** All rows of all tables, as the database writes them. */
function everything(env: Record<string, string>): Promise<unknown> {
  return onDatabase(
    env,
    (db) => db.$queryRaw`
      SELECT (SELECT jsonb_agg(to_jsonb(t) ORDER BY "Id") FROM "Quvera_Form" t) AS forms,
        (SELECT jsonb_agg(to_jsonb(t) ORDER BY "Id") FROM "Quvera_Mail" t) AS mails,
        (SELECT jsonb_agg(to_jsonb(t)) FROM "Quvera_Subscriber" t) AS subscribers`,
  )
}

/** A backup as anybody could change it. */
async function edited(change: (text: string) => string): Promise<string> {
  const file = await aPath()
  await writeFile(file, gzipSync(change(gunzipSync(await readFile(whole)).toString())))
  return file
}

describe('a backup', () => {
  it('made while the site runs brings everything back in another database', async () => {
    const target = await aDatabase()
    const restored = await staff(['restore', whole, '--moved'], target)
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(restored.stdout).toMatch(/^Restored 8 rows of the backup made at \S+\.\n$/)
    expect(await everything(target)).toEqual(await everything(site.env))
    await onDatabase(target, async (db) => {
      const last = await db.mail.aggregate({ _max: { id: true } })
      const added = await db.mail.create({ data: { kind: 'SignIn', to: 'a@b.in', status: 'Failed', dueAt: null } })
      expect(added.id).toBe((last._max.id ?? 0n) + 1n) // the sequences, too
    })
  })

  it('is plain SQL for the tables of the same migrations, in an order that foreign keys allow', async () => {
    const text = gunzipSync(await readFile(whole)).toString()
    expect(text).toMatch(/^-- Quvera backup of \d{4}-\d\d-\d\dT[\d:.]+Z\n-- migration \d+_tables\n/)
    const blocks = [...text.matchAll(/^COPY "(\w+)" \(("\w+"(?:, "\w+")*)\) FROM stdin;\n(?:[^\n]*\n)*?\\\.\n/gm)]
    const columns = await site.db.$queryRaw<{ name: string }[]>`
      SELECT table_name || '.' || column_name AS name FROM information_schema.columns
      JOIN information_schema.tables USING (table_schema, table_name)
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT IN ('_prisma_migrations', 'Quvera_Lease', 'Quvera_Session')`
    const written = blocks.flatMap(([, table, names = '']) =>
      names.split(', ').map((name) => `${table}.${name.slice(1, -1)}`),
    )
    expect(written.sort()).toEqual(columns.map(({ name }) => name).sort())
    const tables = blocks.map(([, table]) => table)
    for (const table of ['Quvera_Mail', 'Quvera_History'])
      expect(tables.indexOf(table)).toBeGreaterThan(tables.indexOf('Quvera_Form'))
    const rest = blocks.reduce((left, [block]) => left.replace(block, ''), text)
    expect(rest.split('\n').filter((line) => line && !/^(-- |SELECT setval\()/.test(line))).toEqual([])
  })

  it('brings every text, number and time back as it was', async () => {
    const [{ env: from }, { env: to }] = [await anOpenDatabase(), await anOpenDatabase()]
    const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 100 }), 30).map((text) => text.replaceAll('\0', ''))
    const strange = ['', '\\', '\\N', '\\.', '"', "'", '{}', 'null', '\n\r\t\u0001\u007f', '\ufeff', AWKWARD]
    await onDatabase(from, async (db) => {
      for (const [index, note] of [...strange, ...texts].entries())
        await storeEnquiry(db, {
          note,
          quantity: BigInt(Number.MAX_SAFE_INTEGER - index),
          receivedAt: new Date(index * 1e9 + index),
          suspectedSpam: index % 2 === 0,
        })
    })
    expect(await staff(['restore', await aBackup(from), '--moved'], to)).toMatchObject({ code: 0, stderr: '' })
    expect(await everything(to)).toEqual(await everything(from))
  })

  it('is readable by this user only, and is never overwritten', async () => {
    expect((await lstat(whole)).mode & 0o777).toBe(0o600)
    const before = await readFile(whole)
    expect(await staff(['backup', whole], site.env)).toMatchObject({
      code: 1,
      stderr: `The backup cannot be written: EEXIST: file already exists, open '${whole}'\n`,
    })
    expect(await readFile(whole)).toEqual(before)
  })

  it('is restored with its pending mails and posts withheld, except with --moved', async () => {
    const waiting = await aSite(false)
    atEnd(waiting.close)
    const enquiry = await waiting.db.enquiry.findFirstOrThrow()
    await waiting.db.mail.create({ data: { kind: 'Post', enquiryId: enquiry.id } })
    const file = await aBackup(waiting.env)
    const { env: held } = await anOpenDatabase()
    expect((await staff(['restore', file], held)).stdout).toMatch(/Withheld: 6 mails that were pending in the backup/)
    const states = (env: Record<string, string>) =>
      onDatabase(env, (db) => db.mail.groupBy({ by: ['status', 'withheldBecause'], _count: true }))
    expect(await states(held)).toEqual([{ status: 'Withheld', withheldBecause: 'Restored', _count: 6 }])
    expect((await staff(['mails', 'retry', '--yes'], held)).stdout).toContain('6 mails are due now')
    const { env: sending } = await anOpenDatabase()
    await staff(['restore', file, '--moved'], sending)
    expect(await states(sending)).toEqual([{ status: 'Pending', withheldBecause: null, _count: 6 }])
  })

  it('is restored into an empty database only', async () => {
    const before = await everything(site.env)
    expect(await staff(['restore', whole], site.env)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^The database has rows in \w+: no row was restored\. Restore into an empty one\.\n$/,
      ),
    })
    expect(await everything(site.env)).toEqual(before)
  })
})

describe('a file that is not a whole backup restores no row, and the good one can be restored after it', () => {
  const ESCAPE = '\u001b]0;owned\u0007'
  const NOTHING = [{ forms: null, mails: null, subscribers: null }]
  let empty: TestDatabase
  beforeAll(async () => {
    empty = await openTestDatabase()
    return empty.close
  })

  it.each<[string, (text: string) => string, RegExp]>([
    ['cut within a row', (text) => text.slice(0, text.indexOf('Asha')), /is damaged or no backup/],
    ['cut after a table', (text) => text.slice(0, text.indexOf('COPY "Quvera_Subscriber"')), /Its end is missing/],
    ['without its last line', (text) => text.replace(/SELECT setval[^\n]*\n$/, ''), /Its end is missing/],
    [
      'without an enquiry',
      (text) => text.replace(/\n[^\n]*Asha Verma[^\n]*\n/, '\n'),
      /its rows do not fit the tables/,
    ],
    ['with a value of another version', (text) => text.replace('\tNew\t', '\tNewer\t'), /its rows do not fit/],
    ['with another statement', (text) => `${text}DROP TABLE "Quvera_Form";\n`, /does not expect/],
    ['with a table of another program', (text) => text.replace('"Quvera_Mail" (', '"theirs" ('), /does not expect/],
    ['with a column of another version', (text) => text.replace('("Id"', '("City"'), /does not expect/],
    ['with a line that never ends', (text) => text + 'a'.repeat(3 * 2 ** 20), /is longer than/],
    ['something else', () => `${ESCAPE}\n`, /It does not begin as a backup/],
    ['a time with escape sequences', (text) => text.replace(/of 2\S+/, `of ${ESCAPE}`), /does not begin as a backup/],
    ['of a newer version', (text) => text.replace('-- migration ', '-- migration 2999_x\n$&'), /by a newer version/],
  ])('%s', async (_what, change, message) => {
    const refused = await staff(['restore', await edited(change)], empty.env)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(message)
    expect(refused.stderr).toMatch(/^[\x20-\x7e]+\n$/)
    expect(await everything(empty.env)).toEqual(NOTHING)
  })

  it('of which bytes are missing or changed', async () => {
    const file = await aPath()
    const bytes = await readFile(whole)
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(changed.length - 6) ^ 1, changed.length - 6) // gzip's checksum
    for (const content of [bytes.subarray(0, bytes.length / 2), bytes.subarray(0, -1), changed, Buffer.alloc(0)]) {
      await writeFile(file, content)
      const refused = await staff(['restore', file], empty.env)
      expect(refused.stderr).toMatch(/^\S+ is damaged or no backup: [^\n]*No row was restored\.\n$/)
      expect(await everything(empty.env)).toEqual(NOTHING)
    }
    expect(await staff(['restore', whole], empty.env)).toMatchObject({ code: 0 })
  })

  it('makes no database, also at standard input', async () => {
    const dataDir = join(await aFolder('quvera-restored-'), 'data')
    expect(await staff(['restore', '-'], { DATA_DIR: dataDir })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^standard input is damaged or no backup: .* No row was restored\.\n$/),
    })
    expect(existsSync(dataDir)).toBe(false)
  })
})

describe('a backup that is interrupted', () => {
  const ROWS = 20_000 // more than pipes hold: the backup goes on only as it is read
  let full: TestDatabase
  beforeAll(async () => {
    full = await openTestDatabase()
    await storeEnquiries(full.db, ROWS)
    await full.db.$executeRaw`ALTER TABLE "Quvera_Form" DISABLE TRIGGER "keep_history"`
    await full.db.$executeRaw`UPDATE "Quvera_Form" SET "Note" = md5("Id"::text) || md5("Reference")`
    return full.close
  })

  /** One to standard output that has begun to copy rows, and waits for somebody to read on. */
  async function aStalledBackup() {
    const backup = startStaff(['backup', '-'], full.env)
    atEnd(() => backup.process.kill('SIGKILL'))
    await once(backup.process.stdout, 'readable')
    await eventually(async () => {
      const copying = await full.db.$queryRaw`
        SELECT FROM pg_stat_activity WHERE query LIKE 'COPY%' AND wait_event = 'ClientWrite' AND datname = current_database()`
      expect(copying).toHaveLength(1)
    })
    return backup
  }

  it('by its reader says so and exits 1', async () => {
    const line = 'set -o pipefail; node dist/server/staff.js backup - | head -c 100 >/dev/null; echo "$?"'
    const { stdout, stderr } = await runShell(line, full.env)
    expect(stdout).toBe('1\n')
    expect(stderr).toMatch(/^The backup was not read to its end[^\n]*\n$/)
  })

  it('by a signal says so and exits 1', async () => {
    const backup = await aStalledBackup()
    backup.process.kill('SIGTERM')
    expect(await backup.exited).toBe(1)
    expect(backup.stderr()).toMatch(/^The backup was ended by SIGTERM[^\n]*\n$/)
  })

  it('by the database says so and exits 1', async () => {
    const backup = await aStalledBackup()
    await full.db.$queryRaw`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND datname = current_database()`
    const [, code] = await Promise.all([buffer(backup.process.stdout), backup.exited])
    expect(code).toBe(1)
    expect(backup.stderr()).toMatch(/^The connection to the database was lost: [^\n]*\n$/)
  })

  it('by nobody holds the rows of its begin, while orders go on', async () => {
    const backup = await aStalledBackup()
    await storeEnquiry(full.db)
    const [bytes, code] = await Promise.all([buffer(backup.process.stdout), backup.exited])
    expect(code).toBe(0)
    expect(backup.stderr()).toContain(`Wrote ${(3 * ROWS).toLocaleString('en-IN')} rows`)
    expect(gunzipSync(bytes).toString()).toContain('COPY "Quvera_Mail"')
  })
})

it('output that cannot be written is told in a sentence and by exit code 1', async () => {
  for (const command of ['export', 'export --json', '--help', 'backup -']) {
    const { stdout, stderr } = await runShell(`node dist/server/staff.js ${command} > /dev/full; echo "$?"`, site.env)
    expect(stdout, command).toBe('1\n')
    expect(stderr).toMatch(/^The output cannot be written: [^\n]*no space left[^\n]*\n$/)
  }
})
