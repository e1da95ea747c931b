import { readdir, readFile, readlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { aFolder } from './a-folder.ts'
import { atEnd } from './at-end.ts'
import { audit, expectNothingLost } from './audit.ts'
import { eventually } from './eventually.ts'
import { sendingThrough, startFakeResend } from './fake-resend.ts'
import type { LoadResult } from './load.ts'
import { freePort, type ServerProcess, startServer } from './server-process.ts'
import { onDatabase } from './stored-enquiry.ts'

/** The processes that have the lock of an embedded database, which all of PostgreSQL's processes inherit. */
export async function lockHolders(dataDir: string): Promise<number[]> {
  const lock = join(dataDir, 'owner.lock')
  const pids = (await readdir('/proc')).map(Number).filter(Boolean)
  const holders = await Promise.all(
    pids.map(async (pid) => {
      const files = await readdir(`/proc/${pid}/fd`).catch(() => [])
      const open = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')))
      return open.includes(lock) ? [pid] : []
    }),
  )
  return holders.flat()
}

/** PostgreSQL's main process. */
export async function readPostmaster(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

/** A site on an embedded database of its own, with a fake Resend. It keeps its address when it is started again. */
export async function anEmbeddedSite(parent?: string) {
  const dataDir = join(await aFolder('quvera-faults-', parent ?? tmpdir()), 'data')
  const resend = await startFakeResend()
  atEnd(resend.close)
  const PORT = String(await freePort())
  const env = {
    PORT,
    DATA_DIR: dataDir,
    ...sendingThrough(resend),
    RATE_LIMIT_MAX: '0',
    LOG_LEVEL: 'warn',
    MAIL_LEASE_SECONDS: '2',
    MAIL_RETRY_SECONDS: '1',
  }
  let server: ServerProcess | undefined
  const site = {
    url: `http://127.0.0.1:${PORT}`,
    env,
    dataDir,
    async start() {
      server = await startServer(env)
      return server
    },
    /** Kills the site. Returns after how many milliseconds PostgreSQL has ended too. */
    async kill() {
      await server?.stop('SIGKILL')
      const killed = performance.now()
      await eventually(async () => (await lockHolders(dataDir)).length === 0)
      return performance.now() - killed
    },
    /** Waits until all mails are sent, and expects what clients were told. */
    async expectNothingLost(load: Pick<LoadResult, 'sent' | 'acknowledged'>) {
      const result = await onDatabase({ DATA_DIR: dataDir }, (db) => audit(db, load, resend))
      expectNothingLost(result)
      return result
    },
  }
  atEnd(site.kill)
  return site
}

/** Requests a page all the time. Returns a function that ends this, and tells what was answered. */
export function watchPages(url: string) {
  const seen = { pages: 0, pagesFailed: 0, slowestPageMs: 0 }
  let isOver = false
  async function watch() {
    while (!isOver) {
      const start = performance.now()
      const isOk = await fetch(url).then(
        async (answer) => answer.ok && (await answer.text()).includes('<h1'),
        () => false,
      )
      seen.pages++
      if (!isOk) seen.pagesFailed++
      seen.slowestPageMs = Math.max(seen.slowestPageMs, Math.round(performance.now() - start))
      await sleep(20)
    }
    return seen
  }
  const watching = watch()
  return () => {
    isOver = true
    return watching
  }
}

/** Orders were stored or refused as "database away", and nothing else. */
export function expectStoredOrRefused({ statuses }: LoadResult): void {
  expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([])
}
