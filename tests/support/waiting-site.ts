import { afterEach } from 'vitest'
import { startServer } from './server-process.ts'
import { startTestApp } from './test-app.ts'
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

  /** A running site without a key, so that its mails wait, in this process. */
  async function aSite() {
    const { url, db, env, close } = await startTestApp({ mails: false })
    cleanUp.push(close)
    return { url, db, database: env }
  }

  /** The same in a process of its own. */
  async function aSiteProcess() {
    const database = await aDatabase()
    const server = await startServer({ ...database, RATE_LIMIT_MAX: '0' })
    cleanUp.push(() => server.stop('SIGKILL'))
    return { url: server.url, server, database }
  }

  return { cleanUp, aDatabase, aSite, aSiteProcess }
}
