/**
 * `npm run dev`: pages with hot replacement, the server behind them, restarted on every change, and at /mails the newest
 * mails as their receivers see them. Nothing is sent.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createProbe } from 'node:net'
import { resolve } from 'node:path'
import { createServer } from 'vite'
import { DESK_PATH } from '../shared/desk.ts'
import { withDatabase } from './database/open.ts'
import { readEnvOrExit } from './env.ts'
import { exitWithReason, OperatorError } from './errors.ts'
import { escaped } from './html.ts'
import { type StoredMail, writeMessage } from './mail/kinds.ts'
import { readMail } from './mail/queue.ts'

const PAGES_PORT = 5173
const MAILS = 20
const SERVER_FOLDERS = [import.meta.dirname, resolve(import.meta.dirname, '../shared')]

const env = readEnvOrExit(process.env)
await assertFree(env.PORT).catch(exitWithReason)
const SERVER = `http://127.0.0.1:${env.PORT}`
const isDeskPage = (url = '') => /^\/staff(?:\/[A-Z]+-\w+)?$/.test(url)
const vite = await createServer({
  configFile: resolve(import.meta.dirname, '../vite.config.ts'),
  logLevel: 'warn',
  server: {
    port: PAGES_PORT,
    proxy: {
      '/trpc': { target: SERVER }, // with the Host that the browser asked: the desk compares it with Origin
      // Vite serves the desk's page; it asks the server, which asks for a session.
      [DESK_PATH]: {
        target: SERVER,
        bypass: ({ method, url }) => (method === 'GET' && isDeskPage(url) ? url : undefined),
      },
    },
  },
  plugins: [{ name: 'mails', configureServer: ({ middlewares }) => void middlewares.use('/mails', showMails) }],
})
await vite.listen()
const publicUrl = (vite.resolvedUrls?.local[0] ?? '').replace(/\/$/, '')
console.log(`Mails, as their receivers see them, are at ${publicUrl}/mails`)

let ending = false
let server: ChildProcess | undefined
startServer()
// Vite's watcher, because Node's loses a file that cannot be parsed or that an editor replaces.
vite.watcher.add(SERVER_FOLDERS)
vite.watcher.on('all', (_event, path) => {
  if (!SERVER_FOLDERS.some((folder) => path.startsWith(folder))) return
  if (!server) startServer()
  else if (!server.killed) server.kill()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    ending = true
    if (server) server.kill(signal)
    else end()
  })
}

/** Else the pages would send what is typed to the program that has the port, such as a site of `npm start`. */
async function assertFree(port: number): Promise<void> {
  const probe = createProbe().listen(port, '127.0.0.1')
  await once(probe, 'listening').catch((error) => {
    if (error.code !== 'EADDRINUSE') throw error
    throw new OperatorError(
      `Port ${port} is in use, perhaps by a site that runs. Stop it, or choose another port: PORT=${port + 1} npm run dev`,
    )
  })
  probe.close()
  await once(probe, 'close')
}

function startServer() {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, 'main.ts')], {
    // The server prints the address of the pages. It sends nothing: links in its mails would lead to this machine.
    env: { ...process.env, PUBLIC_URL: publicUrl, HOST: '127.0.0.1', RESEND_API_KEY: '', NOTIFY_URL: '' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  child.once('exit', () => {
    server = undefined
    if (ending) end()
    else if (child.killed) startServer()
    else console.error('The server has exited. It starts again when a file in server/ or shared/ is saved.')
  })
  server = child
}

async function end() {
  await vite.close()
  process.exit()
}

async function showMails(_request: IncomingMessage, response: ServerResponse, next: (error: unknown) => void) {
  try {
    const mails = await withDatabase(env, async ({ db }) => {
      const where = { kind: { notIn: ['Post' as const, 'SignIn' as const] } }
      const newest = await db.mail.findMany({ where, orderBy: { id: 'desc' }, take: MAILS, select: { id: true } })
      return Promise.all(newest.map(({ id }) => readMail(db, id)))
    })
    const shown = mails.map((mail) => mail && showMail(mail))
    const page = `<!doctype html><meta charset="utf-8"><title>Mails</title><h1>The newest ${MAILS} mails</h1>${shown.join('') || '<p>None yet: send the form.</p>'}`
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page)
  } catch (error) {
    next(error)
  }
}

function showMail(mail: StoredMail): string {
  const message = writeMessage(mail, publicUrl)
  return `<h2>${escaped(message.subject)}</h2><p>to ${escaped(message.to)}</p><iframe sandbox title="Mail ${mail.id}" width="100%" height="480" srcdoc="${escaped(message.html)}"></iframe>`
}
