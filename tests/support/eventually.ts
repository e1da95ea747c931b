import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../server/database/database.ts'

/** Waits until `check` stops throwing or returning false; its last failure is thrown after `timeoutMs`. */
export async function eventually(
  check: () => unknown,
  timeoutMs = Number(process.env.EVENTUALLY_MS ?? 120_000),
): Promise<void> {
  const end = Date.now() + timeoutMs
  for (;;) {
    try {
      if ((await check()) !== false) return
      if (Date.now() > end) throw new Error('The condition did not come true in time')
    } catch (error) {
      if (Date.now() > end) throw error
    }
    await sleep(25)
  }
}

/** Waits until a session of this database waits for a lock that another one has. */
export function untilSomeoneWaits(db: Pick<Db, '$queryRaw'>): Promise<void> {
  return eventually(async () => {
    const waiting = await db.$queryRaw<unknown[]>`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return waiting.length > 0
  })
}
