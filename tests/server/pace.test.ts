import { expect, it } from 'vitest'
import { createPace } from '../../server/mail/pace.ts'

const headers = (limit: number, remaining: number, reset = 1) => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(reset),
})

function aPace() {
  const clock = { ms: 0 }
  const pace = createPace(() => clock.ms)
  /** Starts as many as it may and returns how many. */
  function startAll() {
    const { tries } = pace.capacity()
    for (let index = 0; index < tries; index++) pace.started()
    return tries
  }
  return { clock, pace, startAll }
}

it('the first request goes alone until Resend has answered', () => {
  const { pace, startAll } = aPace()
  expect(startAll()).toBe(1)
  expect(pace.capacity()).toEqual({ tries: 0, pauseMs: 0 })
  pace.ended(null) // no answer: still nothing is known
  expect(startAll()).toBe(1)
  pace.ended({}) // an answer that names no limit
  expect(startAll()).toBe(10)
})

it('without a limit in the answers a hundred requests go a second', () => {
  const { clock, pace, startAll } = aPace()
  let started = 0
  for (; clock.ms < 3000; clock.ms++) {
    const now = startAll()
    started += now
    for (let index = 0; index < now; index++) pace.ended({})
  }
  expect(started).toBe(300)
})

it('the rest of a window is used at once, and the next window when it begins', () => {
  const { clock, pace, startAll } = aPace()
  startAll()
  clock.ms = 10
  pace.ended(headers(4, 3))
  expect(startAll()).toBe(3)
  clock.ms = 30
  pace.ended(headers(4, 2))
  pace.ended(headers(4, 1))
  pace.ended(headers(4, 0))
  expect(pace.capacity()).toEqual({ tries: 0, pauseMs: 980 })
  clock.ms = 1010
  expect(startAll()).toBe(4)
})

it('requests of others in the team count, and those under way may count', () => {
  const { clock, pace, startAll } = aPace()
  startAll()
  pace.ended(headers(10, 2))
  expect(startAll()).toBe(2)
  clock.ms = 500
  pace.ended(headers(10, 0)) // somebody else took one
  expect(pace.capacity().tries).toBe(0)
  clock.ms = 1000
  expect(startAll()).toBe(9)
})

it('a request that was started and not sent makes way for another', () => {
  const { pace, startAll } = aPace()
  startAll()
  pace.ended(headers(5, 1))
  expect(startAll()).toBe(1)
  expect(startAll()).toBe(0)
  pace.ended('unsent')
  expect(startAll()).toBe(1)
})

it('a lost answer in a new window does not stop the sender', () => {
  const { clock, pace, startAll } = aPace()
  startAll()
  pace.ended(headers(2, 1))
  startAll()
  pace.ended(headers(2, 0))
  clock.ms = 1000
  expect(startAll()).toBe(2)
  pace.ended(null)
  pace.ended(null)
  expect(startAll()).toBeGreaterThan(0)
})
