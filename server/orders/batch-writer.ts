/** One statement writes no more rows, because all of them wait for its end. */
const BATCH_MAX = 256

/**
 * Runs one statement at a time for all rows that wait: several times the rate of a statement per row.
 * @param write one transaction; all its rows get its result
 * @param isRowError whether a row caused the failure, and not the database
 */
export function createBatchWriter<Row, Result>(
  write: (rows: Row[]) => Promise<Result>,
  isRowError: (error: unknown) => boolean,
): (row: Row) => Promise<Result> {
  const waiting: { row: Row; resolve(result: Result): void; reject(error: unknown): void }[] = []
  let alone = 0 // so many rows go one by one, as one of them made their batch fail

  async function writeAll() {
    const batch = waiting.slice(0, alone > 0 ? 1 : BATCH_MAX)
    if (alone > 0) alone--
    try {
      const result = await write(batch.map(({ row }) => row))
      for (const { resolve } of waiting.splice(0, batch.length)) resolve(result)
    } catch (error) {
      const isOfRow = isRowError(error)
      if (isOfRow && batch.length > 1) alone = batch.length
      else if (isOfRow) waiting.shift()?.reject(error)
      // The database failed: the waiting rows would fail too, each after a time limit of its own.
      else for (const { reject } of waiting.splice(0)) reject(error)
      if (!isOfRow) alone = 0
    }
    if (waiting.length > 0) writeAll()
  }
  return (row) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ row, resolve, reject }) === 1) writeAll()
    })
}
