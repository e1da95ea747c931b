import { statfsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 2 ** 30

/** Where the databases of tests are: in memory if there is room. */
export const scratch = hasRoom() ? MEMORY : tmpdir()

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ROOM_BYTES
  } catch {
    return false
  }
}

/** An empty folder there, for what several tests share. */
export async function createFolder(prefix: string) {
  const path = await mkdtemp(join(scratch, prefix))
  // Retries: PostgreSQL may write its last files while its site has ended already.
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 }) }
}
