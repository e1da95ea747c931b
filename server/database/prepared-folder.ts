import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { gunzipSync, gzipSync } from 'node:zlib'
import { EmbeddedPostgres } from './embedded-postgres.ts'

/** What is in a folder, by its path in it and parents first; a folder has null. */
type Contents = [path: string, bytes: Uint8Array | null][]

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

/** Writes all that is in `folder` into one file, from which `unpackFolder` makes the same folder elsewhere. */
function packFolder(folder: string, file: string): void {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const contents: Contents = entries.map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [relative(folder, path), entry.isDirectory() ? null : readFileSync(path)]
  })
  contents.sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(file, gzipSync(serialize(contents), { level: 9 }))
}

/** @param folder is there, and empty */
export function unpackFolder(file: string, folder: string): void {
  for (const [path, bytes] of deserialize(gunzipSync(readFileSync(file))) as Contents) {
    if (bytes) writeNew(join(folder, path), bytes)
    else mkdirSync(join(folder, path), { mode: 0o700 })
  }
}

function writeNew(path: string, bytes: Uint8Array) {
  const file = openSync(path, 'wx', 0o600)
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
  } finally {
    closeSync(file)
  }
}

/** Has everything below `folder` on the disk, names included: all at once, which the disk takes as a few writes. */
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
