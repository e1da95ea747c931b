import { DatabaseError } from './database/database.ts'
import { MigrationError } from './database/migrations.ts'
import { EnvError } from './env.ts'
import { scrub } from './log.ts'

/** Why a process ends: what an operator can act on; the stack only of what nobody foresaw. */
export function describeFailure(error: unknown): string {
  if (error instanceof EnvError)
    return `The environment has ${error.message.includes('\n') ? 'problems' : 'a problem'}:\n${error.message}`
  if (error instanceof MigrationError) return error.message
  if (error instanceof DatabaseError) return scrub(error.message)
  // Prisma puts the place in the code first, and what the database said last.
  if (error instanceof Error && error.name.startsWith('PrismaClient'))
    return scrub(error.message.trim().split('\n').at(-1) ?? '')
  if (error instanceof Error && 'code' in error) {
    if (error.code === 'EADDRINUSE') return `${error.message.replace(/^listen /, '')}. Choose another PORT.`
    return scrub(error.message)
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
