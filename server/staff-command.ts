import { existsSync } from 'node:fs'
import { inProject } from './project-root.ts'

/** As deploy/quvera.service and deploy/quvera-staff name it. */
export const SERVER_ENV_FILE = '/etc/quvera.env'

/** A staff command as people type it: the container, which has no sources, is called `quvera` in the compose files. */
export function staffCommand(argumentsText: string): string {
  const hasSources = existsSync(inProject('server/staff.ts'))
  if (process.env.ENV_FILE === SERVER_ENV_FILE) return `quvera-staff ${argumentsText}`
  return `${hasSources ? 'npm run -s staff --' : 'docker exec quvera node dist/server/staff.js'} ${argumentsText}`
}
