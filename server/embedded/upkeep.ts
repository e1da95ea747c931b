// Checkpoints and vacuum: PGlite has no background processes that do them.
import { type DiskSpace, REWRITE_MAX_BYTES } from './disk-space.ts'
import type { Postgres } from './postgres.ts'
import type { Turns } from './turns.ts'

const CHECK_MS = 15_000
/** At most about this much of the write-ahead log is read again after a kill. */
const CHECKPOINT_BYTES = 16 * 2 ** 20
const FIRST_VACUUM_MS = 3_600_000
const VACUUM_MS = 24 * 3_600_000

const IS_CHECKPOINT_DUE = `SELECT pg_current_wal_insert_lsn() - redo_lsn > ${CHECKPOINT_BYTES} FROM pg_control_checkpoint()`
/** A larger table is vacuumed and not rewritten, as orders would wait for too long. */
const VACUUMS = `
  SELECT format('VACUUM (%sANALYZE) %s', CASE WHEN pg_total_relation_size(oid) <= ${REWRITE_MAX_BYTES} THEN 'FULL, ' END, oid::regclass)
  FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`

export function startUpkeep(postgres: Postgres, turns: Turns, disk: DiskSpace): () => Promise<void> {
  let working: Promise<unknown> = Promise.resolve()

  function query(sql: string): Promise<string[]> {
    return turns.take(() => {
      if (!disk.isEnoughFor(Buffer.from(sql), false)) throw new Error(disk.message)
      turns.liftTimeLimit()
      return postgres.query(sql)
    })
  }

  async function checkpointIfDue() {
    await disk.keepReserve().catch(() => {}) // checkpoints go on without it
    const [isDue] = await query(IS_CHECKPOINT_DUE)
    if (isDue === 't') await query('CHECKPOINT')
  }

  /** Rewrites the tables, so that nothing of an erased row stays in their files. Orders may come between two tables. */
  async function vacuum() {
    if (!disk.isEnoughToRewrite()) return
    for (const sql of await query(VACUUMS)) await query(sql).catch(() => {})
    await query('CHECKPOINT')
  }

  // What fails, as on a full disk, is tried again the next time.
  const run = (work: () => Promise<void>) => () => {
    working = working.then(work).catch(() => {})
  }
  const timers = [
    setTimeout(run(checkpointIfDue), 1000),
    setInterval(run(checkpointIfDue), CHECK_MS),
    setTimeout(run(vacuum), FIRST_VACUUM_MS),
    setInterval(run(vacuum), VACUUM_MS),
  ]
  return async () => {
    for (const timer of timers) clearInterval(timer)
    await working
  }
}
