// Reads `.env`, or the file that ENV_FILE names, into the environment; what is set already stays. npm's scripts load this
// file first.
import { readFileSync } from 'node:fs'
import { requireNode } from './node-version.mjs'

requireNode()
const { env } = process
const { DATA_DIR, DATABASE_URL, DIRECT_DATABASE_URL, ENV_FILE } = env
const file = ENV_FILE || '.env'
try {
  // A mark in front would become a part of the first name; of UTF-16 no name would be found.
  const [first, second] = readFileSync(file)
  if (first === 0xef || first >= 0xfe || first === 0 || second === 0)
    exit(`${file} begins with the mark of an editor, or is UTF-16: save it as UTF-8 without BOM.`)
  process.loadEnvFile(file)
} catch (error) {
  if (error.code === 'EACCES') exit(`${file} cannot be read by this user: chgrp USER ${file} && chmod 640 ${file}`)
  if (error.code !== 'ENOENT') exit(`${file} cannot be read: ${error.message}`)
  if (ENV_FILE) exit(`ENV_FILE names ${file}, which is not there.`)
}

function exit(reason) {
  console.error(reason)
  process.exit(1)
}

// A typed DATA_DIR hides the file's DATABASE_URL; either of them, typed, hides the file's DIRECT_DATABASE_URL.
if (DATA_DIR && DATABASE_URL === undefined) delete env.DATABASE_URL
if ((DATA_DIR || DATABASE_URL) && DIRECT_DATABASE_URL === undefined) delete env.DIRECT_DATABASE_URL
// For refuseEmptyDatabaseUrl() in commands.ts, which accepts a typed DATA_DIR only.
if (!DATA_DIR && env.DATA_DIR) env.DATA_DIR_FROM_FILE = 'true'
