import { formatIndianTime } from '../../shared/indian-time.ts'

const units: [unit: string, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** `2 hours ago`; a time ahead of this device's clock is `just now`. */
export function ageOf(time: string): string {
  const seconds = (Date.now() - new Date(time).getTime()) / 1000
  // Up to two days in hours: `1 day ago` could be 47 of them.
  const [unit, size] = units.find(([, each]) => seconds >= each * (each === 86_400 ? 2 : 1)) ?? []
  if (!unit || !size) return 'just now'
  const count = Math.floor(seconds / size)
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`
}

/** `26 Nov, 17:48`, with the year if it is not this one; of today the time alone. In India. */
export function timeOf(time: string): string {
  const [day = '', month = '', year = '', clock = ''] = formatIndianTime(new Date(time)).split(' ')
  const today = formatIndianTime(new Date())
  if (today.startsWith(`${day} ${month} ${year}`)) return clock
  return `${Number(day)} ${month}${today.includes(` ${year} `) ? '' : ` ${year}`}, ${clock}`
}
