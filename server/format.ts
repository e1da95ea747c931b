import { isBuilt } from './project-root.ts'

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

/** A staff command as people type it. The container has no npm scripts. */
export function staffCommand(words: string): string {
  const program = isBuilt ? 'node dist/server/staff.js' : 'npm run -s staff --'
  return `${program} ${words}`
}

/** `40 minutes`, `47 hours`, `3 days`; `0 seconds` for a time in the future. */
export function formatAge(age: number): string {
  const seconds = Math.max(0, age)
  const unit = seconds >= 2 * 86_400 ? 'day' : seconds >= 3600 ? 'hour' : seconds >= 60 ? 'minute' : 'second'
  return formatCount(Math.floor(seconds / UNIT_SECONDS[unit]), unit, `${unit}s`)
}

/** The day in India, `2026-11-30`. */
export function formatIndianDay(time: Date): string {
  return new Date(time.getTime() + INDIA_MS).toISOString().slice(0, 10)
}

/** The moment when it is `clock` in India on that day. */
export function parseIndianTime(day: string, clock = '00:00'): Date {
  return new Date(`${day}T${clock}:00+05:30`)
}
