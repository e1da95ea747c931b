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
// A database that was typed before the command counts, and no part of another one in `.env`.
if (DATA_DIR && DATABASE_URL === undefined) delete env.DATABASE_URL
if ((DATA_DIR || DATABASE_URL) && DIRECT_DATABASE_URL === undefined) delete env.DIRECT_DATABASE_URL
// With DATABASE_URL set but empty, `migrate` and `restore` need a DATA_DIR that was typed. One from `.env` does not count.
if (!DATA_DIR && env.DATA_DIR) env.DATA_DIR_FROM_FILE = 'true'
