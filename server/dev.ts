/** `npm run dev`: the pages with hot replacement and, started anew on every change, the server behind them. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { createServer } from 'vite'
import { mailsPage } from './dev-mails.ts'
import { readEnvOrExit } from './env.ts'

const PAGES_PORT = 5173
const SERVER_FOLDERS = [import.meta.dirname, resolve(import.meta.dirname, '../shared')]

const env = readEnvOrExit(process.env)
const vite = await createServer({
  configFile: resolve(import.meta.dirname, '../vite.config.ts'),
  logLevel: 'warn',
  server: { port: PAGES_PORT, proxy: { '/trpc': `http://127.0.0.1:${env.PORT}` } },
  plugins: [{ name: 'mails', configureServer: ({ middlewares }) => void middlewares.use('/mails', showMails) }],
})
await vite.listen()
console.log(`Mails, as their receivers see them, are at ${publicUrl()}mails`)

let ending = false
let server = startServer()
// Vite's watcher and not Node's, which loses a file that cannot be parsed or that an editor replaces.
vite.watcher.add(SERVER_FOLDERS)
vite.watcher.on('all', (_event, path) => {
  if (!SERVER_FOLDERS.some((folder) => path.startsWith(folder))) return
  if (hasEnded(server)) server = startServer()
  else if (!server.killed) server.kill()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    ending = true
    if (hasEnded(server)) end()
    else server.kill(signal)
  })
}

function publicUrl() {
  return vite.resolvedUrls?.local[0] ?? ''
}

async function showMails(_request: IncomingMessage, response: ServerResponse, next: (error: unknown) => void) {
  try {
    const page = await mailsPage(env, publicUrl())
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page)
  } catch (error) {
    next(error)
  }
}

function startServer(): ChildProcess {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, 'main.ts')], {
    // Its public address is that of the pages, so that it names the one to open.
    env: { ...process.env, PUBLIC_URL: publicUrl(), HOST: '127.0.0.1' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  child.once('exit', () => {
    if (ending) end()
    else if (child.killed) server = startServer()
    else console.error('The server has ended. It starts again when a file under server/ or shared/ is saved.')
  })
  return child
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function end() {
  await vite.close()
  process.exit()
}
