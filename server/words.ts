export const DAY_MS = 86_400_000

/** How numbers and times are written for staff. */
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

/** For columns: `21 Nov 17:48`, and of other years than this the day, `21 Nov 2025`. */
export function inIndiaShort(time: Date, now = new Date()): string {
  const [day, month, year, clock] = inIndia(time).split(' ')
  return `${day} ${month} ${year === inIndia(now).split(' ')[2] ? clock : year}`
}

/** `3 enquiries`, `1 enquiry`. */
export function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString('en-IN')} ${number === 1 ? one : many}`
}

/** `40 minutes`, `47 hours`, `3 days`. */
export function ageInWords(seconds: number): string {
  const unit = UNITS.find(({ from }) => seconds >= from) ?? UNITS[3]
  return count(Math.floor(seconds / unit.seconds), unit.name, `${unit.name}s`)
}
