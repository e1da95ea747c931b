import { resolve } from 'node:path'

/** False when the server runs from its TypeScript source, as with `npm run dev`. */
export const isBuilt = !import.meta.filename.endsWith('.ts')

/** The code runs from server/ or, built, from dist/server/. */
export function projectRoot(): string {
  return resolve(import.meta.dirname, isBuilt ? '../..' : '..')
}

export function migrationsFolder(): string {
  return resolve(projectRoot(), 'prisma/migrations')
}

export function rolesFile(): string {
  return resolve(projectRoot(), 'prisma/roles.sql')
}

export function afterRestoreFile(): string {
  return resolve(projectRoot(), 'server/database/after-pg-restore.sql')
}

/** An empty embedded database, which the build makes and the first start copies. */
export function emptyDatabaseFolder(): string {
  return resolve(projectRoot(), 'dist/empty-database')
}
