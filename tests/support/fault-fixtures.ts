import { afterAll, beforeAll } from 'vitest'
import type { Db } from '../../server/database/database.ts'
import { openForSite } from '../../server/database/open.ts'
import { atEnd } from './at-end.ts'
import { sendingThrough, startFakeResend } from './fake-resend.ts'
import { type PostgresServer, startPostgresServer } from './postgres-server.ts'
import { freePort, startServer } from './server-process.ts'
import { administer, migrations } from './test-database.ts'

/** For each test a new database on one real PostgreSQL server, and a fake Resend; everything started is ended. */
export function createFaultFixtures() {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgresServer()
  })
  afterAll(() => postgres?.close())

  async function setUp() {
    const name = `faults_${crypto.randomUUID().replaceAll('-', '')}`
    await administer(postgres.url, `CREATE DATABASE ${name}`)
    const databaseUrl = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
    const resend = await startFakeResend()
    atEnd(resend.close)
    return {
      databaseUrl,
      resend,
      /** Connects to the database of this test, after the faults. */
      async inspect<T>(read: (db: Db) => Promise<T>, url = databaseUrl): Promise<T> {
        const { db, close } = await openForSite({ url, dataDir: '', migrations })
        try {
          return await read(db)
        } finally {
          await close()
        }
      },
      /** Starts a server process on the database of this test. */
      async start(env: Record<string, string> = {}) {
        const server = await startServer({
          DATABASE_URL: databaseUrl,
          PORT: String(await freePort()),
          ...sendingThrough(resend),
          RATE_LIMIT_MAX: '0',
          LOG_LEVEL: 'warn',
          MAIL_LEASE_SECONDS: '2',
          MAIL_RETRY_SECONDS: '1',
          ...env,
        })
        atEnd(() => server.stop('SIGKILL'))
        return server
      },
    }
  }
  return { setUp, postgres: () => postgres }
}

/** One line a fault, for the suite's own summary. */
export function report(fault: string, figures: object): void {
  console.log(`${fault}: ${JSON.stringify(figures)}`)
}
