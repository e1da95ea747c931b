import { statSync } from 'node:fs'
import { open, unlink } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { formatCount } from '../../shared/count.ts'
import { writeBackup } from '../database/backup.ts'
import { OperatorError } from '../errors.ts'
import { type AddCommand, type Terminal, UsageError } from '../terminal.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export function backupCommand(add: AddCommand, terminal: Terminal) {
  const { output, errors } = terminal
  add('backup')
    .description('write everything into one file, while the site runs')
    .argument('<file>', 'must not exist yet, and only this user can read it; - is standard output')
    .action(async (file: string) => {
      if (file === '-' && output.isTTY)
        throw new UsageError('A backup is not shown in a terminal: write it to a file with > FILE')
      const write = async (to: Terminal['output']) => {
        const rows = await backUp(terminal, to)
        errors.write(`Wrote ${formatCount(rows, 'row')} to ${file === '-' ? 'standard output' : file}.\n`)
      }
      if (file === '-') return write(output)
      const created = await open(file, 'wx', 0o600).catch((cause) => {
        throw new OperatorError(`The backup cannot be written: ${whyNotMade(resolve(file), cause)}`, { cause })
      })
      await write(created.createWriteStream({ flush: true })).catch(async (error) => {
        await unlink(file)
        throw error
      })
    })
}

/** Why a file cannot be made, and what to do. */
function whyNotMade(file: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `there is no folder ${dirname(file)}. Make it, or name a file elsewhere.`
  if (code === 'EACCES') return `this user may not write in ${dirname(file)}. Name a file elsewhere.`
  if (code !== 'EEXIST') return `${message}.`
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) return `${file} is a folder. Name a file in it.`
  return `${file} is there already, and stays as it is. Name another file.`
}

async function backUp(terminal: Terminal, output: Terminal['output']): Promise<number> {
  const ended = new AbortController()
  const end = (signal: string) =>
    ended.abort(new OperatorError(`The backup was ended by ${signal}: the file is not complete.`))
  for (const signal of SIGNALS) process.once(signal, end)
  try {
    return await terminal.onDatabase(
      async (db, database) => {
        await terminal.recordAccess(db, 'everything')
        return writeBackup(database, output, ended.signal)
      },
      { anyVersion: true },
    )
  } catch (error) {
    if (ended.signal.aborted) throw ended.signal.reason
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    throw new OperatorError('The backup was not read to its end: what was read is not complete.', { cause: error })
  } finally {
    for (const signal of SIGNALS) process.off(signal, end)
  }
}
