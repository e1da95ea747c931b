import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, chown, cp, lstat, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { openDatabase } from '../../server/open-database.ts'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { aServer } from '../support/fixtures.ts'
import { staff } from '../support/staff-command.ts'
import { createTestDatabase, migrations } from '../support/test-database.ts'

const NOBODY = 65534

async function aDatabase(): Promise<string> {
  const { env, drop } = await createTestDatabase()
  atEnd(drop)
  return env.DATA_DIR ?? ''
}

const open = (dataDir: string) => openDatabase({ dataDir, migrations, migrate: true })
const refusal = (dataDir: string) =>
  open(dataDir).then(
    () => 'opened',
    (error: Error) => error.message,
  )

/** Every name in the folder with what it holds. */
async function contents(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name)
      return [
        path,
        entry.isFile()
          ? createHash('sha256')
              .update(await readFile(path))
              .digest('hex')
          : 'no file',
      ]
    }),
  )
  return Object.fromEntries(found)
}

async function firstLogFile(dataDir: string): Promise<string> {
  const names = (await readdir(join(dataDir, 'postgres/pg_wal'))).filter((name) => name.length === 24).sort()
  return `pg_wal/${names[0]}`
}

describe.skipIf(inject('postgres'))('a data folder', { timeout: 90_000 }, () => {
  it.each<[string, (folder: string, dataDir: string) => Promise<unknown>, RegExp]>([
    ['without PG_VERSION', (folder) => rm(join(folder, 'PG_VERSION')), /PG_VERSION is missing/],
    ['without pg_xact', (folder) => rm(join(folder, 'pg_xact'), { recursive: true }), /pg_xact.* is missing/],
    ['without pg_wal', (folder) => rm(join(folder, 'pg_wal'), { recursive: true }), /pg_wal is missing/],
    [
      'with an empty pg_wal',
      async (folder, dir) => rm(join(folder, await firstLogFile(dir))).then(() => emptyLog(folder)),
      /pg_wal.* is empty/,
    ],
    [
      'with half of pg_control',
      (folder) => truncate(join(folder, 'global/pg_control'), 4096),
      /pg_control has 4096 bytes/,
    ],
    [
      'with pg_control of zeros',
      (folder) => writeFile(join(folder, 'global/pg_control'), Buffer.alloc(8192)),
      /pg_control is not that of/,
    ],
    [
      'with a short log',
      async (folder, dir) => truncate(join(folder, await firstLogFile(dir)), 70_000),
      /pg_wal\/\w+ is cut short|cut short/,
    ],
    [
      'with an empty catalogue',
      (folder) => truncate(join(folder, 'base/5/1259'), 0),
      /base\/5\/1259, a part of the catalogue, is missing or empty/,
    ],
  ])('%s is refused and stays as it was', async (_what, damage, reason) => {
    const dataDir = await aDatabase()
    await damage(join(dataDir, 'postgres'), dataDir)
    const before = await contents(dataDir)
    const message = await refusal(dataDir)
    expect(message).toMatch(/^The embedded database in .* is not whole: [^\n]* Nothing was changed\. [^\n]*$/)
    expect(message).toMatch(reason)
    expect(await contents(dataDir)).toEqual(before)
  })

  async function emptyLog(folder: string) {
    for (const name of await readdir(join(folder, 'pg_wal'))) {
      if (name.length === 24) await rm(join(folder, 'pg_wal', name))
    }
  }

  it('of somebody else is refused and stays as it was', async () => {
    const folder = await aFolder('quvera-folder-')
    await writeFile(join(folder, 'thesis.doc'), 'words')
    await chmod(folder, 0o755)
    const before = await contents(folder)
    expect(await refusal(folder)).toMatch(
      /holds no database of this site, but other files: thesis\.doc\. Nothing was changed/,
    )
    expect(await contents(folder)).toEqual(before)
    expect((await lstat(folder)).mode & 0o777).toBe(0o755)
  })

  it('of somebody else that has a folder "postgres" too is refused and stays as it was', async () => {
    const folder = await aFolder('quvera-folder-')
    await mkdir(join(folder, 'postgres'))
    await writeFile(join(folder, 'postgres/notes.txt'), 'words')
    await chmod(folder, 0o755)
    const before = await contents(folder)
    expect(await refusal(folder)).toMatch(/is not whole: PG_VERSION is missing\. Nothing was changed/)
    expect(await contents(folder)).toEqual(before)
    expect((await lstat(folder)).mode & 0o777).toBe(0o755)
  })

  it('with a damaged catalogue is refused in PostgreSQL’s words, with what to do', async () => {
    const dataDir = await aDatabase()
    await truncate(join(dataDir, 'postgres/base/5/1259'), 8192)
    const message = await refusal(dataDir)
    expect(message).toMatch(/^The embedded database in .*postgres cannot be opened: [^\n]*\. Keep the folder, [^\n]*$/)
    expect(message).not.toMatch(/Aborted|undefined|ASSERTIONS/)
  })

  it('whose first start was cut short is begun anew', async () => {
    const folder = await aFolder('quvera-folder-')
    await mkdir(join(folder, 'postgres.new/base'), { recursive: true })
    await writeFile(join(folder, 'postgres.new/PG_VERSION'), '18\n')
    const { db, close } = await open(folder)
    expect(await db.enquiry.count()).toBe(0)
    await close()
    expect(await readdir(folder)).toEqual(['owner.lock', 'postgres'])
  })

  it('opens with the empty postmaster.pid that a power cut leaves', async () => {
    const dataDir = await aDatabase()
    await writeFile(join(dataDir, 'postgres/postmaster.pid'), '')
    const { close } = await open(dataDir)
    await close()
  })

  it('is made before the first build too, without the packed database', async () => {
    const root = await aFolder('quvera-folder-')
    for (const name of ['package.json', 'server', 'shared', 'prisma'])
      await cp(name, join(root, name), { recursive: true })
    await symlink(resolve('node_modules'), join(root, 'node_modules'))
    const code = `
      import { openDatabase } from './server/open-database.ts'
      const { db, close } = await openDatabase({ dataDir: '.data', migrations: 'prisma/migrations', migrate: true })
      console.log(await db.enquiry.count())
      await close()`
    await writeFile(join(root, 'create.mjs'), code)
    const { stdout } = await promisify(execFile)(process.execPath, ['create.mjs'], { cwd: root })
    expect(stdout).toBe('0\n')
  })

  it('that a process serves is refused, also when somebody has deleted its lock file', async () => {
    const dataDir = await aDatabase()
    const server = await aServer({ DATA_DIR: dataDir })
    await rm(join(dataDir, 'owner.lock'))
    expect(await refusal(dataDir)).toMatch(/^Another process already uses the embedded database in /)
    expect((await submit(server.url, anOrder())).status).toBe(200)
  })

  it('whose database has no files is no database for a staff command', async () => {
    const folder = await aFolder('quvera-folder-')
    await mkdir(join(folder, 'postgres'))
    const { code, stderr } = await staff(['list'], { DATA_DIR: folder })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^There is no database in /)])
    expect(await readdir(join(folder, 'postgres'))).toEqual([])
  })

  it('is this user’s alone, also one that was open to others', async () => {
    const folder = await aFolder('quvera-folder-')
    await cp(join(await aDatabase(), 'postgres'), join(folder, 'postgres'), { recursive: true })
    await promisify(execFile)('chmod', ['-R', 'a+rX', folder])
    const server = await aServer({ DATA_DIR: folder })
    expect((await submit(server.url, anOrder())).status).toBe(200)
    const open = await promisify(execFile)('find', [folder, '-perm', '/077', '-not', '-type', 's'])
    expect(open.stdout).toBe('')
  })

  describe.skipIf(process.getuid?.() !== 0)('of another user', () => {
    const command = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', process.execPath]
    const server = resolve('dist/server/main.js') // by its whole path: a folder above may be closed to others
    const canRun = () =>
      spawnSync('setpriv', [...command, '-e', `fs.accessSync(${JSON.stringify(server)})`]).status === 0
    const reason = 'skipped: no other user can read this folder and run the server in it'
    beforeAll(() => void (canRun() || console.warn(reason)))
    beforeEach(({ skip }) => skip(!canRun(), reason))

    const asNobody = (dataDir: string) =>
      promisify(execFile)('setpriv', [...command, 'dist/server/main.js'], {
        env: { DATA_DIR: dataDir, PORT: '0' },
      }).then(
        () => 'opened',
        (error) => error.stderr as string,
      )

    it('cannot be read', async () => {
      const dataDir = await aDatabase()
      await aServer({ DATA_DIR: dataDir })
      expect(await asNobody(dataDir)).toMatch(/^DATA_DIR \S+ cannot be made or used: EACCES[^\n]*uid 65534\)\.\n$/)
    })

    it('is refused in one line that names the file', async () => {
      const dataDir = await aDatabase()
      await chown(dataDir, NOBODY, NOBODY)
      const before = await contents(dataDir)
      expect(await asNobody(dataDir)).toMatch(
        /^The embedded database cannot be read: EACCES at \S+\. Nothing was changed[^\n]*uid 65534\)\.\n$/,
      )
      expect(await contents(dataDir)).toEqual(before)
    })
  })
})
