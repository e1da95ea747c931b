// One PostgreSQL as a child process, from its start to its end. postgres.ts starts it again.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { OperatorError } from '../errors.ts'
import { InUseError, pathIn, readServerPid, socketConnection } from './data-dir.ts'
import { EMPTY_DATABASE } from './empty-database.ts'
import { asPostgresUser, type Programs } from './programs.ts'

const SETTINGS = {
  listen_addresses: '', // only the socket
  unix_socket_permissions: '0700',
  timezone: 'UTC',
  // For one site with a pool of ten connections, in a container of 512 MB.
  max_connections: '40',
  shared_buffers: '16MB',
  max_wal_size: '256MB',
  max_parallel_workers_per_gather: '0',
  io_method: 'sync', // no processes for reading ahead
  // Not in /dev/shm: systemd removes a user's files there at logout (RemoveIPC), and containers may have little of it.
  dynamic_shared_memory_type: 'mmap',
  huge_pages: 'off', // where a cgroup forbids them, touching one is SIGBUS
  // Statements and details of errors quote personal data.
  log_min_messages: 'fatal',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}
const READY_POLL_MS = 10
const READY_TIMEOUT_MS = 5000
const UNREACHABLE_TRIES = 3
/** Time for an immediate shutdown before SIGKILL. */
const QUIT_MS = 10_000
const LAST_WORDS_MAX = 2000
const IN_USE_EXIT_CODE = 75
/** The role or the database does not exist. */
const MISSING = ['28000', '3D000']

export type StopSignal = 'SIGINT' | 'SIGTERM'

/*
 * The programs of a start:
 * Linux:     setpriv → flock → sh (REMOVE_OLD_LOCKS, START) → postgres
 * Elsewhere: sh (EXIT_IF_IN_USE, START) → postgres
 * Each executes the next in its place, so the process id stays the same.
 */

/**
 * All of PostgreSQL's processes inherit flock's open file, so the lock is free when the last of them has ended. PostgreSQL's own
 * lock files that are still there are of a server that was killed: the process id in them may be another program's by now.
 */
const REMOVE_OLD_LOCKS = 'rm -f "$DATABASE/postmaster.pid" "$SOCKET.lock"'
/** Elsewhere PostgreSQL's pid file is the lock. */
const EXIT_IF_IN_USE = `kill -0 "$(head -n 1 "$DATABASE/postmaster.pid" 2>/dev/null)" 2>/dev/null && exit ${IN_USE_EXIT_CODE}`
/** Makes the database if there is none, and then becomes PostgreSQL. */
const START = `umask 077
{ echo "$OWNER"; ls -i "$LOCK"; } > "$LOCK"
if [ ! -d "$DATABASE" ]; then
  set -e
  rm -rf "$DATABASE.new"
  cp -RH "$EMPTY" "$DATABASE.new"
  "$INITDB" --sync-only -D "$DATABASE.new" >&2
  mv "$DATABASE.new" "$DATABASE"
  sync "$DATABASE" "$DATABASE/.."
fi
chmod go-w,o= "$DATABASE"
exec "$@"`

/** Resolves when it takes connections. It is ended when it takes none for `unreachableMs`. */
export async function launch(
  dataDir: string,
  { initdb, postgres }: Programs,
  settings: object,
  lockWaitSeconds: number,
  unreachableMs: number,
) {
  const database = pathIn(dataDir, 'database')
  const lock = pathIn(dataDir, 'lock')
  // A list, in which a path stands in quotes because commas separate the paths.
  const unix_socket_directories = `"${dataDir.replaceAll('"', '""')}"`
  const all = Object.entries({ ...SETTINGS, unix_socket_directories, ...settings })
  const server = [postgres, '-D', database, ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const flock = [`--timeout=${lockWaitSeconds}`, `--conflict-exit-code=${IN_USE_EXIT_CODE}`, '--no-fork', lock]
  const command =
    process.platform === 'linux'
      ? asPostgresUser('flock', [...flock, 'sh', '-c', `${REMOVE_OLD_LOCKS}\n${START}`, 'sh', ...server])
      : asPostgresUser('sh', ['-c', `${EXIT_IF_IN_USE}\n${START}`, 'sh', ...server])
  const child = spawn(...command, {
    env: {
      EMPTY: EMPTY_DATABASE,
      INITDB: initdb,
      DATABASE: database,
      LOCK: lock,
      SOCKET: pathIn(dataDir, 'socket'),
      OWNER: `process ${process.pid} of ${hostname()}`,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true, // so that Ctrl-C in a terminal reaches only the site, which stops PostgreSQL last
  })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    text = (text + chunk).slice(-LAST_WORDS_MAX)
  })
  const ended = once(child, 'close').then(() => {
    const words = text.trim().split('\n').join(' ')
    return [words, child.signalCode ?? `exit code ${child.exitCode}`].filter(Boolean).join(', ')
  })
  while (!(await isReady(dataDir, child))) {
    if (child.exitCode === IN_USE_EXIT_CODE) throw new InUseError(dataDir)
    if (hasEnded(child)) throw new OperatorError(`PostgreSQL does not start on ${database}: ${await ended}`)
    await sleep(READY_POLL_MS)
  }
  text = '' // what it said while it started is no reason for a later end
  untilUnreachable(dataDir, child, unreachableMs).then(async () => {
    if (hasEnded(child)) return
    text += `it took no connection for ${unreachableMs / 1000} s`
    child.kill('SIGQUIT')
    await sleep(QUIT_MS, undefined, { ref: false })
    child.kill('SIGKILL')
  })
  return { ended, kill: (signal: StopSignal) => child.kill(signal) }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Resolves when PostgreSQL takes no connection for so long, or has ended. Counts tries, as this process may be suspended. */
async function untilUnreachable(dataDir: string, child: ChildProcess, limitMs: number): Promise<void> {
  const pauseMs = limitMs / UNREACHABLE_TRIES
  for (let failures = 0; failures < UNREACHABLE_TRIES && !hasEnded(child); ) {
    await sleep(pauseMs, undefined, { ref: false })
    const error = await tryConnection(dataDir, pauseMs)
    failures = error && !(error instanceof pg.DatabaseError) ? failures + 1 : 0 // a refusal is an answer too
  }
}

/** Opens and closes a connection. @returns what kept it from that */
async function tryConnection(dataDir: string, timeoutMs: number): Promise<unknown> {
  const client = new pg.Client({ ...socketConnection(dataDir), user: 'quvera', connectionTimeoutMillis: timeoutMs })
  client.on('error', () => {})
  return client
    .connect()
    .then(
      () => undefined,
      (error: unknown) => error,
    )
    .finally(() => client.end().catch(() => {}))
}

/**
 * Whether this PostgreSQL, and not one of another process, answers: the programs that start it become it, so it has the pid of
 * the child. It refuses clients while it recovers.
 */
async function isReady(dataDir: string, child: ChildProcess): Promise<boolean> {
  if (hasEnded(child) || readServerPid(pathIn(dataDir, 'database')) !== child.pid) return false
  const error = await tryConnection(dataDir, READY_TIMEOUT_MS)
  const code = error instanceof pg.DatabaseError ? error.code : undefined
  if (!MISSING.includes(code ?? '')) return !error
  child.kill('SIGINT')
  throw new OperatorError(`The database in ${dataDir} is not one of this site: ${(error as Error).message}.`)
}
