// Tells whether enquiries can be stored, and logs a line when they cannot, and one when they can again.

import type { Logger } from 'pino'
import { innerError, sqlState } from '../database/errors.ts'
import { propertiesOf } from '../errors.ts'

export type Availability = ReturnType<typeof createAvailability>

/** @param probe tries to store an enquiry */
export function createAvailability(
  log: Pick<Logger, 'error' | 'info'>,
  probe: (isUp: () => boolean) => Promise<unknown>,
) {
  let downSince: number | undefined
  const isUp = () => downSince === undefined

  function worked() {
    if (downSince === undefined) return
    const seconds = Math.round((Date.now() - downSince) / 1000)
    downSince = undefined
    log.info({ seconds }, 'enquiries can be stored again')
  }

  function failed(error: unknown) {
    if (downSince !== undefined) return
    downSince = Date.now()
    // A TypeError is a fault of this program: its stack is logged.
    const fault = error instanceof TypeError && { err: error }
    log.error({ cause: causeOf(error), ...fault }, 'enquiries cannot be stored')
  }

  return { isUp, check: () => probe(isUp).then(worked, failed), failed, worked }
}

/** PostgreSQL's code, or else that of the innermost error; Prisma's adapter calls it its kind. */
function causeOf(error: unknown): string {
  const inner = innerError(error)
  const { code, kind, name } = propertiesOf(error)
  return sqlState(error) ?? (inner ? causeOf(inner) : String(code ?? kind ?? name ?? 'unknown'))
}
