/** A script that takes longer is given up: a connection may stall without an error. */
const SCRIPT_TIMEOUT_MS = 5000

export function inTime<T>(script: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, fail) => setTimeout(fail, SCRIPT_TIMEOUT_MS))
  return Promise.race([script, late])
}
