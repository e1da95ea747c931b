import { setImmediate as nextTurn } from 'node:timers/promises'

const BATCH_MAX = 256

interface Waiting<Row, Result> {
  row: Row
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Rows that arrive together are written together, by one statement at a time: those of one turn of the event loop and
 * then, while a statement is under way, those that come meanwhile. Under load that is several times faster than a
 * statement each, and no slower for a row that comes alone.
 * @param write one statement, so one transaction; its result is that of each of its rows
 * @param isRowError whether a failure lies in one of the rows, and not in the database
 */
export function createBatchWriter<Row, Result>(
  write: (rows: Row[]) => Promise<Result>,
  isRowError: (error: unknown) => boolean,
): (row: Row) => Promise<Result> {
  const waiting: Waiting<Row, Result>[] = []
  let running = false

  async function run() {
    if (running) return
    running = true
    try {
      await nextTurn()
      while (waiting.length > 0) await writeBatch(waiting.splice(0, BATCH_MAX))
    } finally {
      running = false
    }
  }

  async function writeBatch(batch: Waiting<Row, Result>[]) {
    try {
      const result = await write(batch.map(({ row }) => row))
      for (const { resolve } of batch) resolve(result)
    } catch (error) {
      if (isRowError(error) && batch.length > 1) await writeOneByOne(batch)
      else if (isRowError(error)) for (const { reject } of batch) reject(error)
      else failAll(batch, error)
    }
  }

  /** A row that is refused must not cost its neighbours. */
  async function writeOneByOne(batch: Waiting<Row, Result>[]) {
    for (const [index, { row, resolve, reject }] of batch.entries()) {
      try {
        resolve(await write([row]))
      } catch (error) {
        if (!isRowError(error)) return failAll(batch.slice(index), error)
        reject(error)
      }
    }
  }

  /** What waits is failed too: each would only learn the same, one time limit later. */
  function failAll(batch: Waiting<Row, Result>[], error: unknown) {
    for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error)
  }

  return (row) =>
    new Promise((resolve, reject) => {
      waiting.push({ row, resolve, reject })
      run()
    })
}
