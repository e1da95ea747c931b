const UNIT_SECONDS = { day: 86_400, hour: 3600, minute: 60, second: 1 }

/** `3 enquiries`, `1 enquiry`. */
export function formatCount(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-IN')} ${number === 1 ? one : many}`
}

/** `40 minutes`, `47 hours`, `3 days`; `0 seconds` for a time in the future. */
export function formatAge(seconds: number): string {
  const past = Math.max(0, seconds)
  const unit = unitOf(past)
  return formatCount(Math.floor(past / UNIT_SECONDS[unit]), unit)
}

/** Up to two days in hours: `1 day` could be 47 of them. */
function unitOf(seconds: number): keyof typeof UNIT_SECONDS {
  if (seconds >= 2 * UNIT_SECONDS.day) return 'day'
  if (seconds >= UNIT_SECONDS.hour) return 'hour'
  return seconds >= UNIT_SECONDS.minute ? 'minute' : 'second'
}
