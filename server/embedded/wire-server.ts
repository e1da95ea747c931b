// Serves PostgreSQL's wire protocol as a pooler in transaction mode does: a client has the session for a turn, from its
// first message until no transaction is open. The site's own connections are trusted. Other clients have limits.
import { once } from 'node:events'
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Session } from './session.ts'
import type { Turns } from './turns.ts'
import { type Batch, isAnsweredWithReady, readBatches } from './wire-protocol.ts'

/** How long a client other than the site may be idle in a transaction: at a time, and in total. */
const IDLE_MAX_MS = 10_000
const IDLE_TOTAL_MAX_MS = 30_000
/** How long a statement of the site waits for its turn. */
const SITE_WAIT_MS = 2000
const POLL_MS = 20
/** Shorter than a site that starts waits for the embedded database. */
const DRAIN_MAX_MS = 20_000

type Batches = AsyncIterator<Batch>

export function createWireServer(session: Session, turns: Turns, siteUser: string) {
  const sockets = new Set<Socket>()
  const servers: Server[] = []
  /** Clients other than the site that have a turn, or wait for one. */
  let busy = 0
  let lastTurnAt = 0

  async function serve(socket: Socket) {
    const client = { socket, isSite: false }
    const batches = readBatches(socket, (user) => {
      client.isSite = user === siteUser
      socket.write(session.startupAnswer)
    })
    for await (const first of batches) {
      const serveTurn = () => serveTransaction(client, first, batches)
      if (client.isSite) {
        const isServed = await turns.takeWithin(SITE_WAIT_MS, serveTurn)
        if (!isServed) socket.write(session.busyAnswer)
      } else {
        busy++
        await turns.take(() => session.withClientRole(serveTurn)).finally(() => busy--)
        lastTurnAt = performance.now()
      }
      if (socket.writableNeedDrain) await drained(socket)
    }
    socket.end()
  }

  /** One turn: executes what the client sends until no transaction is open. What it leaves open is rolled back. */
  async function serveTransaction(client: Client, first: Batch, batches: Batches) {
    const { socket, isSite } = client
    if (socket.destroyed) return // the client gave it up
    let isEnded = false
    let idleLeftMs = IDLE_TOTAL_MAX_MS
    try {
      for (let batch: Batch | undefined = first; batch; ) {
        socket.write(session.execute(batch, client))
        isEnded = isAnsweredWithReady(batch) && !session.isInTransaction()
        if (isEnded) return
        const idleSince = performance.now()
        const timer = isSite ? undefined : setTimeout(() => socket.destroy(), Math.min(IDLE_MAX_MS, idleLeftMs))
        if (socket.writableNeedDrain) await drained(socket)
        batch = (await batches.next()).value
        clearTimeout(timer)
        idleLeftMs -= performance.now() - idleSince
      }
    } finally {
      if (!isEnded) {
        session.rollBack()
        socket.destroy()
      }
    }
  }

  function accept(socket: Socket) {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      if (session.hasBackupOf(socket)) turns.take(session.closeCursors).catch(() => {})
    })
    serve(socket).catch(() => socket.destroy())
  }

  return {
    async listen(where: ListenOptions) {
      const server = createServer(accept)
      await once(server.listen(where), 'listening')
      server.on('error', () => {}) // a client could not be accepted, as without free file descriptors
      servers.push(server)
    },
    /** Disconnects all clients once no other than the site has had a turn for `drainMs`; after DRAIN_MAX_MS once none is at work. */
    async close(drainMs: number) {
      // Still accepts connections meanwhile: a client at work may open another one.
      const start = performance.now()
      const end = start + DRAIN_MAX_MS
      const areOthersAtWork = () =>
        busy > 0 || session.hasBackups() || performance.now() < Math.min(end, Math.max(start, lastTurnAt) + drainMs)
      while (drainMs > 0 && sockets.size > 0 && areOthersAtWork()) await sleep(POLL_MS)
      const closed = servers.map((server) => new Promise((done) => server.close(done)))
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
      await turns.take(() => {}) // waits for the turns that are left
    },
  }
}

async function drained(socket: Socket): Promise<void> {
  const done = new AbortController()
  const { signal } = done
  await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })])
  done.abort()
}
