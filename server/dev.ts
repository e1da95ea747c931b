/** `npm run dev`: the pages with hot replacement and, started anew on every change, the server behind them. */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createServer } from 'vite'
import { readEnv } from './env.ts'

const PAGES_PORT = 5173

const { PORT } = readEnv(process.env)
const vite = await createServer({
  configFile: resolve(import.meta.dirname, '../vite.config.ts'),
  logLevel: 'warn',
  server: { port: PAGES_PORT, proxy: { '/trpc': `http://127.0.0.1:${PORT}` } },
})
await vite.listen()
const url = vite.resolvedUrls?.local[0] ?? `http://localhost:${PAGES_PORT}`
// Whole folders: of the files that it loads, Node forgets the one that it cannot parse.
const watched = ['.', '../shared'].map((folder) => `--watch-path=${resolve(import.meta.dirname, folder)}`)
// Its public address is that of the pages, so that it names the one to open.
const server = spawn(
  process.execPath,
  ['--watch', ...watched, '--watch-preserve-output', resolve(import.meta.dirname, 'main.ts')],
  {
    env: { ...process.env, PUBLIC_URL: url, HOST: '127.0.0.1' },
    stdio: ['ignore', 'inherit', 'inherit'],
  },
)
server.once('exit', async (code) => {
  await vite.close()
  process.exit(code ?? 0)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal))
