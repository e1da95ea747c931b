import { resolve } from 'node:path'

/** False when the server runs from its TypeScript source, as with `npm run dev`. */
export const isBuilt = !import.meta.filename.endsWith('.ts')

/** A path within the project. The code runs from server/ or, built, from dist/server/. */
export function inProject(path: string): string {
  return resolve(import.meta.dirname, isBuilt ? '../..' : '..', path)
}
