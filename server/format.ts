import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { projectRoot } from './project-root.ts'

export const DAY_MS = 86_400_000
const INDIA_MS = 5.5 * 3_600_000 // all year
const UNIT_SECONDS = { day: 86_400, hour: 3600, minute: 60, second: 1 }

/** `21 Nov 2026 17:48 IST`, as in the view `Quvera_Enquiries`. */
export function formatIndianTime(time: Date): string {
  return `${new Date(time.getTime() + INDIA_MS).toUTCString().slice(5, 22)} IST`
}

/** `3 enquiries`, `1 enquiry`. */
export function formatCount(number: number, one: string, many: string): string {
  return `${number.toLocaleString('en-IN')} ${number === 1 ? one : many}`
}

/** A staff command as people type it: the container, which has no sources, is called `quvera` in the compose files. */
export function staffCommand(argumentsText: string): string {
  const hasSources = existsSync(resolve(projectRoot(), 'server/staff.ts'))
  return `${hasSources ? 'npm run -s staff --' : 'docker exec quvera node dist/server/staff.js'} ${argumentsText}`
}

/** `40 minutes`, `47 hours`, `3 days`; `0 seconds` for a time in the future. */
export function formatAge(seconds: number): string {
  const past = Math.max(0, seconds)
  const unit = past >= 2 * 86_400 ? 'day' : past >= 3600 ? 'hour' : past >= 60 ? 'minute' : 'second'
  return formatCount(Math.floor(past / UNIT_SECONDS[unit]), unit, `${unit}s`)
}

/** The day in India, `2026-11-30`. */
export function formatIndianDay(time: Date): string {
  return new Date(time.getTime() + INDIA_MS).toISOString().slice(0, 10)
}

/** The moment when it is `clock` in India on that day. */
export function parseIndianTime(day: string, clock = '00:00'): Date {
  return new Date(`${day}T${clock}:00+05:30`)
}
