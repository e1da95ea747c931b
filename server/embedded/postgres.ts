// PostgreSQL compiled to WebAssembly (PGlite). Only this file and host-file-system.ts know PGlite.
import { PGlite, protocol } from '@electric-sql/pglite'
import { OperatorError } from '../errors.ts'
import { HostFileSystem } from './host-file-system.ts'

export const { serialize } = protocol
const { DataRowMessage, DatabaseError } = protocol.messages

const START_PARAMETERS = [
  // Without -F, which turns fsync off, and -O, which lets the catalogue be changed.
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F' && parameter !== '-O'),
  ...['-c', 'wal_sync_method=fsync'], // the only method that reaches the file system in WebAssembly
  ...['-c', 'shared_buffers=16MB'], // the operating system caches files as well
  ...['-c', 'timezone=UTC'],
]

/** 1 MB instead of 16 for a file of the write-ahead log: a new database is smaller. */
const INITDB_PARAMETERS = ['--wal-segsize=1']

/**
 * Log lines after which this PGlite cannot be used again: the program aborted, or its only session ended. PGlite swallows
 * both exceptions.
 */
const FATAL_LOG_LINE = /^(?:Aborted\(|(?:[^\]]{0,60}\] )?(?:FATAL|PANIC): )/

/** One session. Everything is executed synchronously, waiting for the disk included. */
export type Postgres = Awaited<ReturnType<typeof openPostgres>>

/**
 * Opens the database in `folder`, or makes one where the folder is empty.
 * @param onAbort called when PostgreSQL stops for good; only a new thread can open the folder again
 */
export async function openPostgres(folder: string, onAbort: (reason: string) => void) {
  let lastError = ''
  let isOpen = false
  const lite = new PGlite({
    fs: new HostFileSystem(folder),
    dataDir: folder,
    startParams: START_PARAMETERS,
    initDbStartParams: INITDB_PARAMETERS,
    onStderr(text) {
      // Once it is open, errors are those of statements, and may quote personal data.
      if ((isOpen ? FATAL_LOG_LINE : /(FATAL|PANIC|ERROR): /).test(text))
        lastError = text.replace(/^.*?(FATAL|PANIC|ERROR): +/, '')
      if (isOpen && FATAL_LOG_LINE.test(text)) onAbort(lastError)
      return false
    },
  })
  try {
    await lite.waitReady
  } catch (error) {
    throw new OperatorError(lastError || String((error as Error).message ?? error), { cause: error })
  }
  isOpen = true
  lastError = ''

  /** @returns undefined where the answer is longer than `maxBytes`, though the messages are executed all the same */
  function execute(messages: Uint8Array, maxBytes = Number.POSITIVE_INFINITY): Buffer | undefined {
    const parts: Buffer[] = []
    let size = 0
    const onRawData = (data: Uint8Array) => {
      size += data.length
      if (size <= maxBytes)
        parts.push(Buffer.from(data)) // a copy: the memory behind `data` is used again
      else parts.length = 0
    }
    // Synchronous: the promise matters only when it rejects.
    lite.execProtocolRawStream(messages, { syncToFs: false, onRawData }).catch((error) => {
      onAbort(error.name === 'ExitStatus' ? 'its session ended' : String(error.message))
    })
    return size > maxBytes ? undefined : Buffer.concat(parts)
  }

  return {
    execute,
    /** Executes SQL of our own, and returns the first column of its rows as text. */
    query(sql: string): string[] {
      const rows: string[] = []
      let failure: Error | undefined
      new protocol.Parser().parse(execute(serialize.query(sql)) ?? Buffer.alloc(0), (message) => {
        if (message instanceof DataRowMessage) rows.push(String(message.fields[0]))
        if (message instanceof DatabaseError) failure ??= message
      })
      if (failure) throw failure
      return rows
    },
    isInTransaction: () => lite.isInTransaction(),
    close: () => lite.close(),
  }
}
