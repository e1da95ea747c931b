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

/** The file with an empty embedded database, made when the site is built. */
export function emptyDatabaseFile(): string {
  return resolve(projectRoot(), 'dist/server/empty-database.gz')
}
