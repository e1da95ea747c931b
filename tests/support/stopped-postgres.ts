/** A thread in which PostgreSQL stops for good: PGlite would go on for ever, so that only the end of the thread helps. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { openPostgres, serialize } from '../../server/embedded/postgres.ts'

const { folder, how } = workerData as { folder: string; how: 'session ends' | 'disk fails' }
const postgres = await openPostgres(folder, (reason) => {
  parentPort?.postMessage(reason)
  process.exit(1)
})
postgres.query('CREATE TABLE thing (number int)')
if (how === 'session ends') postgres.execute(Buffer.from([0x79, 0, 0, 0, 4])) // a message of an unknown kind
fs.fdatasyncSync = () => {
  throw Object.assign(new Error('EIO'), { code: 'EIO' })
}
syncBuiltinESMExports()
postgres.execute(serialize.query('INSERT INTO thing VALUES (1)'))
