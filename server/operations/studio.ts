/* `npm run studio`: Prisma Studio on the site's database, for reading. The site may run or not. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { Database } from '../database/database.ts'
import { openForCommand } from '../database/open.ts'
import { type Env, readEnvOrExit } from '../env.ts'
import { exitWithReason, OperatorError } from '../errors.ts'
import { notRecorded, userOf } from '../terminal.ts'
import { recordAccess } from './access-log.ts'

const LOOPBACK = '127.0.0.1'
const ANY_IPV4 = '0.0.0.0'
const PORT = 5555
const OWN_NAMES = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/
const READER = 'quvera_readonly'

export async function runStudio(variables: NodeJS.ProcessEnv): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: 'string', default: String(PORT) } }, strict: false })
  await serveStudio(readEnvOrExit(variables), variables, Number(values.port)).catch(exitWithReason)
}

async function serveStudio(env: Env, variables: NodeJS.ProcessEnv, port: number): Promise<void> {
  const { DATABASE_URL: url, STUDIO_IN_CONTAINER } = env
  const dataDir = resolve(env.DATA_DIR)
  // Held until Studio ends: without the site, this process is the one that started PostgreSQL.
  const database = await openForCommand({ url, dataDir })
  if (url) await assertReader(database)
  await recordAccess(database.db, { who: userOf(env), command: 'studio', what: 'everything' }).catch((error) => {
    console.error(notRecorded(error))
  })
  const hidden = await readHidden(database)
  const studioPort = await findFreePort()
  // Of the embedded database the socket in DATA_DIR: Studio's driver knows the variables of PostgreSQL's own programs.
  const socket = { DATABASE_URL: 'postgresql:///quvera', PGHOST: dataDir, PGPORT: '5432', PGUSER: READER }
  const target = url ? { DATABASE_URL: url } : socket
  // In the environment, because every user of the machine can read arguments, and the URL has a password.
  const studio = spawn('prisma', ['studio', '--port', String(studioPort), '--browser', 'none'], {
    env: { ...variables, ...target, CHECKPOINT_DISABLE: '1', BROWSER: 'none' },
    stdio: ['inherit', 'pipe', 'inherit'],
  })
  // What Studio prints names its own address, which browsers do not need.
  studio.stdout.on('data', (said) => {
    if (String(said).includes('Studio is running')) console.log(`Prisma Studio is running at http://localhost:${port}`)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => studio.kill(signal))
  process.once('exit', () => studio.kill())
  studio.once('exit', (code) => database.close().finally(() => process.exit(code ?? 1)))
  const server = createHttpServer((asked, answer) => passOn(asked, answer, { port, studioPort, hidden }))
  await once(server.listen({ host: STUDIO_IN_CONTAINER ? ANY_IPV4 : LOOPBACK, port }), 'listening').catch((error) => {
    throw new OperatorError(`Studio cannot be served: ${error.message}. Does another one run?`)
  })
}

/** Studio has no login, no guard against a slip and no history of who changed what: the desk changes enquiries. */
async function assertReader({ db }: Database): Promise<void> {
  const [login] = await db.$queryRaw<{ role: string; mayChange: boolean }[]>`
    SELECT current_user AS "role", has_any_column_privilege('"Quvera_Form"', 'UPDATE') AS "mayChange"`
  if (login?.mayChange)
    throw new OperatorError(
      `Studio only reads, and the login ${login.role} in DATABASE_URL may change enquiries. For this command set DATABASE_URL to the login ${READER}.`,
    )
}

/**
 * The columns that the reader may not read: secrets in links. Studio takes the columns of a table from the catalogue and selects all
 * of them: it would be refused, and show no row (tests/release/studio.test.ts).
 */
async function readHidden({ db }: Database): Promise<Set<string>> {
  const columns = await db.$queryRaw<{ name: string }[]>`
    SELECT relname || '.' || attname AS "name" FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relname LIKE 'Quvera%' AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
      AND has_any_column_privilege(${READER}, attrelid, 'SELECT') AND NOT has_column_privilege(${READER}, attrelid, attnum, 'SELECT')`
  return new Set(columns.map(({ name }) => name))
}

/** Of what Studio's page is told of the tables. */
function withoutHidden(value: unknown, hidden: Set<string>): unknown {
  const table = value as { name?: unknown; columns?: unknown } | null
  if (typeof table?.name !== 'string' || !Array.isArray(table.columns)) return value
  return { ...table, columns: table.columns.filter((column) => !hidden.has(`${table.name}.${column?.name}`)) }
}

/** Refuses requests under a foreign name: a stranger's page could lead its own name to this machine. */
function passOn(
  asked: IncomingMessage,
  answer: ServerResponse,
  { port, studioPort, hidden }: { port: number; studioPort: number; hidden: Set<string> },
): void {
  const { method, url, headers } = asked
  if (!OWN_NAMES.test(headers.host ?? '')) return void answer.writeHead(403).end(`Open http://localhost:${port}\n`)
  // Studio refuses the Origin of any port but its own.
  const host = `localhost:${studioPort}`
  const isOwn = headers.origin === `http://${headers.host}`
  const passed = { ...headers, host, ...(isOwn && { origin: `http://${host}` }) }
  const sent = request({ host: LOOPBACK, port: studioPort, method, path: url, headers: passed }, async (found) => {
    const { 'content-length': _, ...headers } = found.headers
    const status = found.statusCode ?? 502
    if (url !== '/bff' || status !== 200) return found.pipe(answer.writeHead(status, found.headers))
    const rows = await json(found).catch(() => undefined)
    answer.writeHead(status, headers).end(JSON.stringify(rows, (_key, value) => withoutHidden(value, hidden)))
  })
  sent.on('error', () => answer.writeHead(502).end('Studio does not answer yet.\n'))
  asked.pipe(sent)
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, LOOPBACK), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
