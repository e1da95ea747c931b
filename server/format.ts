import { existsSync } from 'node:fs'
import { inProject } from './project-root.ts'

export const DAY_MS = 86_400_000
const UNIT_SECONDS = { day: 86_400, hour: 3600, minute: 60, second: 1 }

/** `3 enquiries`, `1 enquiry`. */
export function formatCount(number: number, one: string, many: string): string {
  return `${number.toLocaleString('en-IN')} ${number === 1 ? one : many}`
}

/** As deploy/quvera.service and deploy/quvera-staff name it. */
export const SERVER_ENV_FILE = '/etc/quvera.env'

/** A staff command as people type it: the container, which has no sources, is called `quvera` in the compose files. */
export function staffCommand(argumentsText: string): string {
  const hasSources = existsSync(inProject('server/staff.ts'))
  if (process.env.ENV_FILE === SERVER_ENV_FILE) return `quvera-staff ${argumentsText}`
  return `${hasSources ? 'npm run -s staff --' : 'docker exec quvera node dist/server/staff.js'} ${argumentsText}`
}

/** `40 minutes`, `47 hours`, `3 days`; `0 seconds` for a time in the future. */
export function formatAge(seconds: number): string {
  const past = Math.max(0, seconds)
  const unit = unitOf(past)
  return formatCount(Math.floor(past / UNIT_SECONDS[unit]), unit, `${unit}s`)
}

function unitOf(seconds: number): keyof typeof UNIT_SECONDS {
  if (seconds >= 2 * UNIT_SECONDS.day) return 'day'
  if (seconds >= UNIT_SECONDS.hour) return 'hour'
  return seconds >= UNIT_SECONDS.minute ? 'minute' : 'second'
}
