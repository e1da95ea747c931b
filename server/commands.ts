// `npm run staff -- COMMAND`. Each command is a function in its room (…-command.ts), with its options, its query and what it
// prints. terminal.ts prints tables and JSON, operations/person.ts reads references and people.
import { Command, CommanderError } from 'commander'
import { INSUFFICIENT_PRIVILEGE, sqlState } from './database/errors.ts'
import { withDatabase } from './database/open.ts'
import { refuseFormer, signInCommand, signOutCommand } from './desk/command.ts'
import { type Env, readEnv } from './env.ts'
import { describeFailure, OperatorError } from './errors.ts'
import { subscribersCommand } from './newsletter/command.ts'
import { recordAccess } from './operations/access-log.ts'
import { backupCommand } from './operations/backup-command.ts'
import { checkCommand, migrateCommand } from './operations/check-command.ts'
import { eraseCommand } from './operations/erase-command.ts'
import { mailsCommand } from './operations/mails-command.ts'
import { exportCommand } from './operations/person-command.ts'
import { restoreCommand } from './operations/restore-command.ts'
import { staffCommand } from './staff-command.ts'
import { notRecorded, type Terminal, UsageError, userOf } from './terminal.ts'

const LINE_WIDTH = 120
/** Options that npm has too. Their variables do not show that npm took one: they may come from npm's configuration. */
const NPM_OPTIONS = ['--yes', '--json']

const commands = [
  signInCommand,
  signOutCommand,
  exportCommand,
  eraseCommand,
  mailsCommand,
  subscribersCommand,
  backupCommand,
  restoreCommand,
  migrateCommand,
  checkCommand,
]

type Variables = Parameters<typeof readEnv>[0]

/** Runs one command and prints what went wrong. Returns the exit code. */
export async function runStaff(
  args: string[],
  variables: Variables,
  streams: Pick<Terminal, 'input' | 'output' | 'errors'>,
): Promise<number> {
  const { output, errors } = streams
  let outputFailure: NodeJS.ErrnoException | undefined
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === 'write') outputFailure ??= error
  })
  const print = (line: string) => void output.write(`${line}\n`)
  try {
    const env = () => readEnv(variables)
    const program = createProgram({
      ...streams,
      env,
      print,
      async onDatabase(work, options) {
        refuseEmptyDatabaseUrl(args, variables, env())
        return withDatabase({ ...env(), ...options }, (database) => work(database.db, database))
      },
      recordAccess: (db, what) =>
        recordAccess(db, { who: userOf(env()), command: args[0] ?? '', what }).catch((error) => {
          errors.write(`${notRecorded(error)}\n`)
        }),
    })
    assertNotTakenByNpm(program, variables)
    const names = program.commands.map((command) => command.name()).join(', ')
    refuseFormer(args[0])
    if (!args[0]) throw new UsageError(`Name a command: ${names}`)
    await program.parseAsync(args, { from: 'user' }).catch(rethrowUnlessHelp)
    await allWritten(output)
    if (outputFailure) throw outputFailure
    return 0
  } catch (error) {
    // A reader that stops before the end, such as `head`, is no failure.
    if (error === outputFailure && outputFailure?.code === 'EPIPE') return 0
    errors.write(`${describeError(error, args[0])}\n`)
    return error instanceof UsageError ? 2 : 1
  } finally {
    await allWritten(errors)
  }
}

/** Where `--` is missing before the command, npm keeps its options, and passes them on as variables. */
function assertNotTakenByNpm(program: Command, variables: Variables) {
  const commands = program.commands.flatMap((command) => [command, ...command.commands])
  const options = commands.flatMap(({ options }) => options.map(({ long }) => long ?? ''))
  const isTaken = (option: string) => variables[`npm_config_${option.slice(2).replaceAll('-', '_')}`] !== undefined
  const taken = options.find((option) => !NPM_OPTIONS.includes(option) && isTaken(option))
  if (taken) throw new UsageError(`npm has read ${taken} itself. Type -- before the command: npm run -s staff -- mails`)
}

/**
 * For commands that create a database. Compose passes an empty DATABASE_URL when .env lacks it: the embedded database is
 * created only where DATA_DIR names it before the command. dotenv.mjs marks a DATA_DIR that comes from .env.
 */
function refuseEmptyDatabaseUrl([command = '']: string[], variables: Variables, { DATABASE_URL, DATA_DIR }: Env) {
  if (DATABASE_URL) return
  const isDataDirFromShell = variables.DATA_DIR && !variables.DATA_DIR_FROM_FILE
  if (variables.DATABASE_URL === '' && !isDataDirFromShell && ['migrate', 'restore'].includes(command))
    throw new OperatorError(
      `DATABASE_URL is set but empty. Name the database: DATABASE_URL=… with the login of the tables' owner, or DATA_DIR=${DATA_DIR} for the embedded database.`,
    )
}

function allWritten(stream: NodeJS.WritableStream) {
  return new Promise((done) => stream.write('', done))
}

/** Commander throws after it has shown help, and for wrong usage. */
function rethrowUnlessHelp(error: unknown) {
  if (!(error instanceof CommanderError)) throw error
  if (error.exitCode !== 0) throw new UsageError(error.message.replace(/^error: |\.$/g, '').replaceAll('\n', ' '))
}

function describeError(error: unknown, command = ''): string {
  if (error instanceof UsageError) return `${error.message}. See --help.`
  const reason = describeFailure(error)
  if ((error as NodeJS.ErrnoException).syscall === 'write') return `The output cannot be written: ${reason}.`
  if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) return reason
  return `${reason}. \`${command}\` needs rights that this login lacks. Set DATABASE_URL to the login of the tables' owner; to read, quvera_readonly is enough. After an update the owner runs prisma/roles.sql again.`
}

function createProgram(terminal: Terminal): Command {
  const program = new Command(staffCommand('').trim())
    .usage('COMMAND [options]')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.output.write(text),
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => Math.min(terminal.output.columns ?? LINE_WIDTH, LINE_WIDTH),
    })
    .configureHelp({ minWidthToWrap: 20 })
    .addHelpText(
      'after',
      '\nExit code: 0 done, 1 refused or failed, 2 wrong usage. docs/staff.md and docs/backup.md explain the commands.',
    )
  for (const addCommand of commands) addCommand((name) => program.command(name), terminal)
  return program
}
