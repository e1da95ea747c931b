import { open, unlink } from 'node:fs/promises'
import { writeBackup } from '../database/backup.ts'
import { OperatorError } from '../errors.ts'
import { formatCount } from '../format.ts'
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
        errors.write(`Wrote ${formatCount(rows, 'row', 'rows')} to ${file === '-' ? 'standard output' : file}.\n`)
      }
      if (file === '-') return write(output)
      const created = await open(file, 'wx', 0o600).catch((cause: Error) => {
        throw new OperatorError(`The backup cannot be written: ${cause.message}`, { cause })
      })
      await write(created.createWriteStream({ flush: true })).catch(async (error) => {
        await unlink(file)
        throw error
      })
    })
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
