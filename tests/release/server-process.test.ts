import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withDatabase } from '../../server/open-database.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/eventually.ts'
import { aDatabase, aServer, refusalToStart } from '../support/fixtures.ts'
import { scratch } from '../support/scratch.ts'
import { runProgram, staff } from '../support/staff-command.ts'

describe('a server process', () => {
  it('ends with 0 on a SIGTERM that comes while it takes up the one listener for the other', async () => {
    const killItself = `const { off } = process
      process.off = function (signal, ...others) {
        if (signal === 'SIGTERM') process.kill(process.pid, signal)
        return off.call(this, signal, ...others)
      }`
    const server = await aServer(
      { ...(await aDatabase()), NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(killItself)}` },
      { waitUntilReady: false },
    )
    expect(await server.exited).toEqual({ code: 0, signal: null })
  })

  it.each([
    [{ HOST: 'no such host' }, /no such host\. HOST must be an address or a name of this machine\.$/],
    [{ HOST: '192.0.2.1' }, /192\.0\.2\.1.* HOST must be an address or a name of this machine\.$/],
  ])('says in a sentence what is wrong with %j', async (env, sentence) => {
    const lines = await refusalToStart({ ...(await aDatabase()), ...env })
    expect(lines).toEqual([expect.stringMatching(sentence)])
  })

  it('can be called off while it waits for the embedded database that another process has', async () => {
    const env = await aDatabase()
    await aServer(env)
    const second = await aServer(env, { waitUntilReady: false })
    await eventually(() => expect(second.stdout()).toContain('another process has the embedded database in'))
    expect(await second.stop()).toEqual({ code: 143, signal: null })
  })
})

describe('the path of a data folder', () => {
  it('of 480 bytes serves the site and who works beside it', async () => {
    const folder = await mkdtemp(join(scratch, 'quvera-start-'))
    atEnd(() => rm(folder, { recursive: true, force: true }))
    const dataDir = join(folder, 'deep', 'd/'.repeat(480)).slice(0, 480).replace(/\/$/, 'd')
    const server = await aServer({ DATA_DIR: dataDir })
    expect(await staff(['mails'], { DATA_DIR: dataDir })).toMatchObject({ code: 0, stderr: '' })
    const fromHere = relative(process.cwd(), dataDir)
    await withDatabase({ DATA_DIR: fromHere }, async ({ db }) => expect(await db.enquiry.count()).toBe(0))
    await server.stop()
    expect(await staff(['mails'], { DATA_DIR: dataDir })).toMatchObject({ code: 0, stderr: '' })
  })

  it('that is longer is refused by all of them in the same words, before anything is made', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quvera-start-'))
    atEnd(() => rm(folder, { recursive: true, force: true }))
    const env = { DATA_DIR: join(folder, ...Array.from({ length: 5 }, () => 'd'.repeat(100))) }
    const server = await aServer(env, { waitUntilReady: false })
    await server.exited
    const said = [
      server.stderr(),
      ...(await Promise.all([staff(['list'], env), runProgram('server/studio.ts', [], env)])).map(
        ({ stderr }) => stderr,
      ),
    ]
    expect(said[0]).toMatch(/^The path of DATA_DIR has \d+ bytes, and may have 480: [^\n]*\n$/)
    expect(new Set(said).size).toBe(1)
    expect(await readdir(folder)).toEqual([])
  })
})
