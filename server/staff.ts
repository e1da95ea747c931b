/** `npm run staff -- COMMAND`: what staff and operators do beside the site, also while it runs. */
import { readEnv } from './env.ts'
import { describeFailure, sqlState } from './errors.ts'
import { backupCommand } from './staff/backup.ts'
import { type Command, UsageError } from './staff/command.ts'
import { digestCommand } from './staff/digest-command.ts'
import { eraseCommand } from './staff/erase.ts'
import { exportCommand } from './staff/export.ts'
import { findCommand } from './staff/find.ts'
import { listCommand } from './staff/list.ts'
import { mailsCommand } from './staff/mails.ts'
import { migrateCommand } from './staff/migrate.ts'
import { noteCommand } from './staff/note.ts'
import { restoreCommand } from './staff/restore.ts'
import { showCommand } from './staff/show.ts'
import { statusCommand } from './staff/status.ts'
import { testMailCommand } from './staff/test-mail.ts'

const commands = new Map<string, Command>([
  ['list', listCommand],
  ['show', showCommand],
  ['find', findCommand],
  ['status', statusCommand],
  ['note', noteCommand],
  ['digest', digestCommand],
  ['export', exportCommand],
  ['erase', eraseCommand],
  ['mails', mailsCommand],
  ['test-mail', testMailCommand],
  ['backup', backupCommand],
  ['restore', restoreCommand],
  ['migrate', migrateCommand],
])

const overview = `Usage: npm run -s staff -- COMMAND [options]

${[...commands].map(([name, { summary }]) => `  ${name.padEnd(11)}${summary}`).join('\n')}

COMMAND --help tells more. The database is that of the site: DATABASE_URL, or the embedded one in DATA_DIR.
Exit code: 0 done, 1 refused or failed, 2 not understood.
In the container: docker exec CONTAINER node dist/server/staff.js COMMAND …`

/** What standard output failed with. It tells so by itself, while the command may be doing something else. */
let outputFailure: NodeJS.ErrnoException | undefined
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.syscall === 'write') outputFailure ??= error
})

const INSUFFICIENT_PRIVILEGE = '42501'

const [name, ...args] = process.argv.slice(2)
try {
  await run(name, args)
  await new Promise((done) => process.stdout.write('', done)) // after all that was written before
  if (outputFailure) throw outputFailure
} catch (error) {
  process.exitCode = tell(error)
}

/** @returns the exit code */
function tell(error: unknown): number {
  // Whoever reads our output may stop before its end, as `head` does: that is no failure.
  if (error === outputFailure && outputFailure?.code === 'EPIPE') return 0
  if (error instanceof UsageError) {
    console.error(`${error.message}. See --help.`)
    return 2
  }
  const login = commands.get(name ?? '')?.login ?? "quvera_app, as the site's, or the tables' owner"
  const hint = `. \`${name}\` works with the login of ${login}: set DATABASE_URL to it.`
  console.error(
    error === outputFailure
      ? `Standard output cannot be written: ${outputFailure?.message}.`
      : describeFailure(error) + (sqlState(error) === INSUFFICIENT_PRIVILEGE ? hint : ''),
  )
  return 1
}

async function run(name: string | undefined, args: string[]): Promise<void> {
  if (name === '--help' || name === '-h' || name === 'help') return console.log(overview)
  if (!name) throw new UsageError(`Say which command: ${[...commands.keys()].join(', ')}`)
  const command = commands.get(name)
  if (!command) throw new UsageError(`There is no command "${name}"`)
  const end = args.indexOf('--')
  const wantsHelp = args.slice(0, end < 0 ? undefined : end).some((arg) => arg === '--help' || arg === '-h')
  if (wantsHelp) return console.log(command.help)
  await command.run(args, () => readEnv(process.env))
}
