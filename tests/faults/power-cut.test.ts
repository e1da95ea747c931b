import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deserialize } from 'node:v8'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase, withDatabase } from '../../server/open-database.ts'
import type { TimedEvent } from '../support/disk-recorder.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { report } from '../support/fault-fixtures.ts'
import { sendOrders } from '../support/load.ts'
import { cutPower, type DiskEvent, type DiskFaults } from '../support/power-cut-disk.ts'
import { randomFrom } from '../support/random.ts'
import { scratch } from '../support/scratch.ts'
import { startServer } from '../support/server-process.ts'
import { migrations } from '../support/test-database.ts'

const ORDERS = 400
const CHECKPOINT_AFTER = [100, 250]

let work: string
let root: string
let events: DiskEvent[]

beforeAll(async () => {
  work = await mkdtemp(join(scratch, 'quvera-power-cut-'))
  root = join(work, 'data')
  events = await recordServer()
})
afterAll(() => rm(work, { recursive: true, force: true }))

/** Orders of eight clients at once, mails on their way, checkpoints; from the first start to the end. */
async function recordServer(): Promise<DiskEvent[]> {
  const resend = await startFakeResend()
  const record = join(work, 'record')
  const server = await startServer({
    DATA_DIR: root,
    ...sendingThrough(resend),
    RATE_LIMIT_MAX: '0',
    LOG_LEVEL: 'warn',
    DISK_RECORD: record,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, '../support/disk-recorder.ts')}`,
  })
  try {
    const at = Object.fromEntries(CHECKPOINT_AFTER.map((count) => [count, checkpoint]))
    const load = await sendOrders({ url: () => server.url, orders: ORDERS, concurrency: 8, retry: false, at })
    expect(load.acknowledged.size).toBe(ORDERS)
    await sleep(500)
  } finally {
    await server.stop()
    await resend.close()
  }
  const files = (await readdir(work)).filter((name) => name.startsWith('record.'))
  const threads = await Promise.all(
    files.map(async (name) => deserialize(await readFile(join(work, name))) as TimedEvent[]),
  )
  expect(threads.length).toBeGreaterThan(1)
  return threads.flat().sort((a, b) => (a.at < b.at ? -1 : 1))
}

async function checkpoint() {
  await withDatabase({ DATA_DIR: root }, ({ db }) => db.$executeRaw`CHECKPOINT`)
}

/** What a database that is opened after a power cut lacks, has twice, or why it does not open. */
async function examine(count: number, random: () => number, faults?: DiskFaults) {
  const folder = join(work, 'disk')
  const answered = events.slice(0, count).flatMap((event) => (event.kind === 'answer' ? [event.reference] : []))
  cutPower(events, count, root, folder, random, faults)
  try {
    const { db, close } = await openDatabase({ dataDir: folder, migrations, migrate: true })
    const rows = await db.enquiry.findMany({ select: { reference: true, email: true, mails: true } })
    await close()
    const references = new Set(rows.map((row) => row.reference))
    return {
      opens: true,
      lost: answered.filter((reference) => !references.has(reference)).length,
      doubled: rows.length - new Set(rows.map((row) => row.email)).size,
      withoutMails: rows.filter((row) => row.mails.length !== 2).length,
    }
  } catch (error) {
    return { opens: false, reason: (error as Error).message.slice(0, 200), lost: 0, doubled: 0, withoutMails: 0 }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function examineMany(cuts: number, random: () => number, faults?: DiskFaults) {
  const sum = { cuts, duringFirstStart: 0, doNotOpen: 0, lost: 0, doubled: 0, withoutMails: 0 }
  const reasons = new Set<string>()
  const firstAnswer = events.findIndex(({ kind }) => kind === 'answer')
  for (let cut = 0; cut < cuts; cut++) {
    // A fifth of the cuts fall into the first start, migration included.
    const [from, to] = cut % 5 === 0 ? [0, firstAnswer] : [firstAnswer, events.length]
    const count = Math.floor(from + random() * (to - from))
    const result = await examine(count, random, faults)
    if (count < firstAnswer) sum.duringFirstStart++
    if (!result.opens) sum.doNotOpen++
    if (result.reason) reasons.add(result.reason)
    sum.lost += result.lost
    sum.doubled += result.doubled
    sum.withoutMails += result.withoutMails
  }
  return { ...sum, reasons: [...reasons] }
}

it('a hundred power cuts leave a database that opens, with every order that was answered, once', {
  timeout: 600_000,
}, async () => {
  const seed = Number(process.env.POWER_CUT_SEED ?? Date.now() % 1e9)
  const result = await examineMany(100, randomFrom(seed))
  report('100 power cuts', { seed, events: events.length, ...result })
  expect(result).toMatchObject({ doNotOpen: 0, lost: 0, doubled: 0, withoutMails: 0 })
})

it.each([
  ['files', { ignoresFiles: true }],
  ['folders', { ignoresFolders: true }],
])('power cuts of a disk that does not sync %s are noticed', async (what, faults) => {
  const result = await examineMany(10, randomFrom(1), faults)
  report(`10 power cuts, ${what} not synced`, result)
  expect(result.doNotOpen + result.lost).toBeGreaterThan(0)
})
