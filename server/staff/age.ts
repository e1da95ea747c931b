import { monthsBefore } from '../enquiries/retention.ts'
import { UsageError } from './command.ts'

const DAY_MS = 86_400_000
const MONTHS_MAX = 1200

/** `24m`: the same day of the month 24 months ago, or the last one of a shorter month. `730d`: as many days. */
export function subtractAge(now: Date, age: string): Date {
  const [, digits, unit] = /^([1-9]\d{0,4})([md]?)$/.exec(age.trim().toLowerCase()) ?? []
  const number = Number(digits)
  if (digits && !unit) throw new UsageError(`"${age}" has no unit; write ${age}m for months or ${age}d for days`)
  if (!digits || (unit === 'm' && number > MONTHS_MAX))
    throw new UsageError(`"${age}" is not an age; write 24m for months or 730d for days`)
  if (unit === 'd') return new Date(now.getTime() - number * DAY_MS)
  return monthsBefore(now, number)
}
