// Reaches into internals of Emscripten and PGlite.
import { fdatasyncSync, fstatSync, fsyncSync, renameSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

type Options = Parameters<NodeFS['init']>[1]
type Module = Parameters<NonNullable<Options['preRun']>[number]>[0]

/** The parts of Emscripten's NODEFS that are replaced here. tests/server/embedded-postgres.test.ts fails when they change. */
interface NodeFiles {
  realPath(node: object): string
  /** Turns errors of Node into error numbers for PostgreSQL. */
  tryFSOperation(operation: () => void): void
  node_ops: {
    rename(node: { name: string }, folder: object, name: string): void
    setattr(node: object, attributes: { mode?: number }): void
  }
  stream_ops: { fsync(stream: { nfd: number }): number }
}

interface Instantiation {
  instantiateWasm(imports: { env: Record<string, unknown> }, done: unknown): object
}

/**
 * PGlite's file system, with what that lacks: `fsync` reaches the disk, `rename` replaces its target in one step (PGlite deletes the
 * target first), and only this user may read the files. PostgreSQL's timer is off, because a time limit that is exceeded
 * ends PGlite's only session.
 */
export class HostFileSystem extends NodeFS {
  override async init(lite: PGlite, options: Options) {
    const result = await super.init(lite, options)
    const { instantiateWasm } = result.emscriptenOpts as Instantiation
    Object.assign(result.emscriptenOpts, {
      instantiateWasm(...[imports, done]: Parameters<typeof instantiateWasm>) {
        imports.env._setitimer_js = () => 0
        return instantiateWasm(imports, done)
      },
    })
    result.emscriptenOpts.preRun?.push((module: Module) => {
      const files = (module.FS as unknown as { filesystems: { NODEFS: NodeFiles } }).filesystems.NODEFS
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
        setattr(node, mode === undefined ? others : { ...others, mode: mode & ~0o077 })
    })
    return result
  }
}
