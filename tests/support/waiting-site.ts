import { atEnd } from './at-end.ts'
import { startServer } from './server-process.ts'
import { startTestApp } from './test-app.ts'
import { createTestDatabase } from './test-database.ts'

/** An empty database that no process has open. */
export async function aDatabase() {
  const { env, drop } = await createTestDatabase()
  atEnd(drop)
  return env
}

/** A running site without a key, so that its mails wait, in this process. */
export async function aSite() {
  const { url, db, env, close } = await startTestApp({ mails: false })
  atEnd(close)
  return { url, db, database: env }
}

/** The same in a process of its own. */
export async function aSiteProcess() {
  const database = await aDatabase()
  const server = await startServer({ ...database, RATE_LIMIT_MAX: '0' })
  atEnd(() => server.stop('SIGKILL'))
  return { url: server.url, server, database }
}
