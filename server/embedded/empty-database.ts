import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../errors.ts'
import { emptyDatabaseFolder } from '../project-root.ts'
import { readVersion } from './data-dir.ts'
import { asNamedUser, asPostgresUser, findPrograms, type Programs } from './programs.ts'

/** With these locale options PostgreSQL needs nothing of the system, and ILIKE knows all letters. */
const INITDB_OPTIONS =
  '-U postgres -A trust -E UTF8 --no-locale --locale-provider=builtin --builtin-locale=C.UTF-8 --wal-segsize=1 -D'

/**
 * The empty database that a first start copies, with the role and the database `quvera`. The build makes it, because
 * initdb takes a second.
 */
export async function makeEmptyDatabase(programs?: Programs): Promise<void> {
  const folder = emptyDatabaseFolder()
  const { initdb, postgres, version } = programs ?? (await findPrograms())
  if (readVersion(folder) === version) return
  run('rm', ['-rf', folder, `${folder}.new`])
  mkdirSync(dirname(folder), { recursive: true })
  run(initdb, [...INITDB_OPTIONS.split(' '), `${folder}.new`])
  // The database that initdb makes gets the site's name: one more would be 8 MB more to copy.
  const sql =
    'CREATE ROLE quvera LOGIN CREATEROLE\nALTER DATABASE postgres RENAME TO quvera\nALTER DATABASE quvera OWNER TO quvera\n'
  run(postgres, ['--single', '-D', `${folder}.new`, 'template1'], sql)
  run('chmod', ['-R', 'a+rX', `${folder}.new`]) // it holds nothing, and the user who copies it may be another one
  run('mv', [`${folder}.new`, folder])
}

/** initdb and the single-user mode ask for the name of the user. */
function run(program: string, args: string[], input = ''): void {
  const [command, commandArgs] = asNamedUser(...asPostgresUser(program, args))
  const { status, stderr, error } = spawnSync(command, commandArgs, { input, encoding: 'utf8', env: {} })
  if (status !== 0) throw new OperatorError(`${program} failed: ${error?.message ?? stderr.trim()}`)
}
