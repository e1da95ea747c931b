const BATCH_MAX = 256

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
  const waiting: { row: Row; resolve(result: Result): void; reject(error: unknown): void }[] = []
  let running = false

  async function run() {
    if (running) return
    running = true
    let size = 0
    let alone = 0
    while (waiting.length > 0) {
      size = alone-- > 0 ? 1 : Math.min(BATCH_MAX, Math.ceil((waiting.length + size) / 2))
      const batch = waiting.splice(0, size)
      try {
        const result = await write(batch.map(({ row }) => row))
        const answer = () => {
          for (const { resolve } of batch) resolve(result)
        }
        if (waiting.length > 0)
          setImmediate(answer) // once the next statement is on its way
        else answer()
      } catch (error) {
        if (isRowError(error) && batch.length > 1) {
          // A row that is refused must not cost its neighbours: each once more, by itself.
          waiting.unshift(...batch)
          alone = batch.length
        } else {
          // Where it is the database, what waits is failed too: each would only learn the same, one time limit later.
          const failed = isRowError(error) ? batch : [...batch, ...waiting.splice(0)]
          for (const { reject } of failed) reject(error)
        }
      }
    }
    running = false
  }

  return (row) =>
    new Promise((resolve, reject) => {
      waiting.push({ row, resolve, reject })
      run()
    })
}
