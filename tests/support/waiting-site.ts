import { afterEach } from 'vitest'
import { startServer } from './server-process.ts'
import { createTestDatabase } from './test-database.ts'

/** Databases and running sites for the tests of a file; what a test started is ended after it. */
export function createSites() {
  const cleanUp: (() => unknown)[] = []
  afterEach(async () => {
    for (const action of cleanUp.splice(0).reverse()) await action()
  })

  async function aDatabase() {
    const { env, drop } = await createTestDatabase()
    cleanUp.push(drop)
    return env
  }

  /** A running site without a key, so that its mails wait. */
  async function aSite(env: Record<string, string> = {}) {
    const database = await aDatabase()
    const server = await startServer({ ...database, RATE_LIMIT_MAX: '0', ...env })
    cleanUp.push(() => server.stop('SIGKILL'))
    return { url: server.url, server, database }
  }

  return { cleanUp, aDatabase, aSite }
}
