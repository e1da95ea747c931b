import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../errors.ts'
import { inProject } from '../project-root.ts'
import { readVersion } from './data-dir.ts'
import { asNamedUser, asPostgresUser, findPrograms, type Programs } from './programs.ts'

/** The build makes it, and the first start copies it. */
export const EMPTY_DATABASE = inProject('dist/empty-database')

/** With these locale options PostgreSQL needs nothing of the system, and ILIKE knows all letters. */
const INITDB_OPTIONS =
  '-U postgres -A trust -E UTF8 --no-locale --locale-provider=builtin --builtin-locale=C.UTF-8 --wal-segsize=1 -D'

/**
 * The empty database that a first start copies, with the role and the database `quvera`. The build makes it, because
 * initdb takes a second.
 */
export async function makeEmptyDatabase(programs?: Programs): Promise<void> {
  const { initdb, postgres, version } = programs ?? (await findPrograms())
  if (readVersion(EMPTY_DATABASE) === version) return
  const unfinished = `${EMPTY_DATABASE}.new`
  run('rm', ['-rf', EMPTY_DATABASE, unfinished])
  mkdirSync(dirname(EMPTY_DATABASE), { recursive: true })
  run(initdb, [...INITDB_OPTIONS.split(' '), unfinished])
  // The database that initdb makes gets the site's name: one more would be 8 MB more to copy.
  const sql =
    'CREATE ROLE quvera LOGIN CREATEROLE\nALTER DATABASE postgres RENAME TO quvera\nALTER DATABASE quvera OWNER TO quvera\n'
  run(postgres, ['--single', '-D', unfinished, 'template1'], sql)
  // As deploy/owner.sql does. roles.sql is run by the owner, who may not.
  const revoke = 'REVOKE EXECUTE ON FUNCTION lo_creat(INT), lo_create(OID), lo_from_bytea(OID, BYTEA) FROM PUBLIC\n'
  run(postgres, ['--single', '-D', unfinished, 'quvera'], revoke)
  run('chmod', ['-R', 'a+rX', unfinished]) // it holds nothing, and the user who copies it may be another one
  run('mv', [unfinished, EMPTY_DATABASE])
}

/** initdb and the single-user mode ask for the name of the user. */
function run(program: string, args: string[], input = ''): void {
  const [command, commandArgs] = asNamedUser(...asPostgresUser(program, args))
  const { status, stderr, error } = spawnSync(command, commandArgs, { input, encoding: 'utf8', env: {} })
  if (status !== 0) throw new OperatorError(`${program} failed: ${error?.message ?? stderr.trim()}`)
}
