// A backup brings back every row and every value, or restores none.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { lstat, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { openBackup } from '../../../server/database/restore.ts'
import { aFolder } from '../../support/a-folder.ts'
import { anOrder, call, submit } from '../../support/an-order.ts'
import { atEnd } from '../../support/at-end.ts'
import { eventually } from '../../support/eventually.ts'
import { anOpenDatabase } from '../../support/fixtures.ts'
import { openTestDatabase, type TestDatabase } from '../../support/open-test-database.ts'
import { createFolder } from '../../support/scratch.ts'
import { runShell, staff, startStaff } from '../../support/staff-command.ts'
import { onDatabase, storeEnquiries, storeEnquiry } from '../../support/stored-enquiry.ts'
import { startTestApp, type TestApp } from '../../support/test-app.ts'

const AWKWARD = 'Zoë "O’Hara" \\ \\N \\. back\u2028line\ttab\r\nनमस्ते 🌿'
const strange = ['', '\\', '\\N', '\\.', '"', "'", '{}', 'null', '\n\r\t\u0001\u007f', '\ufeff', AWKWARD]
const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 100 }), 30).map((text) => text.replaceAll('\0', ''))

let site: TestApp
/** A backup of it. */
let whole = ''
beforeAll(async () => {
  site = await startTestApp()
  for (const name of ['Asha Verma', 'Second'])
    await submit(site.url, anOrder({ name, email: `${crypto.randomUUID()}@shop.example` }))
  await site.db.enquiry.updateMany({ where: { name: 'Second' }, data: { status: 'Contacted' } })
  await call(site.url, 'subscription.subscribe', { email: 'a@shop.example' })
  await eventually(async () => expect(await site.db.mail.count({ where: { status: 'Sent' } })).toBe(5))
  for (const [index, note] of [...strange, ...texts].entries())
    await storeEnquiry(site.db, {
      history: { create: { what: 'Note', text: note } },
      quantity: BigInt(Number.MAX_SAFE_INTEGER - index),
      receivedAt: new Date(index * 1e9 + index),
      suspectedSpam: index % 2 === 0,
    })
  const folder = await createFolder('quvera-backup-')
  whole = join(folder.path, 'backup.sql.gz')
  expect(await staff(['backup', whole], site.env)).toMatchObject({ code: 0, stdout: '' })
  return async () => {
    await site.close()
    await folder.remove()
  }
})

const aPath = async () => join(await aFolder('quvera-backup-'), 'backup.sql.gz')

/** All rows of all tables, as the database writes them. */
function everything(env: Record<string, string>): Promise<unknown> {
  return onDatabase(
    env,
    (db) => db.$queryRaw`
      SELECT (SELECT jsonb_agg(to_jsonb(t) ORDER BY "Id") FROM "Quvera_Form" t) AS forms,
        (SELECT jsonb_agg(to_jsonb(t) ORDER BY "Id") FROM "Quvera_Mail" t) AS mails,
        (SELECT jsonb_agg(to_jsonb(t) ORDER BY "Id") FROM "Quvera_History" t) AS history,
        (SELECT jsonb_agg(to_jsonb(t)) FROM "Quvera_Subscriber" t) AS subscribers`,
  )
}

describe('a backup', () => {
  it('made while the site runs brings every text, number and time back in another database, beside its access log', async () => {
    const { db, env } = await anOpenDatabase()
    await staff(['export'], env)
    const restored = await staff(['restore', whole, '--moved'], env)
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(restored.stdout).toMatch(/^Restored 172 rows of the backup made at \S+\.\n$/)
    expect(await everything(env)).toEqual(await everything(site.env))
    const access = await db.access.findMany({ orderBy: { at: 'asc' } })
    expect(access.map(({ command }) => command)).toEqual(['backup', 'export', 'restore'])
    const last = await db.mail.aggregate({ _max: { id: true } })
    const added = await db.mail.create({ data: { kind: 'SignIn', to: 'a@b.in', status: 'Failed', dueAt: null } })
    expect(added.id).toBe((last._max.id ?? 0n) + 1n) // the sequences, too
  })

  it('is plain SQL for the tables of the same migrations, in an order that foreign keys allow', async () => {
    const text = gunzipSync(await readFile(whole)).toString()
    expect(text).toMatch(/^-- Quvera backup of \d{4}-\d\d-\d\dT[\d:.]+Z\n-- migration \d+_tables\n/)
    const blocks = [...text.matchAll(/^COPY "(\w+)" \(("\w+"(?:, "\w+")*)\) FROM stdin;\n(?:[^\n]*\n)*?\\\.\n/gm)]
    const columns = await site.db.$queryRaw<{ name: string }[]>`
      SELECT table_name || '.' || column_name AS name FROM information_schema.columns
      JOIN information_schema.tables USING (table_schema, table_name)
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND is_generated = 'NEVER' AND table_name NOT IN ('_prisma_migrations', 'Quvera_Lease', 'Quvera_Session')`
    const written = blocks.flatMap(([, table, names = '']) =>
      names.split(', ').map((name) => `${table}.${name.slice(1, -1)}`),
    )
    expect(written.sort()).toEqual(columns.map(({ name }) => name).sort())
    const rest = blocks.reduce((left, [block]) => left.replace(block, ''), text)
    expect(rest.split('\n').filter((line) => line && !/^(-- |SELECT setval\()/.test(line))).toEqual([])
  })

  it('is readable by this user only, and is never overwritten', async () => {
    expect((await lstat(whole)).mode & 0o777).toBe(0o600)
    const before = await readFile(whole)
    const stderr = `The backup cannot be written: ${whole} is there already, and stays as it is. Name another file.\n`
    expect(await staff(['backup', whole], site.env)).toMatchObject({ code: 1, stderr })
    expect(await readFile(whole)).toEqual(before)
  })

  it('whose file is misnamed is refused in words, and so is the restore of such a file', async () => {
    const folder = await aFolder('quvera-backup-')
    const lost = join(folder, 'lost')
    const says = async (...args: string[]) => (await staff(args, site.env)).stderr
    expect(await says('backup', join(lost, 'a.gz'))).toBe(
      `The backup cannot be written: there is no folder ${lost}. Make it, or name a file elsewhere.\n`,
    )
    expect(await says('backup', folder)).toBe(
      `The backup cannot be written: ${folder} is a folder. Name a file in it.\n`,
    )
    expect(await says('restore', lost)).toBe(`There is no file ${lost}. No row was restored.\n`)
    expect(await says('restore', folder)).toBe(`${folder} is a folder. Name a file in it. No row was restored.\n`)
  })

  it('which this user may not read is refused with the way to pass it', async () => {
    const denied = new Readable().destroy(Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'open' }))
    await expect(openBackup(denied, '/root/a.gz')).rejects.toThrow(
      'This user may not read /root/a.gz. As its owner put `- < FILE` in place of its name. No row was restored.',
    )
  })

  it('is restored with its pending mails and posts withheld, except with --moved', async () => {
    const from = await anOpenDatabase()
    const reference = await storeEnquiry(from.db, {}, { Notice: 'Pending', Acknowledgement: 'Pending' })
    await from.db.mail.create({ data: { kind: 'Post', enquiry: { connect: { reference } } } })
    const file = await aPath()
    await staff(['backup', file], from.env)
    for (const [option, status, withheldBecause] of [
      ['--', 'Withheld', 'Restored'],
      ['--moved', 'Pending', null],
    ] as const) {
      const { db, env } = await anOpenDatabase()
      const { stdout } = await staff(['restore', option, file], env)
      expect(stdout.includes('Withheld: 3 mails that were pending in the backup')).toBe(status === 'Withheld')
      expect(stdout.includes('What was erased since then is here again: the log names')).toBe(status === 'Withheld')
      expect(await db.mail.findMany()).toMatchObject(Array(3).fill({ status, withheldBecause }))
      const { stdout: retried } = await staff(['mails', 'retry', '--yes'], env)
      expect(retried).toContain(status === 'Withheld' ? '3 mails are due now' : 'No mail can be sent once more')
    }
  })

  it('is restored into an empty database only', async () => {
    const before = await everything(site.env)
    const stderr =
      /^The database has rows in \w+: no row was restored\. Restore into an empty one: a DATA_DIR without [^\n]+\n$/
    const refused = await staff(['restore', whole], site.env)
    expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(stderr) })
    expect(await everything(site.env)).toEqual(before)
  })
})

describe('a file that is not a whole backup restores no row, and the good one can be restored after it', () => {
  const ESCAPE = '\u001b]0;owned\u0007'
  const NOTHING = [{ forms: null, mails: null, history: null, subscribers: null }]
  let empty: TestDatabase
  beforeAll(async () => {
    empty = await openTestDatabase()
    return empty.close
  })

  /** Restores what is not a whole backup. @returns what the command says */
  async function refusalOf(content: Uint8Array) {
    const file = await aPath()
    await writeFile(file, content)
    const { code, stdout, stderr } = await staff(['restore', file], empty.env)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^[\x20-\x7e]+\n$/)
    expect(await everything(empty.env)).toEqual(NOTHING)
    return stderr
  }

  it.each<[string, (text: string) => string, RegExp]>([
    ['cut within a row', (text) => text.slice(0, text.indexOf('Asha')), /is damaged or no backup/],
    ['cut after a table', (text) => text.slice(0, text.indexOf('COPY "Quvera_Subscriber"')), /Its end is missing/],
    ['without an enquiry', (text) => text.replace(/\n[^\n]*Asha Verma[^\n]*\n/, '\n'), /its rows do not fit/],
    ['with a value of another version', (text) => text.replace('\tNew\t', '\tNewer\t'), /its rows do not fit/],
    ['with another statement', (text) => `${text}DROP TABLE "Quvera_Form";\n`, /does not expect/],
    ['with a table of another program', (text) => text.replace('"Quvera_Mail" (', '"theirs" ('), /does not expect/],
    ['with a column of another version', (text) => text.replace('("Id"', '("City"'), /does not expect/],
    ['with a line that never ends', (text) => text + 'a'.repeat(3 * 2 ** 20), /is longer than/],
    ['something else', () => `${ESCAPE}\n`, /It does not begin as a backup/],
    ['a time with escape sequences', (text) => text.replace(/of 2\S+/, `of ${ESCAPE}`), /does not begin as a backup/],
    [
      'of a newer version',
      (text) => text.replace('-- migration ', '-- migration 2999_x\n$&'),
      /has tables of a newer version/,
    ],
  ])('%s', async (_what, change, message) => {
    const text = gunzipSync(await readFile(whole)).toString()
    expect(await refusalOf(gzipSync(change(text)))).toMatch(message)
  })

  it('of which bytes are missing or changed', async () => {
    const bytes = await readFile(whole)
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(changed.length - 6) ^ 1, changed.length - 6) // gzip's checksum
    for (const content of [bytes.subarray(0, bytes.length / 2), bytes.subarray(0, -1), changed, Buffer.alloc(0)])
      expect(await refusalOf(content)).toMatch(/^\S+ is damaged or no backup: [^\n]*No row was restored\.\n$/)
    expect(await staff(['restore', whole], empty.env)).toMatchObject({ code: 0 })
  })

  it('makes no database, also at standard input', async () => {
    const dataDir = join(await aFolder('quvera-restored-'), 'data')
    const { code, stderr } = await staff(['restore', '-'], { DATA_DIR: dataDir })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^standard input is damaged or no backup: .* No row was restored\.\n$/)
    expect(existsSync(dataDir)).toBe(false)
  })
})

describe('a backup that is interrupted', () => {
  const ROWS = 20_000 // more than pipes hold: the backup goes on only as it is read
  let full: TestDatabase
  beforeAll(async () => {
    full = await openTestDatabase()
    await storeEnquiries(full.db, ROWS)
    await full.db
      .$executeRaw`INSERT INTO "Quvera_History" ("EnquiryId", "What", "Text") SELECT "Id", 'Note', md5("Id"::text) || md5("Reference") FROM "Quvera_Form"`
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
    expect([stdout, stderr]).toEqual(['1\n', expect.stringMatching(/^The backup was not read to its end[^\n]*\n$/)])
  })

  it.each<[what: string, says: RegExp, end: (backup: ReturnType<typeof startStaff>) => unknown]>([
    ['a signal', /^The backup was ended by SIGTERM[^\n]*\n$/, (backup) => backup.process.kill('SIGTERM')],
    [
      'the database',
      /^The connection to the database was lost: [^\n]*\n$/,
      () => full.db.$queryRaw`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND datname = current_database()`,
    ],
  ])('by %s says so and exits 1', async (_what, says, end) => {
    const backup = await aStalledBackup()
    await end(backup)
    backup.process.stdout.resume()
    expect([await backup.exited, backup.stderr()]).toEqual([1, expect.stringMatching(says)])
  })

  it('by nobody holds the rows of its begin, while orders go on', async () => {
    const backup = await aStalledBackup()
    await storeEnquiry(full.db)
    const [bytes, code] = await Promise.all([buffer(backup.process.stdout), backup.exited])
    expect(code).toBe(0)
    expect(backup.stderr()).toContain(`Wrote ${(4 * ROWS).toLocaleString('en-IN')} rows`)
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
