import { once } from 'node:events'
import fs, { cpSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { pathIn } from '../../server/embedded/data-dir.ts'
import { assertWholeDatabase } from '../../server/embedded/database-files.ts'
import { createDiskSpace } from '../../server/embedded/disk-space.ts'
import { type Postgres, serialize } from '../../server/embedded/postgres.ts'
import { createTurns } from '../../server/embedded/turns.ts'
import { startUpkeep } from '../../server/embedded/upkeep.ts'
import { scratch } from '../support/scratch.ts'

/* What the embedded database relies on inside PGlite and Emscripten: a new version of PGlite that changes it fails here. */

const calls: string[] = []
const { fdatasyncSync, fsyncSync, renameSync, unlinkSync } = fs
const real = { fdatasyncSync, fsyncSync, renameSync, unlinkSync }

/** Records calls of Node's file system, also from modules that have imported its functions by name. */
function record(name: keyof typeof real) {
  Object.assign(fs, {
    [name](...args: unknown[]) {
      calls.push(`${name} ${args.map((arg) => (typeof arg === 'string' ? basename(arg) : '')).join(' ')}`.trim())
      return (real[name] as (...args: unknown[]) => void)(...args)
    },
  })
}

let parent: string // the reserve lies in it
let folder: string
let postgres: Postgres
const aborts: string[] = []
beforeAll(async () => {
  if (inject('postgres')) return
  for (const name of Object.keys(real) as (keyof typeof real)[]) record(name)
  syncBuiltinESMExports()
  parent = await mkdtemp(join(scratch, 'quvera-pglite-'))
  folder = join(parent, 'postgres')
  copyTemplate(folder)
  const { openPostgres } = await import('../../server/embedded/postgres.ts')
  postgres = await openPostgres(folder, (reason) => void aborts.push(reason))
  ask('CREATE TABLE thing (number int PRIMARY KEY)')
})
afterAll(async () => {
  await postgres?.close()
  Object.assign(fs, real)
  syncBuiltinESMExports()
  await rm(parent ?? '', { recursive: true, force: true })
})

/** Making a database takes PostgreSQL two seconds. */
function copyTemplate(to: string) {
  cpSync(pathIn(inject('embeddedTemplate'), 'database'), to, { recursive: true })
}

const ask = (sql: string) => postgres.query(sql)
const SYNC = serialize.sync()

/** Parse, Bind and Execute of a statement without parameters. */
const extended = (sql: string) => [serialize.parse({ text: sql }), serialize.bind(), serialize.execute()]

describe.skipIf(inject('postgres'))('the file system of the embedded database', () => {
  it('syncs the write-ahead log before a statement is answered', () => {
    calls.length = 0
    ask('INSERT INTO thing VALUES (1)')
    expect(calls).toContain('fdatasyncSync')
  })

  it('replaces a file in one step, and never deletes it first', () => {
    calls.length = 0
    ask("ALTER SYSTEM SET application_name TO 'test'")
    expect(calls).toContain('renameSync postgresql.auto.conf.tmp postgresql.auto.conf')
    expect(calls).not.toContain('unlinkSync postgresql.auto.conf')
  })

  it('makes files that only this user can read', async () => {
    const [path = ''] = ask(`SELECT pg_relation_filepath('thing')`)
    expect((await stat(join(folder, path))).mode & 0o777).toBe(0o600)
  })

  it('has no timer: a time limit that passes does not end the session', () => {
    ask('SET statement_timeout TO 1')
    expect(ask('SELECT count(*) FROM generate_series(1, 100000)')).toEqual(['100000'])
    ask('RESET statement_timeout')
    expect(aborts).toEqual([])
  })

  it('is whole after VACUUM FULL has given the catalogue new files', () => {
    ask('VACUUM FULL')
    ask('CHECKPOINT') // removes the old ones
    expect(assertWholeDatabase(folder)).toBe(true)
  })

  it('keeps sessions in UTC', () => {
    expect(ask('SHOW TimeZone')).toEqual(['UTC'])
  })
})

describe.skipIf(inject('postgres'))('the upkeep of the embedded database', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  /** All that its tables' files hold; the write-ahead log is another folder. */
  async function tableFiles(): Promise<string> {
    const names = await readdir(join(folder, 'base'), { recursive: true, withFileTypes: true })
    const files = names
      .filter((name) => name.isFile())
      .map((name) => readFile(join(name.parentPath, name.name), 'latin1'))
    return (await Promise.all(files)).join()
  }

  it('leaves nothing of an erased row in the tables’ files an hour after a start', async () => {
    ask('CREATE TABLE person (name text)')
    ask(`INSERT INTO person SELECT 'somebody ' || n FROM generate_series(1, 2000) n`)
    ask(`INSERT INTO person VALUES ('Zubeida Erased')`)
    ask(`INSERT INTO person SELECT 'somebody ' || n FROM generate_series(1, 2000) n`)
    ask('CHECKPOINT')
    ask(`DELETE FROM person WHERE name = 'Zubeida Erased'`)
    ask('CHECKPOINT')
    expect(await tableFiles()).toContain('Zubeida Erased')
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearInterval'] })
    const end = startUpkeep(
      postgres,
      createTurns(() => {}),
      createDiskSpace(folder),
    )
    await vi.advanceTimersByTimeAsync(3_600_000)
    await end()
    expect(await tableFiles()).not.toContain('Zubeida Erased')
    expect(ask('SELECT count(*) FROM person')).toEqual(['4000'])
  })
})

describe.skipIf(inject('postgres'))('the execution of the embedded database', () => {
  it('executes several messages and returns one answer', () => {
    const answer = postgres.execute(Buffer.concat([...extended('SELECT 7'), SYNC]))
    expect(answer?.toString('latin1')).toMatch(/7.*SELECT 1.*Z.{4}I$/s)
  })

  it('skips the messages after an error up to Sync', () => {
    const batch = [...extended('SELEC 7'), ...extended('INSERT INTO thing VALUES (2)'), SYNC]
    const answer = postgres.execute(Buffer.concat(batch))
    expect(answer?.toString('latin1')).toMatch(/syntax error.*Z.{4}I$/s)
    expect(ask('SELECT number FROM thing')).toEqual(['1'])
  })

  it('drops an answer that is longer than the limit, though it executes the statement', () => {
    const insert = `INSERT INTO thing SELECT generate_series(1001, 2000) RETURNING repeat('x', 1000)`
    expect(postgres.execute(serialize.query(insert), 100_000)).toBeUndefined()
    expect(ask('DELETE FROM thing WHERE number > 1000 RETURNING number')).toHaveLength(1000)
  })

  it('throws an error of PostgreSQL with its message', () => {
    expect(() => ask('SELECT nothing')).toThrow(/column "nothing" does not exist/)
    expect(ask('SELECT 5')).toEqual(['5'])
  })

  it('knows whether a transaction is open', () => {
    expect(postgres.isInTransaction()).toBe(false)
    ask('BEGIN')
    expect(postgres.isInTransaction()).toBe(true)
    ask('ROLLBACK')
    expect(postgres.isInTransaction()).toBe(false)
  })

  it.each([
    ['its session ends', /^invalid frontend message type/],
    ['the disk fails', /^could not fsync file/],
  ])('reports why PostgreSQL stopped when %s', async (what, reason) => {
    const own = await mkdtemp(join(scratch, 'quvera-pglite-'))
    copyTemplate(own)
    const workerData = { folder: own, how: what.replace(/^(its|the) /, '') }
    const worker = new Worker(resolve(import.meta.dirname, '../support/stopped-postgres.ts'), { workerData })
    const [said] = await once(worker, 'message')
    expect(said).toMatch(reason)
    await once(worker, 'exit')
    await rm(own, { recursive: true, force: true })
  })
})
