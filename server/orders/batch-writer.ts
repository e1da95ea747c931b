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
  let rowsToWriteAlone = 0 // one of them made their batch fail

  async function writeAll() {
    const batch = waiting.slice(0, rowsToWriteAlone > 0 ? 1 : BATCH_MAX)
    if (rowsToWriteAlone > 0) rowsToWriteAlone--
    try {
      const result = await write(batch.map(({ row }) => row))
      for (const { resolve } of waiting.splice(0, batch.length)) resolve(result)
    } catch (error) {
      if (!isRowError(error)) {
        // The database failed, or was stopped by its time limit: a full batch takes a tenth of that, so it waits for a lock or a
        // disk. The waiting rows would fail too, each after a limit of its own. Forms send theirs again under the same key.
        rowsToWriteAlone = 0
        for (const { reject } of waiting.splice(0)) reject(error)
      } else if (batch.length > 1)
        rowsToWriteAlone = batch.length // they still stand in `waiting`
      else waiting.shift()?.reject(error)
    }
    if (waiting.length > 0) writeAll()
  }
  return (row) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ row, resolve, reject }) === 1) writeAll()
    })
}
