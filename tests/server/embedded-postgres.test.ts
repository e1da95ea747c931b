import fs from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { createDiskSpace } from '../../server/embedded/disk-space.ts'
import type { Postgres } from '../../server/embedded/postgres.ts'
import { createTurns } from '../../server/embedded/turns.ts'
import { startUpkeep } from '../../server/embedded/upkeep.ts'
import { firstColumn, firstError, isIdle, queryFrame, SYNC } from '../../server/embedded/wire-protocol.ts'
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
  await mkdir(folder)
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

function ask(sql: string): string[] {
  const { answer = Buffer.alloc(0) } = postgres.execute(queryFrame(sql))
  const error = firstError(answer)
  if (error) throw new Error(error)
  return firstColumn(answer)
}

/** A message of the extended protocol. */
function message(kind: string, body: Buffer | string): Buffer {
  const bytes = Buffer.from(body)
  const head = Buffer.from(`${kind}\0\0\0\0`)
  head.writeInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}

/** Parse, Bind and Execute of a statement without parameters. */
const extended = (sql: string) => [
  message('P', `\0${sql}\0\0\0`),
  message('B', '\0\0\0\0\0\0\0\0'),
  message('E', '\0\0\0\0\0'),
]

describe.skipIf(inject('postgres'))('the file system of the embedded database', () => {
  it('syncs the log of writes before a statement is answered', () => {
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

  it('keeps sessions in UTC', () => {
    expect(ask('SHOW TimeZone')).toEqual(['UTC'])
  })
})

describe.skipIf(inject('postgres'))('the upkeep of the embedded database', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  /** All that its tables' files hold; the log of writes is another folder. */
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
    const end = startUpkeep(postgres, createTurns(), createDiskSpace(folder))
    await vi.advanceTimersByTimeAsync(3_600_000)
    await end()
    expect(await tableFiles()).not.toContain('Zubeida Erased')
    expect(ask('SELECT count(*) FROM person')).toEqual(['4000'])
  })
})

describe.skipIf(inject('postgres'))('the execution of the embedded database', () => {
  it('takes several messages at once, and answers them together', () => {
    const { answer, end } = postgres.execute(Buffer.concat([...extended('SELECT 7'), SYNC]))
    expect(firstColumn(answer ?? Buffer.alloc(0))).toEqual(['7'])
    expect(isIdle(end)).toBe(true)
  })

  it('passes over what follows an error up to Sync, and goes on', () => {
    const batch = [...extended('SELEC 7'), ...extended('INSERT INTO thing VALUES (2)'), SYNC]
    const { answer = Buffer.alloc(0), end } = postgres.execute(Buffer.concat(batch))
    expect(firstError(answer)).toMatch(/syntax error/)
    expect(isIdle(end)).toBe(true)
    expect(ask('SELECT number FROM thing')).toEqual(['1'])
  })

  it('keeps no more of an answer than is asked for, and executes the statement all the same', () => {
    const { answer, end } = postgres.execute(
      queryFrame(`SELECT repeat('x', 1000) FROM generate_series(1, 1000)`),
      100_000,
    )
    expect(answer).toBeUndefined()
    expect(isIdle(end)).toBe(true)
    expect(ask('SELECT 5')).toEqual(['5'])
  })

  it('knows whether a transaction is open', () => {
    expect(postgres.isInTransaction()).toBe(false)
    ask('BEGIN')
    expect(postgres.isInTransaction()).toBe(true)
    ask('ROLLBACK')
    expect(postgres.isInTransaction()).toBe(false)
  })
})
