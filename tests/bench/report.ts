/** What missed its goal in this run. */
const missed: string[] = []

/** Prints what was measured, beside its goal if it has one. What is no number misses it. */
export function report(what: string, value: number, unit: string, goal: { atMost?: number; atLeast?: number } = {}) {
  const { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = goal
  const hasGoal = Object.keys(goal).length > 0
  const isMet = !hasGoal || (value <= atMost && value >= atLeast)
  const wanted = hasGoal ? ` (goal ${'atMost' in goal ? `≤ ${atMost}` : `≥ ${atLeast}`})` : ''
  if (!isMet) missed.push(what)
  const begin = isMet ? (hasGoal ? 'ok    ' : '      ') : 'MISSED'
  console.log(`${begin} ${what}: ${value.toFixed(value < 10 ? 2 : 0)} ${unit}${wanted}`)
}

/** Ends the bench, with an error when a goal was missed. */
export function finish(): never {
  process.exit(missed.length ? 1 : 0)
}

export function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
