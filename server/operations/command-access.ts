import { hostname, userInfo } from 'node:os'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { describeFailure } from '../errors.ts'
import type { Terminal } from '../terminal.ts'
import { listReferences } from './access-log.ts'

/**
 * Records that a command shows, exports, changes or erases people's data. Where the line cannot be written, as on a read
 * replica or a full disk, the command says so and goes on.
 * @param what the references, or how many rows of what; nothing about a person
 */
export async function writeAccessLine(
  { command, env, errors }: { command: string } & Pick<Terminal, 'env' | 'errors'>,
  db: Pick<Db, 'access'>,
  what: string | { reference: string }[],
): Promise<void> {
  const data = { who: userOf(env()), command, what: typeof what === 'string' ? what : listReferences(what) }
  await db.access.createMany({ data }).catch((error) => {
    errors.write(`This access could not be recorded in the access log (Quvera_Access): ${describeFailure(error)}\n`)
  })
}

/** STAFF_NAME or the user, and the machine. Not verified. */
function userOf({ STAFF_NAME }: Pick<Env, 'STAFF_NAME'>): string {
  return `${STAFF_NAME ?? userName()}@${hostname()}`
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}
