const BATCH_MAX = 256

interface Waiting<Row, Result> {
  row: Row
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * One statement is under way at a time, and rows that come meanwhile are written together. Under load that is several
 * times faster than a statement each, and no slower for a row that comes alone. A statement takes half of what waits or
 * was just written: while one half is written, clients with the answers of the other send their next. Without that a
 * fifth fewer orders.
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
      for (let size = 0; waiting.length > 0; ) {
        size = Math.min(BATCH_MAX, Math.ceil((waiting.length + size) / 2))
        await writeBatch(waiting.splice(0, size))
      }
    } finally {
      running = false
    }
  }

  async function writeBatch(batch: Waiting<Row, Result>[]) {
    try {
      const result = await write(batch.map(({ row }) => row))
      if (waiting.length > 0)
        setImmediate(answer, batch, result) // once the next statement is on its way
      else answer(batch, result)
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

  function answer(batch: Waiting<Row, Result>[], result: Result) {
    for (const { resolve } of batch) resolve(result)
  }

  return (row) =>
    new Promise((resolve, reject) => {
      waiting.push({ row, resolve, reject })
      run()
    })
}
