import { createWriteStream, fstatSync, readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'

const STDOUT = 1
const STDOUT_FILE = '/proc/self/fd/1'
const BANNER = /^\n> \S+@\S+ staff\n> [^\n]*\n\n$/

/**
 * Where exports go. `npm run` writes two lines of its own to standard output before the command begins, which no
 * spreadsheet expects: a file that holds just these is begun anew. A pipe cannot be; there they are warned of.
 */
export function openOutput(env: NodeJS.ProcessEnv): Writable {
  const stdout = fstatSync(STDOUT)
  if (stdout.isFile() && stdout.size > 0 && stdout.size < 1000 && BANNER.test(readStdout())) {
    return createWriteStream(STDOUT_FILE, { flags: 'w' })
  }
  const bannerWritten = env.npm_lifecycle_event && env.npm_config_loglevel !== 'silent'
  if (bannerWritten && !process.stdout.isTTY) {
    console.error('npm wrote lines of its own before this output; `npm run -s staff -- …` keeps it from that.')
  }
  return process.stdout
}

/** What standard output holds already; '' where the system has no name for it. */
function readStdout(): string {
  try {
    return readFileSync(STDOUT_FILE, 'utf8')
  } catch {
    return ''
  }
}
