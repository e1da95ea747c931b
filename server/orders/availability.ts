// Tells whether enquiries can be stored, and logs a line when they cannot, and one when they can again.

import type { Logger } from 'pino'
import { innerError, reasonOf, sqlState } from '../database/errors.ts'
import { propertiesOf } from '../errors.ts'
import type { Probes } from './probes.ts'

export type Availability = ReturnType<typeof createAvailability>

/** For so long a stored order, or a probe, says that the next one can be stored. */
const KNOWN_MS = 10_000

/** Known from orders. Where there are none it is asked: thoroughly until one could be stored, lightly after that. */
export function createAvailability(log: Pick<Logger, 'error' | 'info'>, probes: Probes) {
  let state: 'unknown' | 'up' | 'down' = 'unknown'
  let downSince = 0
  let reason: string | undefined
  let knownAt = Number.NEGATIVE_INFINITY
  const isUp = () => state !== 'down'

  function worked() {
    if (state === 'down') {
      const seconds = Math.round((performance.now() - downSince) / 1000)
      log.info({ seconds }, 'enquiries can be stored again')
    }
    state = 'up'
    knownAt = performance.now()
  }

  const withReason = (said: string) => (reason ? `${said}: ${reason}` : said)

  function failed(error: unknown) {
    reason = reasonOf(error)
    if (state === 'down') return
    state = 'down'
    downSince = performance.now()
    // A TypeError is a fault of this program: its stack is logged.
    const fault = error instanceof TypeError && { err: error }
    log.error({ cause: causeOf(error), ...fault }, withReason('enquiries cannot be stored'))
  }

  async function check(): Promise<void> {
    if (state === 'up' && performance.now() - knownAt < KNOWN_MS) return
    const probe = state === 'up' ? probes.write : probes.store
    await probe(isUp).then(worked, failed)
  }

  return { isUp, check, failed, worked, withReason }
}

/** PostgreSQL's code, or else that of the innermost error; Prisma's adapter calls it its kind. */
function causeOf(error: unknown): string {
  const inner = innerError(error)
  const { code, kind, name } = propertiesOf(error)
  return sqlState(error) ?? (inner ? causeOf(inner) : String(code ?? kind ?? name ?? 'unknown'))
}
