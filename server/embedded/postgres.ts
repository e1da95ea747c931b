import { PGlite } from '@electric-sql/pglite'
import { OperatorError } from '../errors.ts'
import { HostFileSystem } from './host-file-system.ts'

const START_PARAMETERS = [
  // -F turns fsync off, -O lets the catalogue be changed.
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F' && parameter !== '-O'),
  ...['-c', 'wal_sync_method=fsync'], // the only method that reaches the file system in WebAssembly
  ...['-c', 'shared_buffers=16MB'], // the operating system caches files as well
  ...['-c', 'timezone=UTC'],
]

/** What it writes to its log when it stops: an abort of the program, or an error that ends the session. */
const STOPPED = /^(?:Aborted\(|(?:[^\]]{0,60}\] )?(?:FATAL|PANIC): )/

/** One megabyte a file of the log instead of sixteen: a new folder is smaller, and a new log file is made sooner. */
const INITDB_PARAMETERS = ['--wal-segsize=1']

/** PostgreSQL compiled to WebAssembly (PGlite), with one session. It executes synchronously, waiting for the disk included. */
export interface Postgres {
  /**
   * Executes complete messages of the wire protocol.
   * @param maxBytes how much of the answer is kept; what is longer comes back as undefined, but is executed
   */
  execute(messages: Uint8Array, maxBytes?: number): { answer: Buffer | undefined; end: Buffer }
  isInTransaction(): boolean
  close(): Promise<void>
}

/**
 * Opens the database in `folder`, or makes one where the folder is empty.
 * @param onAbort called with the reason when PostgreSQL stops for good; only a new thread can open the folder again
 * @throws OperatorError with PostgreSQL's own words
 */
export async function openPostgres(folder: string, onAbort: (reason: string) => void): Promise<Postgres> {
  let lastError = ''
  let isOpen = false
  const lite = new PGlite({
    fs: new HostFileSystem(folder),
    dataDir: folder,
    startParams: START_PARAMETERS,
    initDbStartParams: INITDB_PARAMETERS,
    onStderr(text) {
      if (/(FATAL|PANIC|ERROR): /.test(text)) lastError = text.replace(/^.*?(FATAL|PANIC|ERROR): +/, '')
      if (isOpen && STOPPED.test(text)) onAbort(lastError)
      return false
    },
  })
  try {
    await lite.waitReady
  } catch (error) {
    throw new OperatorError(lastError || String((error as Error).message ?? error), { cause: error })
  }
  isOpen = true

  return {
    execute(messages, maxBytes = Number.POSITIVE_INFINITY) {
      const parts: Buffer[] = []
      let size = 0
      const onRawData = (data: Uint8Array) => {
        const part = Buffer.from(data) // a copy: the memory behind `data` is used again
        size += part.length
        if (size > maxBytes) parts.splice(0, parts.length - 1) // the last two, which hold the end
        parts.push(part)
      }
      // Synchronous: the promise matters only when it rejects.
      lite.execProtocolRawStream(messages, { syncToFs: false, onRawData }).catch((error) => {
        onAbort(error.name === 'ExitStatus' ? 'its session ended' : String(error.message))
      })
      const all = Buffer.concat(parts)
      return { answer: size > maxBytes ? undefined : all, end: all.subarray(-6) }
    },
    isInTransaction: () => lite.isInTransaction(),
    close: () => lite.close(),
  }
}
