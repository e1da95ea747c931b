// Reads `.env` into the environment, if there is one; what is set already stays. npm's scripts load this file first.
import { requireNode } from './node-version.mjs'

requireNode()
const { env } = process
const { DATA_DIR, DATABASE_URL, DIRECT_DATABASE_URL } = env
try {
  process.loadEnvFile()
} catch (error) {
  if (error.code !== 'ENOENT') throw error
}
// A typed DATA_DIR hides the file's DATABASE_URL; either of them, typed, hides the file's DIRECT_DATABASE_URL.
if (DATA_DIR && DATABASE_URL === undefined) delete env.DATABASE_URL
if ((DATA_DIR || DATABASE_URL) && DIRECT_DATABASE_URL === undefined) delete env.DIRECT_DATABASE_URL
// For refuseEmptyDatabaseUrl() in staff/run.ts, which accepts a typed DATA_DIR only.
if (!DATA_DIR && env.DATA_DIR) env.DATA_DIR_FROM_FILE = 'true'
