// Serves PostgreSQL's wire protocol as a pooler in transaction mode does: a client has the session for a turn, from its
// first message until no transaction is open. The site's own connections are trusted. Other clients work as the role
// CLIENT, their turns are limited, and what the session remembers of them is reset after each turn.
import { once } from 'node:events'
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DiskSpace } from './disk-space.ts'
import { type Postgres, serialize } from './postgres.ts'
import { createPreparedStatements } from './prepared-statements.ts'
import type { Turns } from './turns.ts'
import { type Batch, errorResponse, kind, Refusal, readBatches } from './wire-protocol.ts'

/** How long a client may be idle in a transaction: at a time, and in total. */
const PAUSE_MAX_MS = 10_000
const PAUSES_MAX_MS = 30_000
/** How long a statement of the site waits for its turn. */
const SITE_WAIT_MS = 2000
/** The timer may fire late, after a long statement. A turn that comes within this time is still served. */
const GRACE_MS = 50
const POLL_MS = 20
const ANSWER_MAX_BYTES = 16 * 2 ** 20

/** Has the rights of the tables' owner. */
const CLIENT = 'quvera_staff'
/** Also makes superusers ordinary roles again: a client can make some by SQL that it builds at run time. */
const PREPARE_CLIENT = `
  DO $$ BEGIN CREATE ROLE ${CLIENT}; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
  ALTER ROLE ${CLIENT} LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS;
  GRANT postgres TO ${CLIENT} WITH INHERIT TRUE, SET FALSE, ADMIN FALSE;
  GRANT pg_checkpoint TO ${CLIENT};
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT rolname FROM pg_roles WHERE rolsuper AND rolname <> 'postgres'
    LOOP EXECUTE format('ALTER ROLE %I NOSUPERUSER', name); END LOOP;
  END $$`
const BEGIN_TURN = `SET SESSION AUTHORIZATION ${CLIENT}`
const END_TURN = [
  'SET SESSION AUTHORIZATION postgres', // RESET does nothing in PGlite
  'RESET ALL; DEALLOCATE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP',
]
const CURSORS = "SELECT quote_ident(name) FROM pg_cursors WHERE name <> ''"
/** Declares a cursor that a backup reads in many turns (server/database/snapshot.ts). */
const DECLARE_BACKUP = /\bDECLARE ("backup [^"]+") CURSOR WITH HOLD /g
const SYNC = serialize.sync()
/** Makes the open transaction fail, so that it can only be rolled back. */
const FAIL = serialize.query('DO $$BEGIN RAISE disk_full; END$$')
const NOTHING = Buffer.alloc(0)

interface Client {
  socket: Socket
  batches: AsyncIterator<Batch>
  /** Whether it is one of the site's own connections. */
  isSite: boolean
}

/** @param siteUser the user name by which the site's own connections are known: a secret */
export function createWireServer(postgres: Postgres, turns: Turns, disk: DiskSpace, siteUser: string) {
  const startupAnswer = postgres.execute(serialize.startup({ user: 'postgres', database: 'postgres' })) ?? NOTHING
  const readyForQuery = postgres.execute(SYNC) ?? NOTHING
  postgres.query(PREPARE_CLIENT)
  const statements = createPreparedStatements(
    (messages) => postgres.execute(messages) ?? NOTHING,
    postgres.isInTransaction,
  )
  const sockets = new Set<Socket>()
  const servers: Server[] = []
  /** The clients whose backups have these cursors. */
  const backupCursors = new Map<string, Socket>()

  async function serve(socket: Socket) {
    let isSite = false
    const batches = readBatches(socket, (user) => {
      isSite = user === siteUser
      socket.write(startupAnswer)
    })
    for await (const first of batches) {
      const client = { socket, batches, isSite }
      if (isSite) await takeTurnInTime(client, first)
      else await turns.take(() => serveClientTurn(client, first))
      if (socket.writableNeedDrain) await drained(socket)
    }
    socket.end()
  }

  /** Executes a batch of the site, or refuses it when its turn does not come in time. */
  function takeTurnInTime(client: Client, first: Batch): Promise<void> {
    return new Promise((done, fail) => {
      let isRefused = false
      function refuse() {
        isRefused = true
        client.socket.write(errorResponse('ERROR', new Refusal('55P03', 'another client uses the database')))
        client.socket.write(readyForQuery)
        done()
      }
      let timer = setTimeout(() => {
        timer = setTimeout(refuse, GRACE_MS)
      }, SITE_WAIT_MS)
      const turn = turns.take(async () => {
        clearTimeout(timer)
        if (!isRefused) await serveTurn(client, first)
      })
      turn.then(done, fail)
    })
  }

  async function serveClientTurn(client: Client, first: Batch) {
    postgres.query(BEGIN_TURN)
    try {
      await serveTurn(client, first)
    } finally {
      statements.forget()
      for (const sql of END_TURN) postgres.query(sql)
      closeCursors()
    }
  }

  /** Closes all cursors but those of backups whose client is still connected. */
  function closeCursors() {
    for (const [name, socket] of backupCursors) if (socket.destroyed) backupCursors.delete(name)
    for (const name of postgres.query(CURSORS)) if (!backupCursors.has(name)) postgres.query(`CLOSE ${name}`)
  }

  /** Executes batches until no transaction is open. A transaction that the client leaves open is rolled back. */
  async function serveTurn(client: Client, first: Batch) {
    const { socket, batches, isSite } = client
    if (socket.destroyed) return // a client that has gone: nothing that it gave up is executed later
    let pausesLeftMs = PAUSES_MAX_MS
    let isDone = false
    try {
      for (let batch: Batch | undefined = first; batch; batch = await nextInTurn()) {
        socket.write(executeBatch(batch, isSite))
        for (const cursor of batch.flatMap(backupCursorsIn)) backupCursors.set(cursor, socket)
        isDone = isAnsweredWithReady(batch) && !postgres.isInTransaction()
        if (isDone) return
      }
    } finally {
      if (!isDone) {
        postgres.execute(SYNC)
        postgres.query('ROLLBACK')
        socket.destroy()
      }
    }

    async function nextInTurn(): Promise<Batch | undefined> {
      const since = performance.now()
      const pauseMs = isSite ? undefined : Math.min(PAUSE_MAX_MS, pausesLeftMs)
      const timer = pauseMs === undefined ? undefined : setTimeout(() => socket.destroy(), pauseMs)
      if (socket.writableNeedDrain) await drained(socket)
      const { value } = await batches.next()
      clearTimeout(timer)
      pausesLeftMs -= performance.now() - since
      return value
    }
  }

  /** A refusal has the effect of an error of PostgreSQL: the messages after it are skipped up to Sync. */
  function executeBatch(batch: Batch, isSite: boolean): Buffer {
    if (batch.some(liftsTimeLimit)) turns.allowLongStatements()
    const refusals = batch.map((message) => refusalOf(message, isSite))
    const refusal = refusals.find(Boolean)
    const accepted = refusal ? batch.slice(0, refusals.indexOf(refusal)) : batch
    const execute = isSite ? statements.execute : (all: Batch) => postgres.execute(Buffer.concat(all), ANSWER_MAX_BYTES)
    const answer = accepted.length > 0 ? execute(accepted) : NOTHING
    if (answer && !refusal) return answer
    if (postgres.isInTransaction()) postgres.execute(FAIL)
    const error = errorResponse('ERROR', refusal ?? TOO_LONG)
    const ready = isAnsweredWithReady(batch) ? postgres.execute(SYNC) : undefined
    return Buffer.concat([answer ?? NOTHING, error, ready ?? NOTHING])
  }

  function refusalOf(message: Buffer, isSite: boolean): Refusal | undefined {
    if (message[0] !== kind.query && message[0] !== kind.parse) return undefined
    if (!disk.isEnoughFor(message, postgres.isInTransaction())) return new Refusal('53100', disk.message)
    if (backupCursorsIn(message).length > 0 && !disk.isEnoughToCopy())
      return new Refusal('53100', 'the disk has no room for a copy of the rows')
    return isSite ? undefined : refusalOfStatement(message.toString('latin1', 5))
  }

  function accept(socket: Socket) {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      if ([...backupCursors.values()].includes(socket)) turns.take(closeCursors).catch(() => {})
    })
    serve(socket).catch(() => socket.destroy())
  }

  return {
    async listen(where: ListenOptions) {
      const server = createServer(accept)
      await once(server.listen(where), 'listening')
      server.on('error', () => {}) // of clients that cannot be accepted, such as for want of file descriptors
      servers.push(server)
    },
    /** Disconnects all clients, but gives them `leaveMs` to go by themselves. */
    async close(leaveMs: number) {
      // Still accepts connections meanwhile: a client at work may open another one.
      for (const end = performance.now() + leaveMs; sockets.size > 0 && performance.now() < end; ) await sleep(POLL_MS)
      const closed = servers.map((server) => new Promise((done) => server.close(done)))
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
      await turns.take(() => {}) // after the last turn that a closed connection has asked for
    },
  }
}

/** Resolves once the client has read its answers or has gone. */
async function drained(socket: Socket): Promise<void> {
  const done = new AbortController()
  const { signal } = done
  await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })])
  done.abort()
}

/** All messages that ask for an answer get ReadyForQuery at its end, except Flush. */
function isAnsweredWithReady(batch: Batch): boolean {
  return batch.at(-1)?.[0] !== kind.flush
}

/** The names of the cursors that a backup declares with this message. */
function backupCursorsIn(message: Buffer): string[] {
  if (message[0] !== kind.query) return []
  return [...message.toString('latin1', 5).matchAll(DECLARE_BACKUP)].map(([, name = '']) => name)
}

const NO_TIME_LIMIT = /statement_timeout'?\s*(?:=|,|to\b)\s*'?0\b/i

/** Whether the message sets statement_timeout to 0, as migrations, restores and backups do. */
function liftsTimeLimit(message: Buffer): boolean {
  return message.includes('statement_timeout') && NO_TIME_LIMIT.test(message.toString('latin1'))
}

const TOO_LONG = new Refusal(
  '54000',
  `the answer is longer than ${ANSWER_MAX_BYTES / 2 ** 20} MB, which this database does not send: ask for fewer rows at a time, in psql with \\set FETCH_COUNT 1000`,
)

/** Refuses what PGlite cannot do, what would change the client's role, and settings that would outlast its turn. */
function refusalOfStatement(statement: string): Refusal | undefined {
  if (/\bsession(_|\b[^;]*\b)authorization\b/i.test(statement))
    return new Refusal('42501', `a client of the embedded database works as ${CLIENT}`)
  if (/\balter\s+(system|database|role|user)\b/i.test(statement))
    return new Refusal('42501', 'the embedded database keeps no settings of its clients')
  if (/\bcopy\b[^;]*\bfrom\s+stdin\b/i.test(statement))
    return new Refusal('0A000', 'the embedded database takes no rows by COPY FROM STDIN: use INSERT')
}
