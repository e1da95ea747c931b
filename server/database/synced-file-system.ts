import { fdatasyncSync, fstatSync, fsyncSync, renameSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

type Options = Parameters<NodeFS['init']>[1]
type Module = Parameters<NonNullable<Options['preRun']>[number]>[0]

/** Rights of the group and of everybody else. */
const OTHER_USERS = 0o077

interface Node {
  name: string
}

interface Attributes {
  mode?: number
}

/** What of Emscripten's view of the host's files is set right here. */
interface HostFiles {
  realPath(node: Node): string
  /** Turns what Node throws into what PostgreSQL understands. */
  tryFSOperation(operation: () => void): void
  node_ops: {
    rename(node: Node, folder: Node, name: string): void
    setattr(node: Node, attributes: Attributes): void
  }
  stream_ops: { fsync(stream: { nfd: number }): number }
}

/**
 * Files of the host that reach the disk when PostgreSQL asks for it: PGlite's own file system has no `fsync`, and takes
 * the target away before it renames, so that a power cut between the two would leave neither file. They are this
 * user's alone.
 */
export class SyncedFileSystem extends NodeFS {
  override async init(lite: PGlite, options: Options) {
    const result = await super.init(lite, options)
    result.emscriptenOpts.preRun?.push((module: Module) => {
      const files = (module.FS as unknown as { filesystems: { NODEFS: HostFiles } }).filesystems.NODEFS
      files.stream_ops.fsync = ({ nfd }) => {
        files.tryFSOperation(() => (fstatSync(nfd).isDirectory() ? fsyncSync(nfd) : fdatasyncSync(nfd)))
        return 0
      }
      files.node_ops.rename = (node, folder, name) => {
        files.tryFSOperation(() => renameSync(files.realPath(node), resolve(files.realPath(folder), name)))
        node.name = name
      }
      const { setattr } = files.node_ops
      files.node_ops.setattr = (node, { mode, ...others }) =>
        setattr(node, mode === undefined ? others : { ...others, mode: mode & ~OTHER_USERS })
    })
    return result
  }
}
