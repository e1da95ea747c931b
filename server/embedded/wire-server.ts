import { once } from 'node:events'
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DiskSpace } from './disk-space.ts'
import type { Postgres } from './postgres.ts'
import type { Turns } from './turns.ts'
import {
  type Batch,
  type ClientReader,
  errorFrame,
  firstError,
  isIdle,
  kind,
  queryFrame,
  Refusal,
  readClient,
  SYNC,
  startupFrame,
} from './wire-protocol.ts'

/*
 * Serves PostgreSQL's wire protocol as a pooler in transaction mode does: a client has the session for a turn, from its
 * first message until no transaction is open. The site's own connections are trusted. Other clients work as the role
 * CLIENT, which has the rights of the tables' owner; their turns are limited, and what a session remembers is reset after
 * each.
 */

/** Longest time that a client may be idle in a transaction: per pause, and in total. */
const PAUSE_MAX_MS = 10_000
const PAUSES_MAX_MS = 30_000
/** A statement of the site is refused after it has waited so long for its turn. */
const SITE_WAIT_MS = 2000
/** A turn that comes so soon after that, because a long statement has just ended, is still used. */
const GRACE_MS = 50
const POLL_MS = 20
/** Largest answer to a message of another client; more would not fit into the memory of a small container. */
const ANSWER_MAX_BYTES = 16 * 2 ** 20

const CLIENT = 'quvera_staff'
/** Also takes back what a client may have made of the role: it can become superuser by a statement built at run time. */
const PREPARE_CLIENT = `
  DO $$ BEGIN CREATE ROLE ${CLIENT}; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
  ALTER ROLE ${CLIENT} LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS;
  GRANT postgres TO ${CLIENT} WITH INHERIT TRUE, SET FALSE, ADMIN FALSE;
  GRANT pg_checkpoint TO ${CLIENT};
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT rolname FROM pg_roles WHERE rolsuper AND rolname <> 'postgres'
    LOOP EXECUTE format('ALTER ROLE %I NOSUPERUSER', name); END LOOP;
  END $$`
const RESET_SETTINGS = 'ALTER SYSTEM RESET ALL'
const BEGIN_TURN = queryFrame(`SET SESSION AUTHORIZATION ${CLIENT}`)
const END_TRANSACTION = Buffer.concat([SYNC, queryFrame('ROLLBACK')])
const END_TURN = Buffer.concat([
  queryFrame('SET SESSION AUTHORIZATION postgres'), // RESET does nothing in PGlite
  queryFrame('CLOSE ALL; RESET ALL; DEALLOCATE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP'),
])
/** Puts the open transaction into the state in which it can only be rolled back. */
const FAIL = queryFrame('DO $$BEGIN RAISE disk_full; END$$')

export interface WireServer {
  listen(where: ListenOptions): Promise<void>
  /** Takes no more clients; those that have not left after `leaveMs` are disconnected. */
  close(leaveMs: number): Promise<void>
}

/** @param siteUser the user name by which the site's own connections are known: a secret */
export function createWireServer(postgres: Postgres, turns: Turns, disk: DiskSpace, siteUser: string): WireServer {
  const startupAnswer = executeOwn(startupFrame())
  const readyAnswer = executeOwn(SYNC)
  for (const sql of [PREPARE_CLIENT, RESET_SETTINGS]) executeOwn(queryFrame(sql))
  const sockets = new Set<Socket>()
  const servers: Server[] = []

  async function serve(socket: Socket) {
    const client = await readClient(socket)
    if (!client) return socket.end()
    socket.write(startupAnswer)
    const isSite = client.parameters.get('user') === siteUser
    for (let batch = await client.next(); batch; batch = await client.next()) {
      const first = batch
      const waiting = isSite ? waitForTurn(socket) : undefined
      const turn = turns.take(() => {
        if (waiting?.end() === 'refused' || client.isGone) return
        return isSite ? serveTurn(socket, client, first, true) : serveClientTurn(socket, client, first)
      })
      await (waiting ? Promise.race([turn, waiting.refused]) : turn)
      if (socket.writableNeedDrain) await drained(socket)
    }
    socket.end()
  }

  function executeOwn(message: Buffer): Buffer {
    const { answer = Buffer.alloc(0) } = postgres.execute(message)
    const error = firstError(answer)
    if (error) throw new Error(error)
    return answer
  }

  /** Refuses a batch whose turn does not come soon. `end` is called when the turn comes. */
  function waitForTurn(socket: Socket) {
    let state: 'waiting' | 'refused' = 'waiting'
    let timer: NodeJS.Timeout
    const refused = new Promise<void>((done) => {
      function refuse() {
        state = 'refused'
        socket.write(errorFrame('ERROR', new Refusal('55P03', 'another client uses the database')))
        socket.write(readyAnswer)
        done()
      }
      timer = setTimeout(() => {
        timer = setTimeout(refuse, GRACE_MS)
      }, SITE_WAIT_MS)
    })
    return {
      refused,
      end() {
        clearTimeout(timer)
        return state
      },
    }
  }

  async function serveClientTurn(socket: Socket, client: ClientReader, first: Batch) {
    postgres.execute(BEGIN_TURN)
    try {
      await serveTurn(socket, client, first, false)
    } finally {
      postgres.execute(END_TURN)
    }
  }

  /** Executes batches until no transaction is open. One that the client leaves open, or that fails here, is rolled back. */
  async function serveTurn(socket: Socket, client: ClientReader, first: Batch, isSite: boolean) {
    let pausesLeftMs = PAUSES_MAX_MS
    let isDone = false
    try {
      for (let batch: Batch | undefined = first; batch; batch = await nextInTurn()) {
        const { answer, end } = executeBatch(batch, isSite)
        socket.write(answer)
        isDone = isIdle(end)
        if (isDone) return
      }
    } finally {
      if (!isDone) {
        postgres.execute(END_TRANSACTION)
        socket.destroy()
      }
    }

    async function nextInTurn(): Promise<Batch | undefined> {
      if (isSite) return client.next()
      const since = performance.now()
      const timer = setTimeout(() => socket.destroy(), Math.min(PAUSE_MAX_MS, pausesLeftMs))
      if (socket.writableNeedDrain) await drained(socket)
      const batch = await client.next()
      clearTimeout(timer)
      pausesLeftMs -= performance.now() - since
      return batch
    }
  }

  /** What is refused is answered like an error of PostgreSQL: the messages after it are passed over up to Sync. */
  function executeBatch(batch: Batch, isSite: boolean): { answer: Buffer; end: Buffer } {
    const maxBytes = isSite ? Number.POSITIVE_INFINITY : ANSWER_MAX_BYTES
    const refusals = batch.map((message) => refusalOf(message, isSite))
    const refusal = refusals.find(Boolean)
    const accepted = refusal ? batch.slice(0, refusals.indexOf(refusal)) : batch
    const executed = accepted.length > 0 ? postgres.execute(Buffer.concat(accepted), maxBytes) : NOTHING
    if (executed.answer && !refusal) return { answer: executed.answer, end: executed.end }
    if (postgres.isInTransaction()) postgres.execute(FAIL)
    const error = errorFrame('ERROR', refusal ?? TOO_LONG)
    const ready = batch.at(-1)?.[0] === kind.flush ? undefined : postgres.execute(SYNC)
    const parts = [executed.answer ?? Buffer.alloc(0), error, ready?.answer ?? Buffer.alloc(0)]
    return { answer: Buffer.concat(parts), end: ready?.end ?? error }
  }

  function refusalOf(message: Buffer, isSite: boolean): Refusal | undefined {
    if (message[0] !== kind.query && message[0] !== kind.parse) return undefined
    if (!disk.isEnoughFor(message, postgres.isInTransaction())) return new Refusal('53100', disk.message)
    return isSite ? undefined : refusalOfStatement(message.toString('latin1', 5))
  }

  const server = () =>
    createServer((socket) => {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => sockets.delete(socket))
      serve(socket).catch(() => socket.destroy())
    })

  return {
    async listen(where) {
      const listening = server()
      await once(listening.listen(where), 'listening')
      listening.on('error', () => {}) // of clients that cannot be accepted, such as for want of file descriptors
      servers.push(listening)
    },
    async close(leaveMs) {
      // Goes on accepting meanwhile: a client that is at work may open another connection.
      for (const end = performance.now() + leaveMs; sockets.size > 0 && performance.now() < end; ) await sleep(POLL_MS)
      const closed = servers.map((each) => new Promise((done) => each.close(done)))
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
    },
  }
}

/** Resolves once the client has read its answers, or has gone. */
async function drained(socket: Socket): Promise<void> {
  const done = new AbortController()
  const { signal } = done
  await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })])
  done.abort()
}

const NOTHING = { answer: Buffer.alloc(0), end: Buffer.alloc(0) }

const TOO_LONG = new Refusal(
  '54000',
  `the answer is longer than ${ANSWER_MAX_BYTES / 2 ** 20} MB, which this database does not send: ask for fewer rows at a time, in psql with \\set FETCH_COUNT 1000`,
)

/** What only PostgreSQL's own server can do, or what would take a client out of its role. */
function refusalOfStatement(statement: string): Refusal | undefined {
  if (/\bsession(_|\b[^;]*\b)authorization\b/i.test(statement))
    return new Refusal('42501', `a client of the embedded database works as ${CLIENT}`)
  if (/\bcopy\b[^;]*\bfrom\s+stdin\b/i.test(statement))
    return new Refusal('0A000', 'the embedded database takes no rows by COPY FROM STDIN: use INSERT')
}
