import { lstat, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, call, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { readBackup, sign } from '../support/backup-file.ts'
import { eventually } from '../support/eventually.ts'
import { aDatabase, anOpenDatabase } from '../support/fixtures.ts'
import { openTestDatabase, type TestDatabase } from '../support/open-test-database.ts'
import { staff } from '../support/staff-command.ts'
import { onDatabase, storeEnquiry } from '../support/stored-enquiry.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const AWKWARD = 'Zoë "O’Hara" \\ back\u2028line 🌿'

async function aPath(): Promise<string> {
  return join(await aFolder('quvera-backup-'), 'backup.gz')
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

/** A backup made beside the site. */
async function aBackup(site: TestApp): Promise<string> {
  const file = await aPath()
  const made = await staff(['backup', file], site.env)
  expect(made).toMatchObject({ code: 0, stdout: '' })
  expect(made.stderr).toBe(`Wrote 8 rows to ${file}.\n`)
  return file
}

let site: TestApp
let empty: TestDatabase
beforeAll(async () => {
  site = await aSite()
  await eventually(async () => expect(await site.db.mail.count({ where: { status: 'Sent' } })).toBe(5))
  empty = await openTestDatabase()
})
afterAll(async () => {
  await site.close()
  await empty.close()
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

/** The lines of a backup as anybody could change them. */
async function edited(change: (text: string) => string): Promise<string> {
  const [file, target] = [await aBackup(site), await aPath()]
  await writeFile(target, gzipSync(change(gunzipSync(await readFile(file)).toString())))
  return target
}

describe('a backup', () => {
  it('made while the site runs brings everything back in another database', async () => {
    const file = await aBackup(site)
    const target = await aDatabase()
    const restored = await staff(['restore', file, '--mails'], target)
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(restored.stdout).toMatch(/^Restored 8 rows of the backup made at \S+\.\n$/)
    const again = await aPath()
    expect((await staff(['backup', again], site.env)).code).toBe(0)
    const rows = (path: string) => readFile(path).then(readBackup)
    const copy = await aPath()
    expect((await staff(['backup', copy], target)).code).toBe(0)
    expect((await rows(copy)).sort()).toEqual((await rows(again)).sort())
  })

  it('leaves out tables of other programs', async () => {
    const [{ db, env: from }, { env: to }, file] = [await anOpenDatabase(), await anOpenDatabase(), await aPath()]
    await storeEnquiry(db)
    await db.$executeRawUnsafe('CREATE TABLE "of another program" AS SELECT 1 AS "a number"')
    expect(await staff(['backup', file], from)).toMatchObject({ code: 0 })
    const restored = await staff(['restore', file], to)
    await db.$executeRawUnsafe('DROP TABLE "of another program"')
    expect(restored).toMatchObject({ code: 0, stderr: '' })
  })

  it('brings every text, number and time back as it was', async () => {
    const [{ env: from }, { env: to }, file] = [await anOpenDatabase(), await anOpenDatabase(), await aPath()]
    const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 100 }), 30).map((text) => text.replaceAll('\0', ''))
    const strange = ['', '\\', '"', "'", '{}', 'null', '\n\r\t\u0001\u007f', '\ufeff', '@{"end":true}']
    await onDatabase(from, async (db) => {
      for (const [index, note] of [...strange, ...texts].entries())
        await storeEnquiry(db, {
          note,
          quantity: BigInt(Number.MAX_SAFE_INTEGER - index),
          receivedAt: new Date(index * 1e9 + index),
          suspectedSpam: index % 2 === 0,
        })
    })
    expect(await staff(['backup', file], from)).toMatchObject({ code: 0 })
    expect(await staff(['restore', file, '--mails'], to)).toMatchObject({ code: 0, stderr: '' })
    expect(await everything(to)).toEqual(await everything(from))
  })

  it('is readable by this user only, and is never overwritten', async () => {
    const file = await aBackup(site)
    expect((await lstat(file)).mode & 0o777).toBe(0o600)
    const before = await readFile(file)
    const second = await staff(['backup', file], site.env)
    expect(second).toMatchObject({
      code: 1,
      stderr: `The backup cannot be written: EEXIST: file already exists, open '${file}'\n`,
    })
    expect(await readFile(file)).toEqual(before)
  })

  it('of an empty database is refused and leaves no file, except with --allow-empty', async () => {
    const [env, file] = [empty.env, await aPath()]
    for (const to of [file, '-']) {
      const refused = await staff(['backup', to], env)
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).toMatch(
        /^There is nothing to back up: the database holds no rows\.[^\n]* --allow-empty [^\n]*\n$/,
      )
    }
    await expect(lstat(file)).rejects.toThrow('ENOENT')
    expect(await staff(['backup', file, '--allow-empty'], env)).toMatchObject({ code: 0 })
    expect(readBackup(await readFile(file))).toEqual([])
  })

  it('is restored with its pending mails withheld, except with --mails', async () => {
    const waiting = await aSite(false)
    atEnd(waiting.close)
    const file = await aBackup(waiting)
    const { env: held } = await anOpenDatabase()
    expect((await staff(['restore', file], held)).stdout).toMatch(/Withheld: 5 mails that were pending in the backup/)
    const states = (env: Record<string, string>) =>
      onDatabase(env, (db) => db.mail.groupBy({ by: ['status', 'lastError'], _count: true }))
    expect(await states(held)).toEqual([
      { status: 'Withheld', lastError: 'restored from a backup: may have been sent since', _count: 5 },
    ])
    expect((await staff(['mails'], held)).stdout).toContain('Withheld by a restore (5)')
    await staff(['mails', 'retry', '--yes'], held)
    expect((await states(held))[0]?.status).toBe('Withheld')
    expect((await staff(['mails', 'retry', '--yes', '--restored'], held)).stdout).toContain('5 mails are due now')
    expect(await states(held)).toEqual([{ status: 'Pending', lastError: null, _count: 5 }])
    const { env: sending } = await anOpenDatabase()
    await staff(['restore', file, '--mails'], sending)
    expect(await states(sending)).toEqual([{ status: 'Pending', lastError: null, _count: 5 }])
  })

  it('is restored with its sequences, so that new rows get new numbers', async () => {
    const file = await aBackup(site)
    const { env } = await anOpenDatabase()
    await staff(['restore', file], env)
    const [before, after] = await onDatabase(env, async (db) => {
      const last = await db.mail.aggregate({ _max: { id: true } })
      await db.$executeRaw`DELETE FROM "Quvera_Mail" WHERE "Kind" = 'Staff'`
      const enquiry = await db.enquiry.findFirstOrThrow()
      const mail = await db.mail.create({ data: { enquiryId: enquiry.id, kind: 'Notice' } })
      return [last._max.id ?? 0n, mail.id]
    })
    expect(after).toBe(before + 1n)
  })

  it('is restored into the database that it was made of, which somebody emptied by hand', async () => {
    const [{ env }, file] = [await anOpenDatabase(), await aPath()]
    await onDatabase(env, (db) => storeEnquiry(db))
    expect(await staff(['backup', file], env)).toMatchObject({ code: 0 })
    await onDatabase(env, (db) => db.$executeRawUnsafe('TRUNCATE "Quvera_Form" CASCADE'))
    expect(await staff(['restore', file], env)).toMatchObject({ code: 0, stderr: '' })
    const counts = await onDatabase(env, (db) => Promise.all([db.enquiry.count(), db.access.count()]))
    expect(counts).toEqual([1, 2])
  })

  it('is restored into an empty database only, and completely or not at all', async () => {
    const file = await aBackup(site)
    const before = await everything(site.env)
    const full = await staff(['restore', file], site.env)
    expect(full).toMatchObject({ code: 1, stdout: '' })
    expect(full.stderr).toMatch(/^The database has rows in \w+: no row was restored\. Restore into an empty one\.\n$/)
    expect(await everything(site.env)).toEqual(before)
  })

  it.each<[string, (text: string) => string, RegExp]>([
    ['cut short', (text) => text.slice(0, -100), /is damaged or no backup/],
    ['changed', (text) => text.replace('Asha', 'Esha'), /is damaged or no backup/],
    [
      'without an enquiry',
      (text) => sign(text.replace(/\n\{"Id":[^\n]*Asha[^\n]*\n/, '\n')),
      /is damaged: its rows do not fit/,
    ],
    ['without a row', (text) => text.replace(/\n\{"Email":"a@shop\.example"[^\n]*\n/, '\n'), /is damaged or no backup/],
    ['something else', () => 'words\n', /is damaged or no backup: It does not begin as a backup/],
    [
      'of a newer version',
      (text) => text.replace(/"migrations":\[/, '$&{"name":"2999_x","checksum":""},'),
      /newer version of the site \(migration 2999_x\)/,
    ],
    [
      'of a newer format',
      (text) => text.replace('"version":1', '"version":2'),
      /newer version of the site \(format 2\)/,
    ],
  ])('that is %s is refused, and nothing is stored', async (_what, change, message) => {
    const refused = await staff(['restore', await edited(change)], empty.env)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(message)
    expect(refused.stderr).toMatch(/^[^\n]*(No row was restored|nothing was changed)\.\n$/)
    expect(await everything(empty.env)).toEqual([{ forms: null, mails: null, subscribers: null }])
  })

  it('is made beside a migration that did not finish, of which it holds nothing', async () => {
    await site.db.$executeRaw`INSERT INTO _prisma_migrations (id, checksum, migration_name)
      VALUES ('unfinished', 'none', '2999_unfinished')`
    const file = await aBackup(site)
    expect(gunzipSync(await readFile(file)).toString()).not.toContain('2999_unfinished')
    await site.db.$executeRaw`DELETE FROM _prisma_migrations WHERE id = 'unfinished'`
  })

  it('of half its bytes is refused', async () => {
    const file = await edited((text) => text)
    const bytes = await readFile(file)
    await writeFile(file, bytes.subarray(0, bytes.length / 2))
    const refused = await staff(['restore', file], empty.env)
    expect(refused.stderr).toMatch(/^\S+ is damaged or no backup: [^\n]*No row was restored\.\n$/)
  })

  it('that is not there is refused by name', async () => {
    const refused = await staff(['restore', '/nowhere/backup.gz'], empty.env)
    expect(refused.stderr).toMatch(/^\/nowhere\/backup\.gz cannot be read: ENOENT[^\n]*\n$/)
  })

  it('has every column of every table', async () => {
    const file = await aBackup(site)
    const columns = await onDatabase(
      site.env,
      (db) => db.$queryRaw<{ name: string }[]>`
        SELECT table_name || '.' || column_name AS name FROM information_schema.columns
        JOIN information_schema.tables USING (table_schema, table_name)
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT IN ('_prisma_migrations', 'Quvera_Lease')`,
    )
    const marks = gunzipSync(await readFile(file))
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('@{"table"'))
    const written = marks.flatMap((line) => {
      const { table, columns: names } = JSON.parse(line.slice(1))
      return names.map((name: string) => `${table}.${name}`)
    })
    expect(written.sort()).toEqual(columns.map(({ name }) => name).sort())
  })
})
