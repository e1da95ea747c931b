// With BACKUP_DIR a site makes a backup a day by itself, and keeps the newest 14, and more where the database is new.
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { openForSite } from '../../../server/database/open.ts'
import { findBackupProblem, readBackupAge, startDailyBackup } from '../../../server/operations/daily-backup.ts'
import { DAY_MS, formatIndianDay } from '../../../shared/indian-time.ts'
import { aClient } from '../../support/a-client.ts'
import { aFolder } from '../../support/a-folder.ts'
import { atEnd } from '../../support/at-end.ts'
import { eventually } from '../../support/eventually.ts'
import { aServer, theApp } from '../../support/fixtures.ts'
import { freePort } from '../../support/server-process.ts'
import { staff } from '../../support/staff-command.ts'
import { onDatabase, storeEnquiry } from '../../support/stored-enquiry.ts'
import { migrations } from '../../support/test-database.ts'

const app = await theApp({ mails: false })
const today = () => `quvera-${formatIndianDay(new Date())}.sql.gz`

/** Collects what is logged. */
function aLog() {
  const lines: { level: string; message: string }[] = []
  const write = (level: string) => (fields: object | string, message?: string) =>
    void lines.push({ level, message: message ?? String(fields) })
  const log = { info: write('info'), error: write('error') } as unknown as Parameters<typeof startDailyBackup>[2]
  return { log, lines }
}

it('a site with a database of its own makes the backup of the day when it starts', async () => {
  const [DATA_DIR, BACKUP_DIR] = [await aFolder('quvera-daily-'), await aFolder('quvera-daily-')]
  expect(await staff(['migrate'], { DATA_DIR })).toMatchObject({ code: 0 })
  await onDatabase({ DATA_DIR }, async (db) => {
    await storeEnquiry(db, { name: 'Asha Verma' })
  })
  const METRICS_PORT = String(await freePort())
  await aServer({ DATA_DIR, BACKUP_DIR, METRICS_PORT })
  await eventually(async () => expect(await readdir(BACKUP_DIR)).toEqual([today()]), 30_000)
  expect(gunzipSync(await readFile(join(BACKUP_DIR, today()))).toString()).toContain('Asha Verma')
  const metrics = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()
  expect(Number(/^quvera_backup_age_seconds (\S+)$/m.exec(metrics)?.[1])).toBeLessThan(300)
})

it('a backup may take longer than a statement of the site may', async () => {
  const site = await openForSite({ url: app.env.DATABASE_URL, dataDir: '', migrations, queryTimeoutMs: 300 })
  atEnd(site.close)
  const folder = await aFolder('quvera-daily-')
  const blocker = await aClient(app.env)
  await blocker.query('BEGIN; LOCK TABLE "Quvera_Mail" IN ACCESS EXCLUSIVE MODE')
  const { log, lines } = aLog()
  atEnd(startDailyBackup(site, folder, log))
  await eventually(async () => expect(await readdir(folder)).toEqual([`${today()}.unfinished`]))
  await eventually(async () => {
    const waiting = await app.db.$queryRaw`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND now() - query_start > interval '500 ms'`
    expect(waiting).toHaveLength(1)
  })
  await blocker.query('COMMIT')
  await eventually(() => expect(lines).toEqual([{ level: 'info', message: `wrote the backup ${today()}` }]))
})

it('of several processes one makes it, and the newest 14 are kept beside the files of others', async () => {
  const folder = await aFolder('quvera-daily-')
  const old = Array.from({ length: 20 }, (_, day) => `quvera-2026-01-${String(day + 1).padStart(2, '0')}.sql.gz`)
  const theirs = ['quvera-2026.sql.gz', 'notes.txt', 'other-2026-01-01.sql.gz']
  for (const name of [...old, ...theirs]) await writeFile(join(folder, name), '')
  await storeEnquiry(app.db, { receivedAt: new Date('2026-01-01') }) // the database is as old as they are
  const { log, lines } = aLog()
  for (let process = 0; process < 3; process++) atEnd(startDailyBackup(app, folder, log))
  await eventually(async () => expect(await readdir(folder)).toHaveLength(14 + theirs.length))
  expect((await readdir(folder)).sort()).toEqual([...theirs, ...old.slice(-13), today()].sort())
  await eventually(() => expect(lines).toEqual([{ level: 'info', message: `wrote the backup ${today()}` }]))
})

it('a folder that is missing is told once, in words, and gets its backup within a minute after it was made', async () => {
  const folder = join(await aFolder('quvera-daily-'), 'missing')
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  atEnd(() => vi.useRealTimers())
  const { log, lines } = aLog()
  atEnd(startDailyBackup(app, folder, log))
  const isMissing = `the backup of today could not be written to BACKUP_DIR ${folder}: there is no such folder. Make it for the user of the site`
  await eventually(() => expect(lines).toEqual([{ level: 'error', message: isMissing }]))
  vi.advanceTimersByTime(60_000)
  await mkdir(folder)
  vi.advanceTimersByTime(60_000)
  const wrote = { level: 'info', message: `wrote the backup ${today()}` }
  await eventually(() => expect(lines).toEqual([{ level: 'error', message: isMissing }, wrote]))
})

it('another failure is one error in the log, and leaves the good files alone', async () => {
  const folder = await aFolder('quvera-daily-')
  const good = await aBackup(folder, -1)
  const inTheWay = join(folder, today()) // dated ahead, so that it does not pass for the backup of today
  await mkdir(inTheWay)
  await utimes(inTheWay, new Date(Date.now() + DAY_MS), new Date(Date.now() + DAY_MS))
  const { log, lines } = aLog()
  atEnd(startDailyBackup(app, folder, log))
  const message = `the backup of today could not be written to BACKUP_DIR ${folder}`
  await eventually(() => expect(lines).toEqual([{ level: 'error', message }]))
  expect((await readdir(folder)).sort()).toEqual([good, today()])
})

/** Writes a file as if it were the backup of a day, so many days from now, at the time of its writing. */
async function aBackup(folder: string, day: number, written = day) {
  const at = (days: number) => new Date(Date.now() + days * DAY_MS)
  const name = `quvera-${formatIndianDay(at(day))}.sql.gz`
  await writeFile(join(folder, name), '')
  await utimes(join(folder, name), at(written), at(written))
  return name
}

it('the first backup can be expected in a new folder only, however often the site is started', async () => {
  const folder = await aFolder('quvera-daily-')
  expect(await findBackupProblem(folder)).toBeUndefined()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
  atEnd(() => vi.useRealTimers())
  expect(await findBackupProblem(folder)).toBe('There is no daily backup in BACKUP_DIR.')
  expect(await findBackupProblem(join(folder, 'missing'))).toBe(
    'There is no daily backup in BACKUP_DIR: there is no such folder. Make it for the user of the site.',
  )
})

it('what was dated ahead does not hide that none was made, nor does an old one that was copied', async () => {
  const folder = await aFolder('quvera-daily-')
  await aBackup(folder, -4, 0)
  await aBackup(folder, 1)
  await aBackup(folder, 0, 0.5)
  expect(await findBackupProblem(folder)).toBe('The newest daily backup in BACKUP_DIR is 3 days old.')
  expect(await readBackupAge(folder)).toBeGreaterThan(3 * 86_400)
})

it('after a clock that was ahead today’s backup is made anew, and none of the 14 gives way to those of days to come', async () => {
  const folder = await aFolder('quvera-daily-')
  const past: string[] = []
  for (let day = -13; day < 0; day++) past.push(await aBackup(folder, day))
  const ahead = [await aBackup(folder, 1), await aBackup(folder, 2)]
  await aBackup(folder, 0, 0.5)
  await writeFile(join(folder, `${today()}.unfinished`), '') // of a process that was killed meanwhile
  const tomorrow = new Date(Date.now() + DAY_MS)
  await utimes(join(folder, `${today()}.unfinished`), tomorrow, tomorrow)
  const { log, lines } = aLog()
  atEnd(startDailyBackup(app, folder, log))
  await eventually(() => expect(lines).toEqual([{ level: 'info', message: `wrote the backup ${today()}` }]))
  expect((await readdir(folder)).sort()).toEqual([...past, today(), ...ahead])
  expect(await findBackupProblem(folder)).toBeUndefined()
})

it('of a database that is younger than the backups none of these gives way', async () => {
  const folder = await aFolder('quvera-daily-')
  const past: string[] = []
  for (let day = -16; day < 0; day++) past.push(await aBackup(folder, day))
  const { log, lines } = aLog()
  atEnd(startDailyBackup(app, folder, log))
  await eventually(() => expect(lines).toEqual([{ level: 'info', message: `wrote the backup ${today()}` }]))
  expect((await readdir(folder)).sort()).toEqual([...past, today()])
})
