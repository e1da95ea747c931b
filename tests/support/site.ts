import type { Database, Db } from '../../server/database/database.ts'
import { openDatabase } from '../../server/open-database.ts'
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
  let beside: Promise<Database> | undefined
  return {
    url: server.url,
    resend,
    server,
    /** What other programs need in their environment to use its database. */
    env: database.env,
    /** Runs `read` on the database, beside the server. */
    async inspect<T>(read: (db: Db) => Promise<T>): Promise<T> {
      beside ??= openDatabase({
        url: database.env.DATABASE_URL,
        dataDir: database.env.DATA_DIR ?? '',
        migrations,
        beside: true,
      })
      return read((await beside).db)
    },
    close: async () => {
      await (await beside)?.close()
      await server.stop('SIGKILL')
      await resend.close()
      await database.drop()
    },
  }
}
