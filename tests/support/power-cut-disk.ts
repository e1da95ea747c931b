import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** What a process did to the disk, in order. `file` is an opened file: several may be the same one. */
export type DiskEvent =
  | { kind: 'open'; path: string; file: number }
  | { kind: 'write'; file: number; position: number; bytes: Buffer }
  | { kind: 'truncate'; file: number; size: number }
  | { kind: 'sync-begun'; file: number }
  | { kind: 'sync'; file: number; isAsync?: boolean }
  | { kind: 'mkdir' | 'remove'; path: string }
  | { kind: 'rename'; path: string; to: string }
  | { kind: 'answer'; reference: string }

const PAGE = 4096

/** A file or a folder, whatever its name. */
interface Inode {
  /** Changes since the file was made; those before `syncedTo` are on the disk. */
  changes: ({ position: number; bytes: Buffer; at: number } | { size: number; at: number })[]
  syncedTo: number
  /** For a folder: the changes of its names in order; the first `kept` are on the disk. */
  names?: { names: Record<string, Inode | undefined>; at: number }[]
  kept: number
  /** The folder in which this has a name. */
  parent?: Inode
}

export interface DiskFaults {
  /** The disk says that files are synced, and they are not. */
  ignoresFiles?: boolean
  /** The same of folders: names that were synced may be lost. */
  ignoresFolders?: boolean
}

/**
 * Rebuilds in `target` what a disk may hold of `root` when the power is cut after `count` events. What was synced is
 * there. Of each file's other pages any may be there or not; of each folder's other changes of names, the first ones
 * up to any. A file that is synced keeps its name too, as on ext4, XFS and Btrfs.
 */
export function cutPower(
  events: DiskEvent[],
  count: number,
  root: string,
  target: string,
  random: () => number,
  faults: DiskFaults = {},
): void {
  const top: Inode = newInode(true)
  const opened = new Map<number, Inode>()
  const begun = new Map<number, number>()

  function find(path: string): Inode | undefined {
    const parts = path.slice(root.length).split('/').filter(Boolean)
    return parts.reduce<Inode | undefined>((folder, name) => folder && current(folder, name), top)
  }
  function setName(path: string, inode: Inode | undefined, at: number, old?: string) {
    const folder = find(dirname(path))
    if (!folder?.names || (old && dirname(old) !== dirname(path))) throw new Error(`No folder for ${path}`)
    folder.names.push({ names: { ...(old && { [basename(old)]: undefined }), [basename(path)]: inode }, at })
    if (inode) inode.parent = folder
  }
  function sync(inode: Inode, until: number) {
    if (inode.names ? faults.ignoresFolders : faults.ignoresFiles) return
    inode.syncedTo = until
    if (inode.names) inode.kept = inode.names.filter(({ at }) => at < until).length
    const { parent } = inode
    if (!parent?.names || inode.names) return
    const named = parent.names.findLastIndex(({ names, at }) => at < until && Object.values(names).includes(inode))
    parent.kept = Math.max(parent.kept, named + 1)
  }

  for (const [at, event] of events.slice(0, count).entries()) {
    if (event.kind === 'open') {
      if (event.path === root) opened.set(event.file, top)
      else {
        const inode = find(event.path) ?? newInode(false)
        if (!find(event.path)) setName(event.path, inode, at)
        opened.set(event.file, inode)
      }
    } else if (event.kind === 'write') {
      opened.get(event.file)?.changes.push({ position: event.position, bytes: event.bytes, at })
    } else if (event.kind === 'truncate') {
      opened.get(event.file)?.changes.push({ size: event.size, at })
    } else if (event.kind === 'sync-begun') {
      begun.set(event.file, at + 1)
    } else if (event.kind === 'sync') {
      const inode = opened.get(event.file)
      if (inode) sync(inode, event.isAsync ? (begun.get(event.file) ?? at) : at)
    } else if (event.kind === 'mkdir') {
      if (event.path !== root && !find(event.path)) setName(event.path, newInode(true), at)
    } else if (event.kind === 'remove') {
      if (find(event.path)) setName(event.path, undefined, at)
    } else if (event.kind === 'rename') {
      setName(event.to, find(event.path), at, event.path)
    }
  }
  writeFolder(top, target, random)
}

function newInode(isFolder: boolean): Inode {
  return { changes: [], syncedTo: -1, kept: 0, ...(isFolder && { names: [] }) }
}

function current(folder: Inode, name: string): Inode | undefined {
  return folder.names?.findLast(({ names }) => name in names)?.names[name]
}

function writeFolder(folder: Inode, path: string, random: () => number) {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const all = folder.names ?? []
  const kept = folder.kept + Math.floor(random() * (all.length - folder.kept + 1))
  const names = Object.assign({}, ...all.slice(0, kept).map((change) => change.names)) as Record<
    string,
    Inode | undefined
  >
  for (const [name, inode] of Object.entries(names)) {
    if (inode?.names) writeFolder(inode, join(path, name), random)
    else if (inode) writeFileSync(join(path, name), contentOf(inode, random), { mode: 0o600 })
  }
}

function contentOf({ changes, syncedTo }: Inode, random: () => number): Buffer {
  const ends = changes.map((change) => ('size' in change ? change.size : change.position + change.bytes.length))
  const content = Buffer.alloc(Math.max(0, ...ends))
  let size = 0
  for (const change of changes) {
    const isKept = () => change.at < syncedTo || random() < 0.5
    if ('size' in change) {
      if (!isKept()) continue
      content.fill(0, change.size)
      size = change.size
      continue
    }
    const { position, bytes } = change
    for (let from = 0; from < bytes.length; ) {
      const to = Math.min(bytes.length, from + PAGE - ((position + from) % PAGE))
      if (isKept()) {
        bytes.copy(content, position + from, from, to)
        size = Math.max(size, position + to)
      }
      from = to
    }
  }
  return content.subarray(0, size)
}
