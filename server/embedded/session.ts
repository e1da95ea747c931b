// PostgreSQL's only session. Clients other than the site have a role of their own, some of their statements are refused, and
// the session is reset after each of their turns.
import type { Socket } from 'node:net'
import type { DiskSpace } from './disk-space.ts'
import { type Postgres, serialize } from './postgres.ts'
import { createPreparedStatements } from './prepared-statements.ts'
import type { Turns } from './turns.ts'
import { type Batch, errorResponse, isAnsweredWithReady, messageType, Refusal } from './wire-protocol.ts'

const ANSWER_MAX_BYTES = 16 * 2 ** 20

/** Has the rights of the tables' owner. */
const CLIENT_ROLE = 'quvera_staff'
/** Also demotes superusers: refusalOfStatement reads the text only, so an ALTER ROLE within DO … EXECUTE passes it. */
const PREPARE_CLIENT = `
  DO $$ BEGIN CREATE ROLE ${CLIENT_ROLE}; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
  ALTER ROLE ${CLIENT_ROLE} LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS;
  GRANT postgres TO ${CLIENT_ROLE} WITH INHERIT TRUE, SET FALSE, ADMIN FALSE;
  GRANT pg_checkpoint TO ${CLIENT_ROLE};
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT rolname FROM pg_roles WHERE rolsuper AND rolname <> 'postgres'
    LOOP EXECUTE format('ALTER ROLE %I NOSUPERUSER', name); END LOOP;
  END $$`
const SET_CLIENT_ROLE = `SET SESSION AUTHORIZATION ${CLIENT_ROLE}`
const RESET_SESSION = [
  'SET SESSION AUTHORIZATION postgres', // RESET does nothing in PGlite
  'RESET ALL; DEALLOCATE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP',
]
const CURSORS = "SELECT quote_ident(name) FROM pg_cursors WHERE name <> ''"
/** Declares a cursor that a backup reads in many turns (server/database/snapshot.ts). */
const DECLARE_BACKUP = /\bDECLARE ("backup [^"]+") CURSOR WITH HOLD /g
const SYNC = serialize.sync()
/** Makes the open transaction fail, so that it can only be rolled back. */
const FAIL_TRANSACTION = serialize.query('DO $$BEGIN RAISE disk_full; END$$')
const NOTHING = Buffer.alloc(0)

export interface Client {
  socket: Socket
  /** Whether it is one of the site's own connections. */
  isSite: boolean
}

export type Session = ReturnType<typeof createSession>

export function createSession(postgres: Postgres, turns: Turns, disk: DiskSpace) {
  const execute = (messages: Uint8Array) => postgres.execute(messages) ?? NOTHING
  const startupAnswer = execute(serialize.startup({ user: 'postgres', database: 'postgres' }))
  const readyForQuery = execute(SYNC)
  postgres.query(PREPARE_CLIENT)
  const statements = createPreparedStatements(execute, postgres.isInTransaction)
  /** By name, with their client. */
  const backupCursors = new Map<string, Socket>()

  function executeAccepted(batch: Batch, isSite: boolean): Buffer | undefined {
    if (batch.length === 0) return NOTHING
    return isSite ? statements.execute(batch) : postgres.execute(Buffer.concat(batch), ANSWER_MAX_BYTES)
  }

  function refusalOf(message: Buffer, isSite: boolean): Refusal | undefined {
    if (message[0] !== messageType.query && message[0] !== messageType.parse) return undefined
    if (!disk.isEnoughFor(message, postgres.isInTransaction())) return new Refusal('53100', disk.message)
    if (backupCursorsIn(message).length > 0 && !disk.isEnoughToCopy())
      return new Refusal('53100', 'the disk has no room for a copy of the rows')
    return isSite ? undefined : refusalOfStatement(message.toString('latin1', 5))
  }

  function closeCursors() {
    for (const [name, socket] of backupCursors) if (socket.destroyed) backupCursors.delete(name)
    for (const name of postgres.query(CURSORS)) if (!backupCursors.has(name)) postgres.query(`CLOSE ${name}`)
  }

  return {
    startupAnswer,
    /** For a statement that did not get its turn in time. */
    busyAnswer: Buffer.concat([
      errorResponse('ERROR', new Refusal('55P03', 'another client uses the database')),
      readyForQuery,
    ]),
    isInTransaction: postgres.isInTransaction,

    /**
     * Executes a batch up to the first message that is refused; the messages after it are skipped up to Sync. A transaction
     * that was begun fails. Without BEGIN, what the batch has executed before the refusal stays.
     */
    execute(batch: Batch, { socket, isSite }: Client): Buffer {
      if (batch.some(liftsTimeLimit)) turns.liftTimeLimit()
      const refusals = batch.map((message) => refusalOf(message, isSite))
      const refusal = refusals.find(Boolean)
      const accepted = refusal ? batch.slice(0, refusals.indexOf(refusal)) : batch
      const answer = executeAccepted(accepted, isSite)
      for (const cursor of accepted.flatMap(backupCursorsIn)) backupCursors.set(cursor, socket)
      if (answer && !refusal) return answer
      if (postgres.isInTransaction()) execute(FAIL_TRANSACTION)
      const error = errorResponse('ERROR', refusal ?? TOO_LONG)
      const ready = isAnsweredWithReady(batch) ? execute(SYNC) : NOTHING
      return Buffer.concat([answer ?? NOTHING, error, ready])
    },

    /** Rolls back what a client has left open. */
    rollBack() {
      execute(SYNC) // ends the skipping of messages after an error
      postgres.query('ROLLBACK')
    },

    /** For a turn of a client other than the site. */
    async withClientRole(work: () => Promise<void>): Promise<void> {
      postgres.query(SET_CLIENT_ROLE)
      try {
        await work()
      } finally {
        statements.forget()
        for (const sql of RESET_SESSION) postgres.query(sql)
        closeCursors()
      }
    },

    hasBackups: () => backupCursors.size > 0,
    hasBackupOf: (socket: Socket) => [...backupCursors.values()].includes(socket),
    closeCursors,
  }
}

/** The names of the cursors that a backup declares with this message. */
function backupCursorsIn(message: Buffer): string[] {
  if (message[0] !== messageType.query) return []
  return [...message.toString('latin1', 5).matchAll(DECLARE_BACKUP)].map(([, name = '']) => name)
}

const NO_TIME_LIMIT = /statement_timeout'?\s*(?:=|,|to\b)\s*'?0\b/i

/** Migrations, restores and backups set statement_timeout to 0. */
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
    return new Refusal('42501', `a client of the embedded database works as ${CLIENT_ROLE}`)
  if (/\balter\s+(system|database|role|user)\b/i.test(statement))
    return new Refusal('42501', 'the embedded database keeps no settings of its clients')
  if (/\bcopy\b[^;]*\bfrom\s+stdin\b/i.test(statement))
    return new Refusal('0A000', 'the embedded database takes no rows by COPY FROM STDIN: use INSERT')
}
