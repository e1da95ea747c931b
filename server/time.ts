export const DAY_MS = 86_400_000
const INDIA_MS = 5.5 * 3_600_000 // all year

/** The day it is in India, `2026-11-30`. */
export function dayInIndia(time: Date): string {
  return new Date(time.getTime() + INDIA_MS).toISOString().slice(0, 10)
}

/** When that day begins in India, or when it is `clock` on it; undefined for what is no day of the calendar. */
export function momentInIndia(day: string, clock = '00:00'): Date | undefined {
  const moment = new Date(`${day}T${clock}:00+05:30`)
  // Date takes the 31st of a short month for the 1st of the next.
  return Number.isNaN(moment.getTime()) || dayInIndia(moment) !== day ? undefined : moment
}
