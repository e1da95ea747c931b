import { parseArgs } from 'node:util'
import type { Env } from '../env.ts'

export interface Command {
  summary: string
  /** What `--help` prints. */
  help: string
  /** Whose login to a PostgreSQL server the command works with, where that is not the site's own. */
  login?: string
  run(args: string[], env: () => Env): Promise<void>
}

/** The command was called in a way that it does not have: exit code 2. */
export class UsageError extends Error {}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>

/** @throws UsageError in words of one line */
export function parse<T extends Options>(args: string[], options: T, { positionals = false } = {}) {
  try {
    return parseArgs({ args, options, allowPositionals: positionals })
  } catch (error) {
    throw new UsageError((error as Error).message.split(/\. |\n/)[0])
  }
}
