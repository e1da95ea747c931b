import type { PGlite } from '@electric-sql/pglite'

const CHECKPOINT_LOOK_MS = 15_000
/** So much is read again after a kill, and lies on the disk beside the tables. */
const CHECKPOINT_BYTES = 16 * 2 ** 20
const VACUUM_MS = 24 * 3_600_000

/**
 * Does what a PostgreSQL server does in the background, and one inside a process does not: checkpoints, without which
 * the log of writes grows for ever, and vacuum. Returns what ends it.
 */
export function startUpkeep(lite: PGlite): () => void {
  async function checkpoint() {
    const { rows } = await lite.query<{ due: boolean }>(
      `SELECT pg_current_wal_insert_lsn() - redo_lsn > ${CHECKPOINT_BYTES} AS due FROM pg_control_checkpoint()`,
    )
    if (rows[0]?.due) await lite.query('CHECKPOINT')
  }
  // What cannot be done now, such as on a full disk, is due again later.
  const timers = [
    setInterval(() => checkpoint().catch(() => {}), CHECKPOINT_LOOK_MS),
    setInterval(() => lite.query('VACUUM (ANALYZE)').catch(() => {}), VACUUM_MS),
  ]
  for (const timer of timers) timer.unref()
  return () => {
    for (const timer of timers) clearInterval(timer)
  }
}
