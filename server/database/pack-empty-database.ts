import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddedPostgres } from './embedded-postgres.ts'
import { packFolder } from './prepared-folder.ts'

/** Makes an embedded database without tables, closes it, and writes its folder into `file`. */
export async function packEmptyDatabase(file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'empty-database-'))
  try {
    const lite = await EmbeddedPostgres.open(folder, (reason) => {
      throw new Error(reason)
    })
    await lite.close()
    packFolder(folder, file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
