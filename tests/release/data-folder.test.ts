// The site works in each kind of data folder that it supports, and refuses any other in a sentence, with nothing written.
// Not in `npm test`: most cases need root, who becomes other users, and each starts PostgreSQL on a disk.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder } from '../support/a-folder.ts'
import { anOrder, submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { lockHolders } from '../support/embedded-site.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/server-process.ts'

const isRoot = process.getuid?.() === 0
const UID = 12345
const AS_OTHER_USER = `setpriv --reuid=${UID} --regid=${UID} --clear-groups --bounding-set=-all --no-new-privs`.split(
  ' ',
)
/** What a socket's path may have, less its name. */
const PATH_MAX_BYTES = 103 - '/.s.PGSQL.5432'.length

/** The built site, with nothing of this process's environment. `as` is what starts it. */
async function startSite(dataDir: string, as: string[]) {
  const [program = '', ...args] = [...as, process.execPath, resolve('dist/server/main.js')]
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

/** Starts the site twice: an order of the first start is answered the same by the second. */
async function expectWorks(dataDir: string, as: string[] = []) {
  const order = anOrder()
  const references: unknown[] = []
  for (let starts = 0; starts < 2; starts++) {
    const { site, ended, url, stderr } = await startSite(dataDir, as)
    await eventually(async () => {
      expect(site.exitCode, stderr()).toBeNull()
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
    })
    references.push((await submit(url, order)).reference)
    site.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  }
  expect(references).toEqual([expect.stringMatching(/^QV-/), references[0]])
}

/** The one sentence with which the site refuses to start; the folder stays as it was. */
async function refusal(folder: string, dataDir: string, as: string[] = []) {
  const before = contents(folder)
  const { ended, stderr } = await startSite(dataDir, as)
  expect([await ended, stderr()]).toEqual([[1, null], expect.stringMatching(/^[^\n]+\n$/)])
  expect(contents(folder)).toBe(before)
  return stderr()
}

/** Every name below the folder, with mode, owner, size and the time of its last change. */
function contents(folder: string): string {
  return execFileSync('find', [folder, '-printf', '%P %m %U %s %T@\n'], { encoding: 'utf8' })
}

/** A folder that may hold a data folder, of this user or another. */
async function aParent(owner = process.getuid?.() ?? 0) {
  const folder = await aFolder('quvera-folder-', tmpdir())
  await chown(folder, owner, owner)
  return folder
}

describe('the site works', { timeout: 120_000 }, () => {
  it('for this user in an open folder, which is this user’s alone afterwards', async () => {
    const dataDir = join(await aParent(), 'data') // the folder above has mode 0700
    await mkdir(dataDir, { mode: 0o755 })
    await expectWorks(dataDir)
    const open = [dataDir, '-perm', '/077', '-not', '-name', 'owner.lock']
    expect(execFileSync('find', open, { encoding: 'utf8' })).toBe('')
  })

  it.skipIf(!isRoot)('for a user without a name or capabilities, in a folder of its own', async () => {
    await expectWorks(join(await aParent(UID), 'data'), AS_OTHER_USER)
  })

  it.skipIf(!isRoot)('for that user in a folder of root that everybody may write, as in the container', async () => {
    const folder = await aParent()
    await chmod(folder, 0o1777)
    await expectWorks(folder, AS_OTHER_USER)
  })

  it('in a path with spaces, quotes, commas and letters of any script', async () => {
    const folder = await aFolder("quvera 'folder' ü $HOME ", tmpdir())
    await expectWorks(join(folder, 'दत्त "data", "2"'))
  })
})

describe('the site refuses to start', { timeout: 120_000 }, () => {
  /** A folder that holds a database. */
  async function aDatabase(owner?: number, as?: string[]) {
    const dataDir = join(await aParent(owner), 'data')
    await expectWorks(dataDir, as)
    return dataDir
  }

  it('in a path that is one byte too long', async () => {
    const folder = await aParent()
    const dataDir = join(folder, 'd'.repeat(PATH_MAX_BYTES - Buffer.byteLength(folder)))
    expect(await refusal(folder, dataDir)).toMatch(/^The path of DATA_DIR is too long for a socket in it, by 1 bytes/)
  })

  it('in a folder with other files', async () => {
    const folder = await aParent()
    await writeFile(join(folder, 'thesis.doc'), 'words')
    expect(await refusal(folder, folder)).toMatch(/holds no database of this site, but other files: thesis\.doc\./)
  })

  it('on a database of another major version of PostgreSQL, and says how to move it', async () => {
    const dataDir = await aDatabase()
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '17\n')
    expect(await refusal(dataDir, dataDir)).toMatch(
      /^The database in \S+ is of PostgreSQL 17, and this version of the site has PostgreSQL 18\..*backup FILE.*restore FILE/,
    )
  })

  it.skipIf(!isRoot)('on a database of another user, whom it names, also as root', async () => {
    const dataDir = await aDatabase(UID, AS_OTHER_USER)
    expect(await refusal(dataDir, dataDir)).toMatch(
      /^\S+ \(DATA_DIR\) belongs to the user #12345\. Run this as that user: /,
    )
  })
})
