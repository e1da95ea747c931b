/** `npm run studio`: Prisma Studio on the database of the site, also while the site runs on the embedded one. */
import { spawn } from 'node:child_process'
import { type AddressInfo, connect, createServer } from 'node:net'
import { resolve } from 'node:path'
import { answers, socketIn } from './database/directory-lock.ts'
import { openDatabase } from './database/open-database.ts'
import { readEnv } from './env.ts'
import { migrationsFolder } from './project-root.ts'

const env = readEnv(process.env)
const url = env.DATABASE_URL ?? (await serveEmbedded(env.DATA_DIR))
// Through the environment and not as an argument, where every user of the machine could read the password.
const studio = spawn('prisma', ['studio', ...process.argv.slice(2)], {
  env: { ...process.env, DATABASE_URL: url },
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => studio.kill(signal))
studio.once('exit', (code) => process.exit(code ?? 1))

/** Studio speaks TCP only: a port of its own that leads to the socket of the process that has the database, or of this one. */
async function serveEmbedded(dataDir: string): Promise<string> {
  const folder = resolve(dataDir)
  const socket = socketIn(folder)
  if (!(await answers(socket))) {
    await openDatabase({ dataDir, migrations: migrationsFolder() })
  }
  const server = createServer((client) => {
    const database = connect(socket)
    client.pipe(database).pipe(client)
    client.on('error', () => database.destroy())
    database.on('error', () => client.destroy())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `postgresql://postgres@127.0.0.1:${(server.address() as AddressInfo).port}/postgres?sslmode=disable`
}
