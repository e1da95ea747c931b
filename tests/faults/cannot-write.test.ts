import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../server/open-database.ts'
import { submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { readBackup } from '../support/backup-file.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { createFaultFixtures, report } from '../support/fault-fixtures.ts'
import { aUniqueOrder, sendOrders } from '../support/load.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { staff } from '../support/staff-command.ts'
import { onDatabase } from '../support/stored-enquiry.ts'
import { administer, migrations } from '../support/test-database.ts'

const { setUp } = createFaultFixtures()
const run = promisify(execFile)

const ready = async ({ url }: ServerProcess) => (await fetch(`${url}/readyz`)).status
const order = async ({ url }: ServerProcess) => (await submit(url, aUniqueOrder())).status

describe('a PostgreSQL that does not take enquiries', () => {
  it.each([
    [
      'read-only',
      'ALTER ROLE limited SET default_transaction_read_only TO on',
      'ALTER ROLE limited RESET default_transaction_read_only',
    ],
    ['with INSERT revoked', 'REVOKE INSERT ON "Quvera_Form" FROM limited', 'GRANT INSERT ON "Quvera_Form" TO limited'],
  ])('%s is not ready until an order could be stored', async (_what, fault, cure) => {
    const fixture = await setUp()
    await (await openDatabase({ url: fixture.databaseUrl, dataDir: '', migrations, migrate: true })).close()
    const sql = (text: string) => administer(fixture.databaseUrl, text)
    await sql(`CREATE ROLE limited LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO limited;
      GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO limited; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO limited`)
    const server = await fixture.start({
      DATABASE_URL: Object.assign(new URL(fixture.databaseUrl), { username: 'limited' }).href,
    })
    try {
      expect([await order(server), await ready(server)]).toEqual([200, 200])
      await sql(fault)
      // A role's setting holds for new connections: those that are open end.
      await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'`)
      await eventually(async () => (await order(server)) === 503)
      expect([await order(server), await ready(server)]).toEqual([503, 503])
      await new Promise((done) => setTimeout(done, 5000))
      expect([await ready(server), await order(server)]).toEqual([503, 503])
      await sql(cure)
      await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'`)
      await eventually(async () => (await ready(server)) === 200)
      expect(await order(server)).toBe(200)
    } finally {
      await server.stop('SIGKILL')
      await sql(`DROP OWNED BY limited; DROP ROLE limited`)
    }
  })
})

/** Rows of two kilobytes that do not compress. */
const fillForm = (rows: number) => `
  INSERT INTO "Quvera_Form" ("Id", "Reference", "Name", "Email", "Mobile", "Quantity", "RetailerSelfUse", "Products", "NoticeVersion", "SubmissionKey", "Note")
  SELECT gen_random_uuid(), 'QV-' || number, 'Asha', 'asha@shop.example', '9876543210', 1, 'Retailer', 'Quvera 300', '2026-11', gen_random_uuid(),
    (SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 60 + 0 * number)) FROM generate_series(1, ${rows}) number`

describe.skipIf(process.getuid?.() !== 0)('the embedded database on a full disk', () => {
  it('is backed up when its disk has no room for the rows of the backup, and opens when a kill left rows there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quvera-full-disk-'))
    await run('mount', ['-t', 'tmpfs', '-o', 'size=500m', 'tmpfs', folder])
    const env = { DATA_DIR: join(folder, 'data'), RATE_LIMIT_MAX: '0', LOG_LEVEL: 'warn' }
    let server = await startServer(env)
    try {
      const rows = 50_000
      const psql = ['-h', env.DATA_DIR, '-U', 'postgres', '-qc', `${fillForm(rows)}; CHECKPOINT`]
      await run('psql', psql)
      const { bavail, bsize } = await statfs(folder)
      await writeFile(join(folder, 'ballast'), Buffer.alloc(bavail * bsize - 120 * 2 ** 20, 1))
      let isOver = false
      const statuses: number[] = []
      const ordering = (async () => {
        while (!isOver) statuses.push(await order(server))
      })()
      const file = join(tmpdir(), `${basename(folder)}.gz`)
      atEnd(() => rm(file, { force: true }))
      const made = await staff(['backup', file], { DATA_DIR: env.DATA_DIR })
      isOver = true
      await ordering
      expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Wrote/) })
      expect(readBackup(await readFile(file)).length).toBeGreaterThan(rows)
      expect(await order(server)).toBe(200)
      expect(server.stdout()).not.toContain('started again')
      await server.stop('SIGKILL')
      const temporary = join(env.DATA_DIR, 'postgres/base/pgsql_tmp')
      await mkdir(temporary, { recursive: true })
      await rename(join(folder, 'ballast'), join(temporary, 'pgsql_tmp42.0'))
      server = await startServer(env)
      expect(await order(server)).toBe(200)
      report('backup on a nearly full disk', {
        orders: statuses.length,
        refused: statuses.filter((s) => s !== 200).length,
      })
    } finally {
      await server.stop('SIGKILL')
      await run('umount', [folder])
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('refuses orders in words, loses none that was answered, and goes on when there is room', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quvera-full-disk-'))
    await run('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', folder])
    const resend = await startFakeResend()
    const env = {
      DATA_DIR: join(folder, 'data'),
      ...sendingThrough(resend),
      MAIL_LEASE_SECONDS: '2', // of mails that were claimed when the disk filled up
      RATE_LIMIT_MAX: '0',
      LOG_LEVEL: 'warn',
    }
    let server = await startServer(env)
    try {
      const send = (orders: number, retry: boolean) =>
        sendOrders({ url: () => server.url, orders, concurrency: 8, retry })
      const before = await send(200, true)
      const [one, other] = [aUniqueOrder(), aUniqueOrder()]
      for (const each of [one, other]) expect((await submit(server.url, each)).status).toBe(200)
      await eventually(() =>
        stat(join(env.DATA_DIR, 'reserve')).then(
          ({ size }) => size === 2 ** 24,
          () => false,
        ),
      )
      const { bavail, bsize } = await statfs(folder)
      await writeFile(join(folder, 'ballast'), Buffer.alloc(bavail * bsize - 2 ** 20, 1))
      await eventually(async () => (await order(server)) === 503)
      const during = await send(50, false)
      expect([...during.statuses]).toEqual([[503, 50]])
      expect(await ready(server)).toBe(503)

      // Reading and erasing go on, without a line that says so; what would store something is told why it cannot.
      const words = /^[^\n]*less than 64 MB are free on the disk of [^\n]*\n$/
      const unnoted =
        /^This access could not be recorded in the access log \(Quvera_Access\): less than 64 MB are free[^\n]*\n/
      async function asStaff(...args: string[]) {
        const ran = await staff(args, { DATA_DIR: env.DATA_DIR })
        expect(ran.stderr).toMatch(unnoted)
        return { ...ran, stderr: ran.stderr.replace(unnoted, '') }
      }
      expect(await asStaff('list')).toMatchObject({ code: 0, stderr: '' })
      const exported = await asStaff('export')
      expect(exported).toMatchObject({ code: 0, stderr: '' })
      expect(exported.stdout.split('\n').length).toBeGreaterThan(202)
      expect((await asStaff('backup', '-')).stderr).toMatch(/^Wrote \d+ rows/)
      const [reference = ''] = /[A-Z]+-\w{6}/.exec(exported.stdout) ?? []
      const refused = await asStaff('status', reference, 'Contacted')
      expect(refused.code).toBe(1)
      expect(refused.stderr).toMatch(words)
      const [erasedReference = ''] = /[A-Z]+-\w{6}/.exec((await asStaff('list', one.email)).stdout) ?? []
      expect(erasedReference).not.toBe('')
      expect(await asStaff('erase', '--person', one.email, '--yes')).toMatchObject({ code: 0, stderr: '' })
      expect((await asStaff('export', '--person', one.email)).stdout).toMatch(/"enquiries": \[\]/)
      expect((await asStaff('list', other.email)).stdout).toContain(other.email)
      const sql = `BEGIN; DELETE FROM "Quvera_Lease"; UPDATE "Quvera_Form" SET "Note" = 'x'; COMMIT`
      const psql = sql.split('; ').flatMap((statement) => ['-c', statement])
      const { stderr } = await run('psql', ['-h', env.DATA_DIR, '-U', 'postgres', ...psql])
      expect(stderr).toMatch(words)
      expect(server.process.exitCode).toBeNull()

      await rm(join(folder, 'ballast'))
      await eventually(async () => (await ready(server)) === 200)
      const after = await send(200, true)
      const isOver = () => onDatabase(env, async (db) => (await db.mail.count({ where: { status: 'Pending' } })) === 0)
      await eventually(isOver, 30_000)
      await server.stop('SIGKILL')
      const { db, close } = await openDatabase({ dataDir: env.DATA_DIR, migrations })
      const load = { ...after, acknowledged: new Map([...before.acknowledged, ...after.acknowledged]) }
      const erased = (mail: { subject: string }) => mail.subject.includes(erasedReference)
      const result = await audit(db, load, { ...resend, mails: resend.mails.filter((mail) => !erased(mail)) }, 0)
      await close()
      report('full disk, embedded database', { ...result, refused: during.statuses.get(503) })
      expect(load.acknowledged.size).toBe(400)
      expectNothingLost(result)

      // A start without room waits for it in words too.
      const left = await statfs(folder)
      await writeFile(join(folder, 'ballast'), Buffer.alloc(left.bavail * left.bsize - 2 ** 25, 1))
      server = await startServer(env, { waitUntilReady: false })
      expect((await server.exited).code).toBe(1)
      expect(server.stderr()).toMatch(/^Only 3[12] MB are free [^\n]*\n$/)
    } finally {
      await server.stop('SIGKILL')
      await resend.close()
      await run('umount', [folder])
      await rm(folder, { recursive: true, force: true })
    }
  })
})
