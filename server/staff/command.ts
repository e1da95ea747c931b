import { parseArgs } from 'node:util'
import { type Database, joinDatabase } from '../database/database.ts'
import type { Env } from '../env.ts'
import { migrationsFolder } from '../project-root.ts'

export interface Command {
  summary: string
  /** What `--help` prints. */
  help: string
  run(args: string[], env: () => Env): Promise<void>
}

/** The command was called in a way that it does not have: exit code 2. */
export class UsageError extends Error {}

/** What was asked for cannot be done; the message says why, in one line: exit code 1. */
export class Refusal extends Error {}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>

/** @throws UsageError in words of one line */
export function parse<T extends Options>(args: string[], options: T, { positionals = false } = {}) {
  try {
    return parseArgs({ args, options, allowPositionals: positionals })
  } catch (error) {
    throw new UsageError((error as Error).message.split(/\. |\n/)[0])
  }
}

/** Runs `work` on the database of the site, whether the site runs or not. */
export async function withDatabase<T>(env: Env, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await joinDatabase({
    url: env.DATABASE_URL,
    dataDir: env.DATA_DIR,
    embeddedPort: 0,
    migrations: migrationsFolder(),
  })
  try {
    for (const note of database.notes) console.error(note)
    return await work(database)
  } finally {
    await database.close()
  }
}

/** `3 enquiries`, `1 enquiry`. */
export function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString('en-IN')} ${number === 1 ? one : many}`
}
