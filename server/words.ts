/** How numbers and times are written for staff, and what time it is in India. */
export const DAY_MS = 86_400_000
const INDIA_MS = 5.5 * 3_600_000 // all year
const IST = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Asia/Kolkata',
  day: '2-digit',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const UNITS = [
  { name: 'day', seconds: 86_400, from: 2 * 86_400 },
  { name: 'hour', seconds: 3600, from: 3600 },
  { name: 'minute', seconds: 60, from: 60 },
  { name: 'second', seconds: 1, from: 0 },
] as const

/** `21 Nov 2026 17:48 IST`, as in the view `Quvera_Enquiries`. */
export function inIndia(time: Date): string {
  const part = Object.fromEntries(IST.formatToParts(time).map(({ type, value }) => [type, value]))
  return `${part.day} ${part.month?.slice(0, 3)} ${part.year} ${part.hour}:${part.minute} IST`
}

/** `3 enquiries`, `1 enquiry`. */
export function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString('en-IN')} ${number === 1 ? one : many}`
}

/** `40 minutes`, `47 hours`, `3 days`; of what a clock that was ahead has dated, `0 seconds`. */
export function ageInWords(age: number): string {
  const seconds = Math.max(0, age)
  const unit = UNITS.find(({ from }) => seconds >= from) ?? UNITS[3]
  return count(Math.floor(seconds / unit.seconds), unit.name, `${unit.name}s`)
}

/** The day it is in India, `2026-11-30`. */
export function dayInIndia(time: Date): string {
  return new Date(time.getTime() + INDIA_MS).toISOString().slice(0, 10)
}

/** When that day begins in India, or when it is `clock` on it. */
export function momentInIndia(day: string, clock = '00:00'): Date {
  return new Date(`${day}T${clock}:00+05:30`)
}
