import type { Db } from '../database/database.ts'
import { DeskRefusal } from './refusal.ts'

/** @throws DeskRefusal where the line cannot be written, as on a full disk: then nothing is shown or changed */
export async function recordAccess(
  db: Pick<Db, 'access'>,
  line: { who: string; command: string; what: string },
): Promise<void> {
  await db.access.createMany({ data: line }).catch((cause) => {
    throw new DeskRefusal('unavailable', 'The access log cannot be written, so nothing is shown or changed.', { cause })
  })
}
