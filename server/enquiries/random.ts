import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 8192
let pool = Buffer.alloc(0)

/** Random bytes that are used once. Taken from the system in bulk: a call an order would be a tenth of what an order costs. */
export function randomBytes(count: number): Uint8Array {
  if (pool.length < count) pool = randomFillSync(Buffer.alloc(POOL_BYTES))
  const bytes = pool.subarray(0, count)
  pool = pool.subarray(count)
  return bytes
}
