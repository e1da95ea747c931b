// Tells whether enquiries can be stored, and writes one log line when they cannot and one when they can again.
import type { Logger } from 'pino'

export interface Availability {
  isUp(): boolean
  /** Called when something could not be stored. */
  failed(error: unknown): void
  /** Called when something was stored. */
  worked(): void
  close(): void
}

const PROBE_MS = 2000

/** @param probe tries to store something; called every two seconds while the database is away */
export function createAvailability(log: Pick<Logger, 'error' | 'info'>, probe: () => Promise<unknown>): Availability {
  let downSince: number | undefined
  let timer: NodeJS.Timeout | undefined

  function worked() {
    if (downSince === undefined) return
    const seconds = Math.round((Date.now() - downSince) / 1000)
    downSince = undefined
    clearTimeout(timer)
    log.info({ seconds }, 'enquiries can be stored again')
  }

  function probeLater() {
    timer = setTimeout(() => probe().then(worked, probeLater), PROBE_MS).unref()
  }

  return {
    isUp: () => downSince === undefined,
    failed(error) {
      if (downSince !== undefined) return
      downSince = Date.now()
      log.error({ err: error }, 'the database is away: enquiries cannot be stored')
      probeLater()
    },
    worked,
    close: () => clearTimeout(timer),
  }
}
