// A power cut leaves a database that opens, with every answered order in it once.
// The simulated disk needs root and mounts.
import { execFile } from 'node:child_process'
import { appendFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { openForSite } from '../../server/database/open.ts'
import { aFolder } from '../support/a-folder.ts'
import { submit } from '../support/an-order.ts'
import { atEnd } from '../support/at-end.ts'
import { lockHolders } from '../support/embedded-site.ts'
import { eventually } from '../support/eventually.ts'
import { report } from '../support/fault-fixtures.ts'
import { aUniqueOrder } from '../support/load.ts'
import { scratch } from '../support/scratch.ts'
import { startServer } from '../support/server-process.ts'
import { migrations } from '../support/test-database.ts'

/** Stops all processes of an embedded database at one moment. Returns a function that lets them go on. */
async function freeze(dataDir: string): Promise<() => void> {
  const stopped = new Set<number>()
  const signalAll = (pids: Iterable<number>, signal: NodeJS.Signals) => {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, signal)
  }
  // Until all are stopped, they may start others.
  while (true) {
    const found = (await lockHolders(dataDir)).filter((pid) => !stopped.has(pid))
    if (found.length === 0) return () => signalAll(stopped, 'SIGCONT')
    signalAll(found, 'SIGSTOP')
    for (const pid of found) stopped.add(pid)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/*
 * The disk is a file with an ext4 file system, mounted as a loop device. What a process has written and not synced is in
 * the kernel's memory and not in that file, so a copy of the file is what a power cut leaves. The file system itself syncs
 * only after minutes (commit=), and PostgreSQL is stopped while the file is copied, so that the copy is of one moment. The
 * disk is one that keeps what the kernel has given to it.
 */

const run = promisify(execFile)
const CUTS = 10
const CLIENTS = 4

async function mount(image: string, folder: string) {
  await mkdir(folder, { recursive: true })
  await run('mount', ['-o', 'loop,commit=600', image, folder])
}

/** An empty disk. */
async function aDisk() {
  const work = await aFolder('quvera-power-cut-', scratch)
  const [image, root] = [join(work, 'disk'), join(work, 'mounted')]
  await run('truncate', ['-s', '600M', image])
  await run('mkfs.ext4', ['-q', '-m', '0', image])
  await mount(image, root)
  atEnd(() => run('umount', [root]))
  return { work, image, root, dataDir: join(root, 'data') }
}

type Disk = Awaited<ReturnType<typeof aDisk>>

/** Cuts the power: copies the disk. Returns the copy, and what had been confirmed before. */
async function cutPower({ work, image, dataDir }: Disk, answered: Iterable<string>) {
  const goOn = await freeze(dataDir)
  const confirmed = [...answered]
  const copy = join(work, 'copy')
  await run('cp', ['--sparse=always', image, copy])
  goOn()
  return { copy, confirmed }
}

/** What a database that is opened after a power cut lacks, has twice, or why it does not open. */
async function examine({ work }: Disk, { copy, confirmed }: Awaited<ReturnType<typeof cutPower>>) {
  const folder = join(work, 'after')
  await mount(copy, folder)
  try {
    const { db, close } = await openForSite({ dataDir: join(folder, 'data'), migrations })
    const rows = await db.enquiry.findMany({ select: { reference: true, email: true, mails: true } }).finally(close)
    const references = new Set(rows.map(({ reference }) => reference))
    return {
      lost: confirmed.filter((reference) => !references.has(reference)).length,
      doubled: rows.length - new Set(rows.map(({ email }) => email)).size,
      withoutMails: rows.filter(({ mails }) => mails.length !== 2).length,
    }
  } catch (error) {
    return { reason: (error as Error).message }
  } finally {
    await run('umount', [folder])
    await rm(copy)
  }
}

/** Cuts at random moments while orders come in. */
async function cutUnderLoad(disk: Disk, cuts: number) {
  const server = await startServer({ DATA_DIR: disk.dataDir, RATE_LIMIT_MAX: '0', LOG_LEVEL: 'error' })
  let isOver = false
  atEnd(async () => {
    isOver = true
    await server.stop('SIGKILL')
    await eventually(async () => expect(await lockHolders(disk.dataDir)).toEqual([])) // it keeps the disk busy
  })
  const answered = new Set<string>()
  async function keepOrdering() {
    while (!isOver) {
      const { reference } = await submit(server.url, aUniqueOrder()).catch(() => ({ reference: undefined }))
      if (reference) answered.add(reference)
      await sleep(20)
    }
  }
  const clients = Array.from({ length: CLIENTS }, keepOrdering)
  await eventually(() => expect(answered.size).toBeGreaterThan(20))
  const sum = { cuts, lost: 0, doubled: 0, withoutMails: 0 }
  const doNotOpen: string[] = []
  for (let done = 0; done < cuts; done++) {
    await sleep(Math.random() * 200)
    const found = await examine(disk, await cutPower(disk, answered))
    if (found.reason !== undefined) doNotOpen.push(found.reason)
    else for (const key of ['lost', 'doubled', 'withoutMails'] as const) sum[key] += found[key]
  }
  isOver = true
  await Promise.all(clients)
  return { ...sum, doNotOpen, orders: answered.size }
}

describe.skipIf(process.getuid?.() !== 0)('power cuts', { timeout: 900_000 }, () => {
  it(`${CUTS} under load leave a database that opens, with every order that was answered, once`, async () => {
    const result = await cutUnderLoad(await aDisk(), CUTS)
    report(`${CUTS} power cuts`, result)
    expect(result).toMatchObject({ lost: 0, doubled: 0, withoutMails: 0, doNotOpen: [] })
  })

  it('5 are noticed where PostgreSQL does not sync', async () => {
    const disk = await aDisk()
    const first = await startServer({ DATA_DIR: disk.dataDir })
    await first.stop()
    await appendFile(join(disk.dataDir, 'postgres/postgresql.auto.conf'), 'fsync = off\n')
    await run('sync', ['--file-system', disk.root])
    const result = await cutUnderLoad(disk, 5)
    report('5 power cuts, PostgreSQL without fsync', result)
    expect(result.lost + result.doNotOpen.length).toBeGreaterThan(0)
  })
})
