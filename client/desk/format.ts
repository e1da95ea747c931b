import { formatAge } from '../../shared/count.ts'
import { DAY_MS, formatIndianDay, formatIndianTime, parseIndianTime } from '../../shared/indian-time.ts'

/** `2 hours`; '' for less than a minute, and for a time ahead of this device's clock. */
export function ageOf(time: string, now: number): string {
  const seconds = (now - new Date(time).getTime()) / 1000
  return seconds < 60 ? '' : formatAge(seconds)
}

export function isOlderThanDays(time: string, days: number, now: number): boolean {
  return now - new Date(time).getTime() > days * DAY_MS
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
  return formatIndianDay(new Date(parseIndianTime(day, '12:00').getTime() + days * DAY_MS))
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
