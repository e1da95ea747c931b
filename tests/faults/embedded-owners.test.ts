import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase } from '../../server/open-database.ts'
import { report } from '../support/fault-fixtures.ts'
import { scratch } from '../support/scratch.ts'
import { migrations } from '../support/test-database.ts'

/** Set OWNER_ROUNDS=200 after a change to the lock. */
const ROUNDS = Number(process.env.OWNER_ROUNDS ?? 3)
const STARTER = resolve(import.meta.dirname, '../support/folder-starter.ts')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(scratch, 'quvera-owners-'))
  await (await openDatabase({ dataDir: folder, migrations, migrate: true })).close()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function start(as: 'owner' | 'staff') {
  const child = spawn(process.execPath, ['--expose-gc', STARTER, folder, as], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, said }
}

async function kill(child: ChildProcess) {
  if (child.exitCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** Rows that the owner's socket counts, or why it does not. */
async function askAtSocket(): Promise<unknown> {
  const client = new pg.Client({ host: folder, user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query('SELECT count(*)::int AS rows FROM "Quvera_Lease"')).rows[0].rows
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  } finally {
    await client.end()
  }
}

it.each([
  [2, 0],
  [2, 100],
  [4, 0],
  [4, 100],
])(
  'of %i servers that start within %i ms after one that was killed exactly one has the folder, with its socket',
  async (count, withinMs) => {
    await kill((await start('owner')).child) // which leaves its socket behind
    const wrong: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const delays = Array.from({ length: count }, () => Math.random() * withinMs)
      const starters = await Promise.all(delays.map((ms) => sleep(ms).then(() => start('owner'))))
      const owners = starters.filter(({ said }) => said === 'owner')
      const others = starters.filter(({ said }) => said.startsWith('refused: Another process already uses'))
      const rows = await askAtSocket()
      await Promise.all(starters.map(({ child }) => kill(child)))
      const after = await askAtSocket()
      if (owners.length !== 1 || others.length !== count - 1 || typeof rows !== 'number' || after !== 'ECONNREFUSED')
        wrong.push(`${starters.map(({ said }) => said)}; at the socket ${rows}, then ${after}`)
    }
    report(`${count} starters within ${withinMs} ms`, { rounds: ROUNDS, wrong })
    expect(wrong).toEqual([])
  },
  ROUNDS * 20_000,
)

it('staff commands that come while servers start all work through the one that has the folder', async () => {
  const first = await start('owner')
  const before = Number(await askAtSocket())
  await kill(first.child)
  for (let round = 1; round <= ROUNDS; round++) {
    const starters = await Promise.all((['owner', 'staff', 'owner', 'staff'] as const).map(start))
    const said = starters.map((one) => one.said)
    expect(said.filter((words) => words === 'done')).toHaveLength(2)
    if (said.includes('owner')) expect(await askAtSocket()).toBe(before + 2 * round)
    await Promise.all(starters.map(({ child }) => kill(child)))
  }
})

it(
  'staff commands that come at once where no site runs all do their work',
  async () => {
    const wrong: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const starters = await Promise.all(Array.from({ length: 8 }, () => start('staff')))
      wrong.push(...starters.map(({ said }) => said).filter((words) => words !== 'done'))
    }
    expect(wrong).toEqual([])
  },
  ROUNDS * 40_000,
)
