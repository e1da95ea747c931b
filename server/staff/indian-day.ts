import { UsageError } from './command.ts'

const OFFSET = '+05:30'
const DAY_MS = 86_400_000

/** The moments from which and before which an Indian calendar day lasts. */
export function indianDay(text: string): { start: Date; end: Date } {
  const start = new Date(`${text}T00:00:00${OFFSET}`)
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(start.getTime())
  // Date takes the 31st of a short month for the 1st of the next.
  const exists = isDay && new Date(start.getTime() + DAY_MS / 2).toISOString().startsWith(text)
  if (!exists) throw new UsageError(`"${text}" is not a day; write it as 2026-11-30`)
  return { start, end: new Date(start.getTime() + DAY_MS) }
}
