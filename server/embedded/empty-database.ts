// The build packs an empty database into one file. Unpacking it on the first start takes less time than initdb.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { gunzipSync, gzipSync } from 'node:zlib'
import { openPostgres } from './postgres.ts'

/** A folder has no bytes, and comes before what is in it. */
type Contents = [path: string, bytes: Uint8Array | null][]

export async function packEmptyDatabase(file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'empty-database-'))
  try {
    const postgres = await openPostgres(folder, (reason) => {
      throw new Error(reason)
    })
    await postgres.close()
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    const contents: Contents = entries.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [relative(folder, path), entry.isDirectory() ? null : readFileSync(path)]
    })
    contents.sort(([a], [b]) => (a < b ? -1 : 1))
    writeFileSync(file, gzipSync(serialize(contents), { level: 9 }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function unpackFolder(file: string, folder: string): void {
  for (const [path, bytes] of deserialize(gunzipSync(readFileSync(file))) as Contents) {
    if (bytes) writeFileSync(join(folder, path), bytes, { flag: 'wx', mode: 0o600 })
    else mkdirSync(join(folder, path), { mode: 0o700 })
  }
}

/** All at the same time: the disk needs fewer writes than for one after the other. */
export async function syncTree(folder: string): Promise<void> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  await Promise.all([folder, ...paths.map((path) => join(folder, path))].map(sync))
}

export async function sync(path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
