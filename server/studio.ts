/** `npm run studio`: Prisma Studio on the database of the site, also while the site runs on the embedded one. */
import { spawn } from 'node:child_process'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { answers, socketIn } from './database/directory-lock.ts'
import { openDatabase } from './database/open-database.ts'
import { readEnv } from './env.ts'
import { migrationsFolder } from './project-root.ts'

const LOOPBACK = '127.0.0.1'
/** In a container Studio's own port is out of reach: it listens on the loopback address only. */
const CONTAINER_PORT = 5555
const BEHIND_CONTAINER_PORT = 5556

const env = readEnv(process.env)
const url = env.DATABASE_URL ?? (await serveEmbedded(env.DATA_DIR))
const isReachedFromOutside = env.HOST !== LOOPBACK && env.HOST !== 'localhost'
if (isReachedFromOutside) await forward(env.HOST, CONTAINER_PORT, () => connect(BEHIND_CONTAINER_PORT, LOOPBACK))
const options = isReachedFromOutside ? ['--port', String(BEHIND_CONTAINER_PORT), '--browser', 'none'] : []
// Through the environment and not as an argument, where every user of the machine could read the password.
const studio = spawn('prisma', ['studio', ...options, ...process.argv.slice(2)], {
  env: { ...process.env, DATABASE_URL: url },
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => studio.kill(signal))
studio.once('exit', (code) => process.exit(code ?? 1))

/** Studio speaks TCP only: a port of its own that leads to the socket of the process that has the database, or of this one. */
async function serveEmbedded(dataDir: string): Promise<string> {
  const socket = socketIn(resolve(dataDir))
  if (!(await answers(socket))) {
    await openDatabase({ dataDir, migrations: migrationsFolder() })
  }
  const { port } = await forward(LOOPBACK, 0, () => connect(socket))
  return `postgresql://postgres@${LOOPBACK}:${port}/postgres?sslmode=disable`
}

async function forward(host: string, port: number, open: () => Socket): Promise<AddressInfo> {
  const server = createServer((client) => {
    const target = open()
    client.pipe(target).pipe(client)
    client.on('error', () => target.destroy())
    target.on('error', () => client.destroy())
  })
  await new Promise<void>((done) => server.listen(port, host, done))
  return server.address() as AddressInfo
}
