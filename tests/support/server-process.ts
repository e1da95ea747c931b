import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { eventually } from './eventually.ts'

const broken = process.env.SERVER_ROOT
const project = broken ?? resolve(import.meta.dirname, '../..')

export type ServerProcess = Awaited<ReturnType<typeof startServer>>

/**
 * The server as `npm start` and the container run it. The fault suite is also run against broken copies of its source,
 * to see that it notices.
 */
export const SERVER = {
  flags: ['--min-semi-space-size=16', '--max-semi-space-size=32'],
  entry: broken ? 'server/main.ts' : 'dist/server/main.js',
}

/**
 * Runs the server as its own process, with nothing of this one's environment but what is given.
 * @param root the folder of the project whose build runs
 */
export async function startServer(env: Record<string, string>, { waitUntilReady = true, root = project } = {}) {
  const port = env.PORT ?? String(await freePort())
  const child = spawn(process.execPath, [...SERVER.flags, resolve(root, SERVER.entry)], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: port, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) =>
    child.once('close', (code, signal) => done({ code, signal })),
  )
  const server = {
    url: `http://127.0.0.1:${port}`,
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    /** Sends the signal and waits for the end. */
    stop: (signal: NodeJS.Signals = 'SIGTERM') => {
      child.kill(signal)
      return exited
    },
  }
  if (waitUntilReady) {
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`The server ended: ${stderr}`)
      return (await fetch(`${server.url}/readyz`)).ok
    }, 30_000).catch(async (error) => {
      await server.stop('SIGKILL') // else it outlives the tests
      throw error
    })
  }
  return server
}

/**
 * A free port outside the range that listen(0) uses: another test could otherwise take it before the server does. And above
 * 10080, which fetch and browsers refuse.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 19_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((done) => {
      server.once('error', () => done(false))
      server.listen(port, '127.0.0.1', () => server.close(() => done(true)))
    })
    if (isFree) return port
  }
}
