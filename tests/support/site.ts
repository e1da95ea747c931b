import { inject } from 'vitest'
import type { Database, Db } from '../../server/database/database.ts'
import { openForCommand } from '../../server/database/open.ts'
import { sendingThrough, startFakeResend } from './fake-resend.ts'
import { startServer } from './server-process.ts'
import { createTestDatabase, migrations } from './test-database.ts'

/** The built site as it is deployed: its own process, a database, a fake Resend. */
export async function startSite(env: Record<string, string> = {}) {
  const [database, resend] = await Promise.all([createTestDatabase(), startFakeResend()])
  const server = await startServer({
    ...database.env,
    ...sendingThrough(resend),
    RATE_LIMIT_MAX: '0',
    ...env,
  })
  const { inspect, disconnect } = databaseBeside(database.env)
  return {
    url: server.url,
    resend,
    server,
    /** What other programs need in their environment to use its database. */
    env: database.env,
    inspect,
    close: async () => {
      await disconnect()
      await server.stop('SIGKILL')
      await resend.close()
      await database.drop()
    },
  }
}

/** The site of shared-site.ts: a test counts only rows of its own there, and does not look for mails. */
export function joinSharedSite() {
  const { url, env } = inject('sharedSite')
  const { inspect, disconnect } = databaseBeside(env)
  return { url, inspect, close: disconnect }
}

function databaseBeside({ DATABASE_URL: url, DATA_DIR: dataDir = '' }: Record<string, string>) {
  let database: Promise<Database> | undefined
  return {
    /** Runs `read` on the database, beside the server. */
    async inspect<T>(read: (db: Db) => Promise<T>): Promise<T> {
      database ??= openForCommand({ url, dataDir, migrations })
      return read((await database).db)
    },
    disconnect: async () => (await database)?.close(),
  }
}
