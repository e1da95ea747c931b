export const DAY_MS = 86_400_000
const INDIA_MS = 5.5 * 3_600_000 // all year

/** `21 Nov 2026 17:48 IST`, as in the view `Quvera_Enquiries`. */
export function formatIndianTime(time: Date): string {
  return `${new Date(time.getTime() + INDIA_MS).toUTCString().slice(5, 22)} IST`
}

/** `27 November`, in India. */
export function formatIndianDate(time: Date): string {
  return time.toLocaleDateString('en-GB', { timeZone: 'Asia/Kolkata', day: 'numeric', month: 'long' })
}

/** The day in India, `2026-11-30`. */
export function formatIndianDay(time: Date): string {
  return new Date(time.getTime() + INDIA_MS).toISOString().slice(0, 10)
}

export function parseIndianTime(day: string, clock = '00:00'): Date {
  return new Date(`${day}T${clock}:00+05:30`)
}
