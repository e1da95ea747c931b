import { constants } from 'node:os'
import closeWithGrace from 'close-with-grace'
import type { ClientBase } from 'pg'
import type { Logger } from 'pino'
import { brand } from '../shared/brand.ts'
import { DESK_PATH } from '../shared/desk.ts'
import { openApplication } from './app.ts'
import type { Db } from './database/database.ts'
import { openForSite } from './database/open.ts'
import { logDatabase } from './database/pool.ts'
import { createTerminalLink, deskUrlOf } from './desk/sign-in.ts'
import { type Env, readEnvOrExit } from './env.ts'
import { standInProblems, warningsOf } from './env-warnings.ts'
import { exitWithReason, OperatorError } from './errors.ts'
import type { RenderOutcome } from './http/rendered-pages.ts'
import { readStaticPages, type StaticPages } from './http/static-pages.ts'
import { createLogger } from './log.ts'
import { readBackupAge } from './operations/daily-backup.ts'
import { inProject, isBuilt } from './project-root.ts'
import { staffCommand } from './staff-command.ts'

/*
 * The site as a process. Variables: env.ts. What works on the open database: app.ts. Requests: http/server.ts.
 * Storing: orders/orders.ts. Sending: mail/senders.ts.
 */

/** How long requests are served after the signal to end, so that proxies notice it. */
const DRAIN_MS = 1000
/** Time for requests and mails under way after that. */
const GRACE_MS = 5000
/** After this time the process exits with 1, whatever still runs. Like a kill, this loses nothing. */
const SHUTDOWN_MAX_MS = 9000
/** With a listener for these a crashed process would hang. */
const CRASHES: closeWithGrace.Signals[] = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV']
/** Limit of one database statement. */
const QUERY_TIMEOUT_MS = 2000
/** HOST where nobody else can connect. */
const THIS_MACHINE = ['127.0.0.1', '::1', 'localhost']

export async function runSite(variables: Parameters<typeof readEnvOrExit>[0]): Promise<void> {
  const env = readEnvOrExit(variables)
  const log = createLogger(env.LOG_LEVEL)
  let close: Awaited<ReturnType<typeof openSite>> | undefined
  // Of an error only `err` is cleaned of personal data, and not its message.
  const logger = {
    error: (said: unknown) =>
      said instanceof Error
        ? log.error({ err: said }, 'closing has failed')
        : log.error(`shutting down at once: ${said}`),
  }
  closeWithGrace({ delay: SHUTDOWN_MAX_MS, logger, skip: CRASHES }, async ({ signal, err }) => {
    if (err) log.error({ err }, 'a fault of ours: shutting down')
    // Safe during the start: on Linux PostgreSQL gets SIGINT when this process ends (embedded/programs.ts).
    if (!close) process.exit(signal ? 128 + constants.signals[signal] : 1)
    log.info({ signal }, 'shutting down')
    await close()
  })
  close = await openSite(env, log).catch(exitWithReason)
}

/** Opens everything in order. @returns what closes it in reverse */
async function openSite(env: Env, log: Logger) {
  const standIns = standInProblems(env)
  if (standIns.length > 0) throw new OperatorError(standIns.join('\n'))
  const opening = openForSite({
    url: env.DATABASE_URL,
    directUrl: env.DIRECT_DATABASE_URL,
    dataDir: env.DATA_DIR,
    isExpected: !env.BACKUP_DIR || (await readBackupAge(env.BACKUP_DIR)) === undefined,
    migrate: true,
    warn: (message) => log.warn(message),
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    check: assertPrivileges,
    keepTrying: log,
  })
  const [database, { pages, render }] = await Promise.all([opening, loadPages(env)])
  logDatabase(database, log)
  if (isBuilt && pages.size === 0) log.warn('no built pages: run `npm run build`, or use `npm run dev`')

  const { app, close } = await openApplication(env, { database, log, pages, render })
  await app.listen({
    host: env.HOST,
    port: env.PORT,
    listenTextResolver: (address) => `${brand.name} is at ${env.PUBLIC_URL ?? address}`,
  })
  logConfiguration(env, log)
  if (process.stdout.isTTY && !env.RESEND_API_KEY && THIS_MACHINE.includes(env.HOST))
    await printSignInLink(env, database.db).catch(() => undefined) // while the database is away there is none

  return async () => {
    await close({ drainMs: DRAIN_MS, graceMs: GRACE_MS })
    await database.close()
  }
}

/**
 * Pages are read while the database opens, and what renders them is loaded, once and for all: a new build removes the file. With
 * `npm run dev` there are none: Vite serves them.
 */
async function loadPages(env: Env): Promise<{ pages: StaticPages; render?: RenderOutcome }> {
  const pages = isBuilt ? readStaticPages(inProject('dist/client'), env) : new Map()
  if (pages.size === 0) return { pages }
  const { renderOutcome } = await import('../client/renderer.tsx')
  return { pages, render: renderOutcome }
}

/**
 * Checks some of the newest rights of prisma/roles.sql, as a sign that it was run for this version: whoever adds one there checks it
 * here. Without these rights mails would be claimed, but their results could not be recorded.
 */
async function assertPrivileges(client: ClientBase) {
  const { rows } = await client.query<{ may: boolean; role: string }>(`
    SELECT current_user AS "role", has_table_privilege('"Quvera_Subscriber"', 'SELECT')
      AND has_function_privilege('"Quvera_erase_old"(text, timestamptz, int)', 'EXECUTE')
      AND has_function_privilege('"Quvera_use_session"(text)', 'EXECUTE') AS "may"`)
  const [row] = rows
  if (row?.may) return
  throw new OperatorError(
    `The role ${row?.role} lacks rights that this version needs: first run prisma/roles.sql again as the tables' owner.`,
  )
}

/** Logs what is to be mended, and where enquiries are posted; in a terminal also where mails go and how to see enquiries. */
function logConfiguration(env: Env, log: Logger) {
  if (process.stdout.isTTY) {
    if (env.RESEND_API_KEY) log.info(`Mails go to ${env.STAFF_EMAILS.join(', ')} and to the visitors`)
    log.info(`Enquiries: ${deskUrlOf(env)}${DESK_PATH}`)
  }
  if (env.NOTIFY_URL) log.info(`Enquiries are also posted to ${new URL(env.NOTIFY_URL).origin}`)
  for (const warning of warningsOf(env)) log.warn(warning)
}

/** Without a key no link can be mailed. Not through the logger: a log may be kept. */
async function printSignInLink(env: Env, db: Db) {
  const [email = ''] = env.STAFF_EMAILS
  const link = await createTerminalLink(db, env, email)
  console.log(`\nEnquiries, for staff (once, within 15 minutes; then ${staffCommand('sign-in')}):\n${link}\n`)
}
