/** `npm run studio`: Prisma Studio on the site's database, also while the site runs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Database } from './database/database.ts'
import { pathIn } from './embedded/data-dir.ts'
import { type Env, readEnvOrExit } from './env.ts'
import { exitWithReason, OperatorError } from './errors.ts'
import { joinDatabase, withDatabase } from './open-database.ts'
import { migrationsFolder } from './project-root.ts'
import { writeAccessLine } from './staff/access-log.ts'
import { serveStudioLinks } from './studio-links.ts'

const LOOPBACK = '127.0.0.1'
/** Studio refuses browsers that use another port. */
const STUDIO_PORT = 5555
/** The links in docs/staff.md lead there. */
const LINKS_PORT = 5556

/** The database is closed after this time without traffic. */
const IDLE_MS = 3000

const env = readEnvOrExit(process.env)
const url = await reachDatabase(env).catch(exitWithReason)
// Studio listens on the loopback address only. In a container the other addresses are forwarded to it.
if (env.STUDIO_IN_CONTAINER) {
  for (const address of externalAddresses()) await forward(address, STUDIO_PORT, () => connect(STUDIO_PORT, LOOPBACK))
}
const { values } = parseArgs({ options: { port: { type: 'string' } }, strict: false })
const port = String(values.port ?? STUDIO_PORT)
// A link holds no data, and so needs no guard in a container.
const linksAt = { host: env.STUDIO_IN_CONTAINER ? '0.0.0.0' : LOOPBACK, port: values.port ? 0 : LINKS_PORT }
const links = await serveStudioLinks(linksAt, `http://localhost:${port}`).catch(exitWithReason)
console.log(['Short links:', ...links].join('\n  '))
const portArgs = values.port ? [] : ['--port', port]
// In the environment, because every user of the machine can read arguments, and the URL has a password.
const studio = spawn('prisma', ['studio', ...portArgs, ...process.argv.slice(2)], {
  env: { ...process.env, DATABASE_URL: url, CHECKPOINT_DISABLE: '1', BROWSER: 'none' },
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => studio.kill(signal))
process.once('exit', () => studio.kill())
studio.once('exit', (code) => process.exit(code ?? 1))

/** Returns a URL for Studio, which speaks TCP only: a port that leads to the socket of the embedded database. */
async function reachDatabase({ DATABASE_URL: url, DATA_DIR: dataDir }: Env): Promise<string> {
  const reader = { command: 'studio', env: () => env, errors: process.stderr }
  await withDatabase(env, ({ db }) => writeAccessLine(reader, db, 'everything'))
  if (url) return url
  const open = () => joinDatabase({ dataDir, migrations: migrationsFolder() })
  const { port } = await forward(LOOPBACK, 0, openWhenNeeded(open, pathIn(resolve(dataDir), 'socket')))
  return `postgresql://quvera@${LOOPBACK}:${port}/quvera?sslmode=disable`
}

/** Opens the database when no other process has it, and closes it when Studio is idle, so that the site can start. */
function openWhenNeeded(open: () => Promise<Database>, socket: string): () => Promise<Socket> {
  let opened: Promise<Database> | undefined
  let closed: Promise<void> | undefined
  const closeWhenIdle = setTimeout(() => {
    if (opened) closed = opened.then(({ close }) => close())
    opened = undefined
  }, IDLE_MS)
  return async () => {
    if (!opened && !(await isServed(socket))) {
      await closed
      opened ??= open()
    }
    await opened
    closeWhenIdle.refresh()
    return connect(socket).on('data', () => closeWhenIdle.refresh())
  }
}

/** Whether a process listens at the socket. */
function isServed(socket: string): Promise<boolean> {
  return new Promise((done) => {
    const client = connect(socket, () => done(true)).once('error', () => done(false))
    client.once('connect', () => client.destroy())
  })
}

/** The IPv4 addresses of this machine or container, except loopback. */
function externalAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
  )
}

async function forward(host: string, port: number, open: () => Socket | Promise<Socket>): Promise<AddressInfo> {
  const server = createServer(async (client) => {
    client.on('error', () => client.destroy())
    const target = await Promise.resolve(open()).catch(exitWithReason)
    target.on('error', () => client.destroy())
    if (client.destroyed) return target.destroy()
    client.on('close', () => target.destroy())
    client.pipe(target).pipe(client)
  })
  await once(server.listen(port, host), 'listening').catch((error: Error) =>
    exitWithReason(
      new OperatorError(`Studio cannot listen at ${host}:${port}: ${error.message}. Does another one run?`),
    ),
  )
  return server.address() as AddressInfo
}
