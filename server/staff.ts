/** `npm run staff -- COMMAND`: what staff and operators do beside the site, also while it runs. */
import { readEnv } from './env.ts'
import { describeFailure } from './errors.ts'
import { backupCommand } from './staff/backup.ts'
import { type Command, UsageError } from './staff/command.ts'
import { eraseCommand } from './staff/erase.ts'
import { exportCommand } from './staff/export.ts'
import { mailsCommand } from './staff/mails.ts'
import { migrateCommand } from './staff/migrate.ts'
import { restoreCommand } from './staff/restore.ts'
import { testMailCommand } from './staff/test-mail.ts'

const commands = new Map<string, Command>([
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

// Whoever reads our output may stop before its end, as `head` does: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

try {
  await run(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`${error.message}. See --help.`)
    process.exitCode = 2
  } else {
    console.error(describeFailure(error))
    process.exitCode = 1
  }
}

async function run([name, ...args]: string[]): Promise<void> {
  if (name === '--help' || name === '-h' || name === 'help') return console.log(overview)
  if (!name) throw new UsageError('Say which command: export, erase, mails, test-mail, backup, restore or migrate')
  const command = commands.get(name)
  if (!command) throw new UsageError(`There is no command "${name}"`)
  const end = args.indexOf('--')
  const wantsHelp = args.slice(0, end < 0 ? undefined : end).some((arg) => arg === '--help' || arg === '-h')
  if (wantsHelp) return console.log(command.help)
  await command.run(args, () => readEnv(process.env))
}
