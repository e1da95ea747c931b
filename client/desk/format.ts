import { formatIndianDay, formatIndianTime, parseIndianTime } from '../../shared/indian-time.ts'

const DAY_S = 86_400
const units: [unit: string, seconds: number][] = [
  ['day', DAY_S],
  ['hour', 3600],
  ['minute', 60],
]

/** `2 hours`; '' for less than a minute, and for a time ahead of this device's clock. */
export function ageOf(time: string, now: number): string {
  const seconds = (now - new Date(time).getTime()) / 1000
  // Up to two days in hours: `1 day` could be 47 of them.
  const [unit, size] = units.find(([, each]) => seconds >= each * (each === DAY_S ? 2 : 1)) ?? []
  if (!unit || !size) return ''
  const count = Math.floor(seconds / size)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

export function isOlderThanDays(time: string, days: number, now: number): boolean {
  return now - new Date(time).getTime() > days * DAY_S * 1000
}

/** `26 Nov, 17:48`, with the year if it is not this one; of today the time alone. In India. */
export function timeOf(time: string, now = Date.now()): string {
  const [day = '', month = '', year = '', clock = ''] = formatIndianTime(new Date(time)).split(' ')
  const today = formatIndianTime(new Date(now))
  if (today.startsWith(`${day} ${month} ${year}`)) return clock
  return `${Number(day)} ${month}${today.includes(` ${year} `) ? '' : ` ${year}`}, ${clock}`
}

export const todayHere = (): string => formatIndianDay(new Date())

export function daysAfter(day: string, days: number): string {
  return formatIndianDay(new Date(parseIndianTime(day, '12:00').getTime() + days * DAY_S * 1000))
}

const weekdayOf = (day: string) => parseIndianTime(day, '12:00').getUTCDay()
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** The Monday after today. */
export function nextMonday(today: string): string {
  return daysAfter(today, ((7 - weekdayOf(today)) % 7) + 1)
}

export function isDue(day: string | undefined, today = todayHere()): boolean {
  return day !== undefined && day <= today
}

/** `today`, `tomorrow`, `Mon 30 Nov`. */
export function dayName(day: string, today = todayHere()): string {
  if (day === today) return 'today'
  if (day === daysAfter(today, 1)) return 'tomorrow'
  const [date = '', month = ''] = formatIndianTime(parseIndianTime(day)).split(' ')
  return `${weekdays[weekdayOf(day)]} ${Number(date)} ${month}`
}

export const count = (number: number): string => number.toLocaleString('en-IN')
