import { rm, stat } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const SOCKET_PATH_MAX = 107
const SETTLE_MS = 100

/** Where the owner of a data folder listens. The name is PostgreSQL's own, so that `psql -h FOLDER` finds it. */
export function socketIn(folder: string): string {
  return join(folder, '.s.PGSQL.5432')
}

/**
 * Takes the folder for this process by listening on a socket in it; the kernel ends that with the process, however
 * it ends. Two processes on one embedded database would lose rows without a word.
 * @returns the listening server, on which the database is to be served, or undefined when another process has the folder
 */
export async function lockDirectory(folder: string): Promise<Server | undefined> {
  const absolute = socketIn(folder)
  const fromHere = relative(process.cwd(), absolute)
  const path = fromHere.length < absolute.length ? fromHere : absolute
  if (Buffer.byteLength(path) > SOCKET_PATH_MAX) throw new Error(`The path of DATA_DIR is too long: ${folder}`)
  const fresh = await listen(path)
  if (fresh) return fresh
  if (await answers(path)) return undefined
  // The owner was killed and left its socket. Of several that come to inherit it, the last to bind stays.
  await rm(path, { force: true })
  const server = await listen(path)
  if (!server) return undefined
  const { ino } = await stat(path)
  await sleep(SETTLE_MS)
  const now = await stat(path).catch(() => undefined)
  if (now?.ino === ino) return server
  server.close()
  return undefined
}

function listen(path: string): Promise<Server | undefined> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    )
    server.listen(path, () => resolve(server))
  })
}

/** Whether a living process listens there. */
export function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
