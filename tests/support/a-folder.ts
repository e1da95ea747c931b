import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { atEnd } from './at-end.ts'
import { scratch } from './scratch.ts'

/** An empty folder, which is removed after the test that is running. */
export async function aFolder(prefix: string, parent = scratch): Promise<string> {
  const folder = await mkdtemp(join(parent, prefix))
  atEnd(() => rm(folder, { recursive: true, force: true }))
  return folder
}
