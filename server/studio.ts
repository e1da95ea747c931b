/** `npm run studio`: Prisma Studio on the site's database, also while the site runs. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Database } from './database/database.ts'
import { pathIn } from './embedded/data-dir.ts'
import { type Env, readEnvOrExit } from './env.ts'
import { exitWithReason } from './errors.ts'
import { openForCommand, withDatabase } from './open-database.ts'
import { migrationsFolder } from './project-root.ts'
import { writeAccessLine } from './staff/access-log.ts'
import { serveStudioFront } from './studio-front.ts'

const LOOPBACK = '127.0.0.1'
const ANY_IPV4 = '0.0.0.0'
/** The links in docs/staff.md lead there. */
const PORT = 5555

/** The database is closed after this time without traffic. */
const IDLE_MS = 3000

const env = readEnvOrExit(process.env)
const url = await reachDatabase(env).catch(exitWithReason)
const { values } = parseArgs({ options: { port: { type: 'string', default: String(PORT) } }, strict: false })
const port = Number(values.port)
const studioPort = await findFreePort()
const links = await serveStudioFront({ host: env.STUDIO_IN_CONTAINER ? ANY_IPV4 : LOOPBACK, port }, studioPort).catch(
  exitWithReason,
)
// In the environment, because every user of the machine can read arguments, and the URL has a password.
const studio = spawn('prisma', ['studio', '--port', String(studioPort), '--browser', 'none'], {
  env: { ...process.env, DATABASE_URL: url, CHECKPOINT_DISABLE: '1', BROWSER: 'none' },
  stdio: ['inherit', 'pipe', 'inherit'],
})
// What Studio prints names its own address, which browsers do not need.
studio.stdout.on('data', (said) => {
  if (!String(said).includes('Studio is running')) return
  console.log([`Prisma Studio is running at http://localhost:${port}. Short links:`, ...links].join('\n  '))
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => studio.kill(signal))
process.once('exit', () => studio.kill())
studio.once('exit', (code) => process.exit(code ?? 1))

/** Returns a URL for Studio, which speaks TCP only: a port that leads to the socket of the embedded database. */
async function reachDatabase({ DATABASE_URL: url, DATA_DIR: dataDir }: Env): Promise<string> {
  const reader = { command: 'studio', env: () => env, errors: process.stderr }
  await withDatabase(env, ({ db }) => writeAccessLine(reader, db, 'everything'))
  if (url) return url
  const open = () => openForCommand({ dataDir, migrations: migrationsFolder() })
  const secret = randomUUID()
  const port = await forward(openWhenNeeded(open, pathIn(resolve(dataDir), 'socket')), secret)
  return `postgresql://quvera@${LOOPBACK}:${port}/quvera?sslmode=disable&application_name=${secret}`
}

/** Opens the database when no other process has it, and closes it when Studio is idle, so that the site can start. */
function openWhenNeeded(open: () => Promise<Database>, socket: string): () => Promise<Socket> {
  /** The database that this process opened. Absent: the site serves it, or nobody. */
  let openedHere: Promise<Database> | undefined
  /** Awaited before the database is opened again. */
  let lastClose: Promise<void> | undefined
  const connections = new Set<Socket>()
  const idleTimer = setTimeout(() => {
    if (!openedHere) return
    // Studio keeps idle connections, for which PostgreSQL would wait. It makes new ones when somebody uses it again.
    for (const connection of connections) connection.destroy()
    lastClose = openedHere.then(({ close }) => close())
    openedHere = undefined
  }, IDLE_MS) // refresh() starts it again, also after it has run
  return async () => {
    if (!openedHere && !(await isServed(socket))) {
      await lastClose
      openedHere ??= open()
    }
    await openedHere
    idleTimer.refresh()
    const connection = connect(socket).on('data', () => idleTimer.refresh())
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
    return connection
  }
}

/** Whether a process listens at the socket. */
function isServed(socket: string): Promise<boolean> {
  return new Promise((done) => {
    const client = connect(socket, () => done(true)).once('error', () => done(false))
    client.once('connect', () => client.destroy())
  })
}

/**
 * Listens on the loopback address, and connects each client to what `open` gives. The socket asks for no password, and every
 * user of the machine can reach the port: so the first message of a client, with its parameters, has to hold the secret.
 * @returns the port
 */
async function forward(open: () => Promise<Socket>, secret: string): Promise<number> {
  const server = createServer((client) => {
    client.on('error', () => client.destroy())
    client.once('data', async (first) => {
      if (!first.includes(secret)) return client.destroy()
      client.pause()
      const target = await open().catch(exitWithReason)
      target.on('error', () => {})
      target.on('close', () => client.destroy())
      if (client.destroyed) return target.destroy()
      client.on('close', () => target.destroy())
      target.write(first)
      client.pipe(target).pipe(client)
    })
  })
  return listenAnywhere(server)
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  const port = await listenAnywhere(server)
  server.close()
  return port
}

async function listenAnywhere(server: Server): Promise<number> {
  await once(server.listen(0, LOOPBACK), 'listening')
  return (server.address() as AddressInfo).port
}
