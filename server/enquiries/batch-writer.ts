/** One statement writes no more rows, because all of them wait for its end. */
const BATCH_MAX = 256

/**
 * Runs one statement at a time for the rows that wait: several times the rate of a statement per row.
 * @param write one transaction; all its rows get its result
 * @param isRowError whether a row caused the failure, and not the database
 */
export function createBatchWriter<Row, Result>(
  write: (rows: Row[]) => Promise<Result>,
  isRowError: (error: unknown) => boolean,
): (row: Row) => Promise<Result> {
  const waiting: { row: Row; resolve(result: Result): void; reject(error: unknown): void }[] = []
  let isRunning = false

  async function run() {
    if (isRunning) return
    isRunning = true
    let lastSize = 0
    let rowsToWriteSingly = 0 // those of a batch that failed because of one of them
    while (waiting.length > 0) {
      // Takes half of the rows that wait or were just answered: the answered clients send again while this half is written.
      // Taking all would leave the next batch nearly empty.
      let size = Math.min(BATCH_MAX, Math.ceil((waiting.length + lastSize) / 2))
      if (rowsToWriteSingly > 0) {
        rowsToWriteSingly--
        size = 1
      }
      lastSize = size
      const batch = waiting.splice(0, size)
      try {
        const result = await write(batch.map(({ row }) => row))
        const resolveAll = () => {
          for (const { resolve } of batch) resolve(result)
        }
        if (waiting.length > 0)
          setImmediate(resolveAll) // after the next statement was sent
        else resolveAll()
      } catch (error) {
        if (isRowError(error) && batch.length > 1) {
          waiting.unshift(...batch)
          rowsToWriteSingly = batch.length
          continue
        }
        // If the database failed, the waiting rows would fail too, each after a time limit of its own.
        const failed = isRowError(error) ? batch : [...batch, ...waiting.splice(0)]
        for (const { reject } of failed) reject(error)
      }
    }
    isRunning = false
  }

  return (row) =>
    new Promise((resolve, reject) => {
      waiting.push({ row, resolve, reject })
      run()
    })
}
