export interface Goal {
  atMost?: number
  atLeast?: number
}

/** What missed its goal in this run. */
export const missed: string[] = []

/** Prints what was measured, beside its goal if it has one. What is no number misses it. */
export function report(what: string, value: number, unit: string, goal?: Goal) {
  const met =
    !goal || (value <= (goal.atMost ?? Number.POSITIVE_INFINITY) && value >= (goal.atLeast ?? Number.NEGATIVE_INFINITY))
  const wanted = goal ? ` (goal ${goal.atMost !== undefined ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`})` : ''
  if (!met) missed.push(what)
  console.log(
    `${met ? (goal ? 'ok    ' : '      ') : 'MISSED'} ${what}: ${value.toFixed(value < 10 ? 2 : 0)} ${unit}${wanted}`,
  )
}

export function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
