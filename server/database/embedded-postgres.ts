import { randomBytes } from 'node:crypto'
import { existsSync, fdatasyncSync, fstatSync, fsyncSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { OperatorError } from '../errors.ts'
import { RESERVE } from './data-folder.ts'

const MEGABYTE = 2 ** 20
/**
 * What PostgreSQL may need at once for its log and its tables: when the log cannot be written it gives up altogether.
 * Below it nothing is stored any more. Reading and erasing, which write little to the log, have the reserve: a file
 * that goes when they need its room.
 */
const ROOM_BYTES = 64 * MEGABYTE
const RESERVE_BYTES = 16 * MEGABYTE
const LEAST_BYTES = 8 * MEGABYTE
const ROOM_REMEMBERED_MS = 100
/** What statements that need more of the disk have in them. */
const GROWS = /\b(insert|update|merge|create|alter|vacuum|analyze|reindex|cluster|refresh|setval|nextval)\b/i
const FAIL = Buffer.from('Q\0\0\0\x26DO $$BEGIN RAISE disk_full; END$$\0')

/** PostgreSQL's codes for a full disk, and for what is held by somebody else. */
const DISK_FULL = '53100'
const HELD = '55P03'
/** Messages with a statement in them, in the simple and in the extended protocol. */
const STATEMENTS = new Set([0x51, 0x50])

const START_PARAMETERS = [
  // -F turns fsync off, -O lets the catalogue be changed.
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F' && parameter !== '-O'),
  ...['-c', 'wal_sync_method=fsync'], // the only one that reaches the file system: WebAssembly's fdatasync does nothing
  ...['-c', 'shared_buffers=16MB'], // the operating system remembers files as well
]

/** One megabyte a file of the log instead of sixteen: a new folder is smaller, and a new file made sooner. */
const INITDB_PARAMETERS = ['--wal-segsize=1']

export class EmbeddedPostgres extends PGlite {
  #folder: string
  #roomAskedAt = Number.NEGATIVE_INFINITY
  #room = Number.POSITIVE_INFINITY
  #onAbort: (reason: string) => void
  /** How long this process waits for the session while a client has it: as long as it takes unless set. */
  patienceMs: number | undefined

  constructor(folder: string, onAbort: (reason: string) => void, options: PGliteOptions) {
    super(options)
    this.#folder = folder
    this.#onAbort = onAbort
  }

  /**
   * Opens the database in `folder`, or makes one there.
   * @param onAbort told why PostgreSQL gave up, after which this process can do nothing with it
   * @throws OperatorError with PostgreSQL's own words
   */
  static async open(folder: string, onAbort: (reason: string) => void): Promise<EmbeddedPostgres> {
    // V8 would compile the busiest functions once more, at the cost of half a gigabyte for some seconds.
    for (const flag of ['--no-wasm-dynamic-tiering', '--no-wasm-tier-up']) setFlagsFromString(flag)
    let words = ''
    let isOpen = false
    const lite = new EmbeddedPostgres(folder, onAbort, {
      fs: new HostFileSystem(folder),
      dataDir: folder,
      startParams: START_PARAMETERS,
      initDbStartParams: INITDB_PARAMETERS,
      onStderr(text) {
        if (/(FATAL|PANIC|ERROR): /.test(text)) words = text.replace(/^.*?(FATAL|PANIC|ERROR): +/, '')
        if (isOpen && text.startsWith('Aborted(')) onAbort(words)
        return false
      },
    })
    try {
      await lite.waitReady
    } catch (error) {
      throw new OperatorError(words || String((error as Error).message ?? error), { cause: error })
    }
    isOpen = true
    return lite
  }

  /** All of this process wait here for the session. What was given up is not done later. */
  override _runExclusiveTransaction<T>(work: () => Promise<T>): Promise<T> {
    const { patienceMs } = this
    if (!patienceMs) return this.takeTurn(work)
    return new Promise((done, fail) => {
      let isGivenUp = false
      const timer = setTimeout(() => {
        isGivenUp = true
        fail(Object.assign(new Error('a client holds the session'), { code: HELD, severity: 'ERROR' }))
      }, patienceMs)
      this.takeTurn(async () => {
        clearTimeout(timer)
        if (!isGivenUp) await work().then(done, fail)
      }).catch(fail)
    })
  }

  /** Has the session for all of `work`, however long others had it before. */
  takeTurn<T>(work: () => Promise<T>): Promise<T> {
    return super._runExclusiveTransaction(work)
  }

  /** All ways to ask lead through here. */
  override async execProtocolRaw(...[message, options]: Parameters<PGlite['execProtocolRaw']>) {
    if (STATEMENTS.has(message[0] ?? 0) && !this.#hasRoomFor(message)) {
      if (this.isInTransaction()) await super.execProtocolRaw(FAIL)
      const text = `less than ${ROOM_BYTES / MEGABYTE} MB are free on the disk of ${this.#folder}: nothing can be stored there until there is room`
      throw Object.assign(new Error(text), { code: DISK_FULL, severity: 'ERROR' })
    }
    try {
      return await super.execProtocolRaw(message, options)
    } catch (error) {
      if ((error as Error).name === 'ExitStatus') this.#onAbort('its session ended')
      throw error
    }
  }

  #hasRoomFor(statement: Uint8Array): boolean {
    const now = performance.now()
    // What a transaction has begun with holds to its end.
    if (now - this.#roomAskedAt > ROOM_REMEMBERED_MS && !this.isInTransaction()) {
      this.#roomAskedAt = now
      this.#room = roomIn(this.#folder)
    }
    if (this.#room >= ROOM_BYTES) return true
    if (GROWS.test(Buffer.from(statement).toString('latin1'))) return false
    if (this.#room < LEAST_BYTES) {
      rmSync(reserveOf(this.#folder), { force: true })
      this.#room = roomIn(this.#folder)
    }
    return this.#room >= LEAST_BYTES
  }
}

function reserveOf(folder: string): string {
  return join(dirname(folder), RESERVE)
}

/** Sets room aside, where there is enough, for when there is none. */
export async function keepReserve(folder: string): Promise<void> {
  const reserve = reserveOf(folder)
  let size = existsSync(reserve) ? statSync(reserve).size : 0
  if (roomIn(folder) < ROOM_BYTES + RESERVE_BYTES - size) return
  // Of bytes that no file system packs.
  for (; size < RESERVE_BYTES; size += MEGABYTE) await appendFile(reserve, randomBytes(MEGABYTE))
}

function roomIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** @throws OperatorError where PostgreSQL would have to give up soon */
export function expectRoom(folder: string): void {
  const room = roomIn(folder)
  if (room >= ROOM_BYTES) return
  throw new OperatorError(
    `Only ${Math.floor(room / MEGABYTE)} MB are free on the disk of ${folder}: the embedded database begins nothing below ${ROOM_BYTES / MEGABYTE} MB. Make room, and start again.`,
  )
}

type Options = Parameters<NodeFS['init']>[1]
type Module = Parameters<NonNullable<Options['preRun']>[number]>[0]

/** What of Emscripten's view of the host's files is set right here. */
interface HostFiles {
  realPath(node: object): string
  /** Turns what Node throws into what PostgreSQL understands. */
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
 * Files of the host that reach the disk when PostgreSQL asks for it: PGlite's own file system has no `fsync`, and takes
 * the target away before it renames, so that a power cut between the two would leave neither file. They are this
 * user's alone. And no alarm clock: what PostgreSQL does when a limit of time has passed ends its only session.
 */
class HostFileSystem extends NodeFS {
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
        setattr(node, mode === undefined ? others : { ...others, mode: mode & ~0o077 })
    })
    return result
  }
}
