import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openDatabase } from '../../server/open-database.ts'
import { audit, expectNothingLost } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { sendingThrough, startFakeResend } from '../support/fake-resend.ts'
import { report } from '../support/fault-fixtures.ts'
import { sendOrders } from '../support/load.ts'
import { freePort, startServer } from '../support/server-process.ts'
import { migrations } from '../support/test-database.ts'

it('ten kills of the embedded database during writes cost no answered order', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quvera-faults-'))
  const resend = await startFakeResend()
  const PORT = String(await freePort())
  const start = () =>
    startServer({
      PORT,
      DATA_DIR: folder,
      ...sendingThrough(resend),
      RATE_LIMIT_MAX: '0',
      LOG_LEVEL: 'warn',
      MAIL_LEASE_SECONDS: '2',
      MAIL_RETRY_SECONDS: '1',
    })
  let server = await start()
  let kills = 0
  async function kill() {
    kills++
    await server.stop('SIGKILL')
    server = await start()
  }
  try {
    const at = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [(index + 1) * 60, kill]))
    const load = await sendOrders({ url: () => server.url, orders: 660, concurrency: 16, retry: true, at })
    // The mails go out while the server runs; then its database is read.
    await eventually(() => expect(resend.mails.length).toBeGreaterThanOrEqual(load.sent.length * 2), 180_000)
    await server.stop()
    const { db, close } = await openDatabase({ dataDir: folder, migrations })
    const result = await audit(db, load, resend, 0)
    await close()
    report('10 kills, embedded database', { ...result, kills })
    expect(kills).toBe(10)
    expect(result.acknowledged).toBe(660)
    expectNothingLost(result)
  } finally {
    await server.stop('SIGKILL')
    await resend.close()
    await rm(folder, { recursive: true, force: true })
  }
})
