import { setTimeout as sleep } from 'node:timers/promises'
import { isConnectionLost, isConnectTimeout, sqlState, TOO_MANY_CONNECTIONS } from './errors.ts'

/** After this pause a statement is repeated. Meanwhile the pool notices its other lost connections. */
const RETRY_PAUSE_MS = 50
/** After this time the work fails, if no connection opens or gets free. */
const CONNECTION_WAIT_MS = 5000

/**
 * A database that is suspended closes idle connections: the work is tried once more. No connection opens while it wakes up, or
 * where a server has no room for another one: the work is tried again, but not while the database is known to be away.
 */
export async function retryIfLost<T>(work: () => Promise<T>, isUp = () => true): Promise<T> {
  const giveUpAt = performance.now() + CONNECTION_WAIT_MS
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await work()
    } catch (error) {
      const isWaiting = sqlState(error) === TOO_MANY_CONNECTIONS || (isConnectTimeout(error) && isUp())
      const mayRepeat = isWaiting ? performance.now() <= giveUpAt : isFirst && isConnectionLost(error)
      if (!mayRepeat) throw error
      await sleep(RETRY_PAUSE_MS)
    }
  }
}
