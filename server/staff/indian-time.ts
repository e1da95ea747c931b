import { UsageError } from './command.ts'

const OFFSET = '+05:30'
const DAY_MS = 86_400_000

const IST = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Asia/Kolkata',
  day: '2-digit',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** `21 Nov 2026 17:48 IST`, as in the view `Quvera_Enquiries`. */
export function inIndia(time: Date): string {
  const part = Object.fromEntries(IST.formatToParts(time).map(({ type, value }) => [type, value]))
  return `${part.day} ${part.month?.slice(0, 3)} ${part.year} ${part.hour}:${part.minute} IST`
}

/** The moments from which and before which an Indian calendar day lasts. */
export function indianDay(text: string): { start: Date; end: Date } {
  const start = new Date(`${text}T00:00:00${OFFSET}`)
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(start.getTime())
  // Date takes the 31st of a short month for the 1st of the next.
  const exists = isDay && new Date(start.getTime() + DAY_MS / 2).toISOString().startsWith(text)
  if (!exists) throw new UsageError(`"${text}" is not a day; write it as 2026-11-30`)
  return { start, end: new Date(start.getTime() + DAY_MS) }
}
