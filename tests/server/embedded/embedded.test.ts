import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, it } from 'vitest'
import { pathIn, readServerPid, socketConnection } from '../../../server/embedded/data-dir.ts'
import { startEmbedded } from '../../../server/embedded/postgres.ts'
import { aClient } from '../../support/a-client.ts'
import { aFolder } from '../../support/a-folder.ts'
import { anOrder, submit } from '../../support/an-order.ts'
import { atEnd } from '../../support/at-end.ts'
import { lockHolders } from '../../support/embedded-site.ts'
import { aServer } from '../../support/fixtures.ts'
import { staff } from '../../support/staff-command.ts'

const socketOf = (dataDir: string) => join(dataDir, '.s.PGSQL.5432')

it('gives each role its rights, syncs each commit, needs nothing of /dev/shm, and listens at its socket only', async () => {
  const dataDir = await aFolder('quvera-roles-')
  const { url } = await aServer({ DATA_DIR: dataDir })
  expect((await submit(url, anOrder())).status).toBe(200)
  for (const role of ['quvera_app', 'quvera_readonly']) {
    const client = new pg.Client({ ...socketConnection(dataDir), user: role })
    await client.connect()
    atEnd(() => client.end())
    expect((await client.query('SELECT "Name" FROM "Quvera_Form"')).rowCount).toBe(1)
    for (const statement of ['DELETE FROM "Quvera_Form"', 'SET ROLE quvera'])
      await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' })
  }
  const owner = await aClient({ DATA_DIR: dataDir })
  const superusers = await owner.query(
    `SELECT rolname FROM pg_roles WHERE rolsuper UNION ALL SELECT usename FROM pg_stat_activity WHERE usename = 'postgres' AND backend_type = 'client backend'`,
  )
  expect(superusers.rows).toEqual([{ rolname: 'postgres' }])
  const settings = await owner.query(
    `SELECT current_setting('data_checksums') AS checksums, current_setting('fsync') AS fsync,
       current_setting('synchronous_commit') AS commit, current_setting('listen_addresses') AS tcp,
       current_setting('dynamic_shared_memory_type') AS memory, current_setting('huge_pages') AS huge,
       upper('é') AS upper, 'É' ILIKE 'é' AS "isEqual"`,
  )
  const files = { checksums: 'on', fsync: 'on', commit: 'on' }
  expect(settings.rows).toEqual([{ ...files, tcp: '', memory: 'mmap', huge: 'off', upper: 'É', isEqual: true }])
})

it('keeps every order; serves staff commands beside the site, and is started and ended by one where no site runs', async () => {
  const dataDir = await aFolder('quvera-staff-')
  const order = anOrder()
  const list = () => staff(['export'], { DATA_DIR: dataDir })
  const site = await aServer({ DATA_DIR: dataDir })
  const { reference = '' } = await submit(site.url, order)
  const listed = { code: 0, stdout: expect.stringContaining(reference), stderr: '' }
  expect(await list()).toMatchObject(listed)
  expect((await submit(site.url, anOrder())).status).toBe(200)
  expect(await site.stop('SIGINT')).toEqual({ code: 0, signal: null })
  expect(await lockHolders(dataDir)).toEqual([]) // PostgreSQL has ended before the site
  expect(await list()).toMatchObject(listed)
  expect(existsSync(socketOf(dataDir))).toBe(false)
  expect(await lockHolders(dataDir)).toEqual([])
  const second = await aServer({ DATA_DIR: dataDir })
  expect((await submit(second.url, order)).reference).toBe(reference)
})

it('that is new is told of; that enquiries are elsewhere only where there are backups', async () => {
  const folder = await aFolder('quvera-new-')
  const BACKUP_DIR = await aFolder('quvera-backups-')
  const first = await aServer({ DATA_DIR: join(folder, 'one'), BACKUP_DIR })
  await expect.poll(() => first.stdout(), { timeout: 30_000 }).toContain('wrote the backup')
  const second = await aServer({ DATA_DIR: join(folder, 'two'), BACKUP_DIR })
  const elsewhere = 'There are backups in BACKUP_DIR: the enquiries of before are elsewhere.'
  for (const { stdout } of [first, second]) expect(stdout()).toContain('made a new, empty database in')
  expect([first, second].map(({ stdout }) => stdout().includes(elsewhere))).toEqual([false, true])
})

it('does not repeat statements and values in what the site logs', async () => {
  const dataDir = await aFolder('quvera-log-')
  const server = await aServer({ DATA_DIR: dataDir, LOG_LEVEL: 'trace' })
  const owner = await aClient({ DATA_DIR: dataDir })
  await expect(owner.query(`INSERT INTO "Quvera_Form" ("Name") VALUES ('Zubeida Secret')`)).rejects.toThrow()
  process.kill(Number.parseInt(await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10), 'SIGQUIT')
  await expect.poll(() => server.stdout(), { timeout: 30_000 }).toContain('PostgreSQL runs again')
  expect(server.stdout() + server.stderr()).not.toMatch(/Zubeida|INSERT/)
})

it('is not made anew when its files are lost while it runs', async () => {
  const dataDir = await aFolder('quvera-lost-')
  const failed = Promise.withResolvers<unknown>()
  await startEmbedded({ dataDir, create: true, warn: () => {}, onFailure: failed.resolve })
  const database = pathIn(dataDir, 'database')
  const pid = Number(readServerPid(database))
  await rename(database, `${database}.lost`)
  process.kill(pid, 'SIGKILL')
  expect(String(await failed.promise)).toContain(`There is no database in ${dataDir}`)
  expect(existsSync(database)).toBe(false)
})

it('is ended and started again when its socket file is deleted while it runs', async () => {
  const dataDir = await aFolder('quvera-socket-')
  const told: string[] = []
  const warn = (message: string) => void told.push(message)
  const onFailure = (error: unknown) => void told.push(String(error))
  const postgres = await startEmbedded({ dataDir, create: true, unreachableMs: 300, warn, onFailure })
  atEnd(() => postgres.stop('SIGINT'))
  const first = readServerPid(pathIn(dataDir, 'database'))
  await unlink(socketOf(dataDir))
  await expect.poll(() => told, { timeout: 20_000 }).toHaveLength(2)
  expect(told).toEqual([
    expect.stringMatching(/^PostgreSQL has ended \(it took no connection for 0\.3 s, exit code 0\)/),
    'PostgreSQL runs again',
  ])
  expect(readServerPid(pathIn(dataDir, 'database'))).not.toBe(first)
  expect((await (await aClient({ DATA_DIR: dataDir })).query('SELECT 1')).rowCount).toBe(1)
})

it('says of a copy that was made while the database was used that rows may be missing, and of no other', async () => {
  const dataDir = await aFolder('quvera-copied-')
  const told: string[] = []
  const options = { create: true, warn: (message: string) => void told.push(message), onFailure: () => {} }
  const startOn = async (folder: string) => {
    const postgres = await startEmbedded({ ...options, dataDir: folder })
    atEnd(() => postgres.stop('SIGINT'))
    return postgres
  }
  const copy = async () => {
    const folder = await aFolder('quvera-copy-')
    execFileSync('cp', ['-a', `${dataDir}/.`, folder])
    return folder
  }
  const first = await startOn(dataDir)
  const copied = await copy()
  await startOn(copied)
  expect(told).toEqual([
    expect.stringMatching(`^the database in ${copied} is a copy that was made while a site used it`),
  ])
  await first.stop('SIGINT')
  await (await startOn(await copy())).stop('SIGINT')
  await startOn(dataDir)
  expect(told).toHaveLength(1)
})
