import { expect, it } from 'vitest'
import { createPace } from '../../server/mail/resend.ts'

const headers = (limit: number, remaining: number, reset = 1) => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(reset),
})

function aPace() {
  const clock = { ms: 0 }
  const pace = createPace(() => clock.ms)
  /** Starts all there is room for and returns how many. */
  function startAll(underWay = 0) {
    const { mails } = pace.room(underWay)
    for (let index = 0; index < mails; index++) pace.started()
    return mails
  }
  return { clock, pace, startAll }
}

it('one mail goes alone until Resend has answered', () => {
  const { pace, startAll } = aPace()
  expect(startAll()).toBe(1)
  expect(pace.room(1)).toEqual({ mails: 0, pauseMs: 0 })
  pace.learn(null, 0) // no answer: still nothing is known
  expect(startAll()).toBe(1)
  pace.learn({}, 0) // an answer that names no limit
  expect(startAll()).toBe(10)
})

it('the rest of a window goes at once, and the next when it begins', () => {
  const { clock, pace, startAll } = aPace()
  startAll()
  clock.ms = 10
  pace.learn(headers(4, 3), 0)
  expect(startAll()).toBe(3)
  clock.ms = 30
  pace.learn(headers(4, 2), 2)
  pace.learn(headers(4, 1), 1)
  pace.learn(headers(4, 0), 0)
  expect(pace.room(0)).toEqual({ mails: 0, pauseMs: 980 })
  clock.ms = 1010
  expect(startAll()).toBe(4)
})

it('what others of the team send counts, and what is under way may count', () => {
  const { clock, pace, startAll } = aPace()
  startAll()
  pace.learn(headers(10, 2), 0)
  expect(startAll()).toBe(2)
  clock.ms = 500
  pace.learn(headers(10, 0), 1) // somebody else took one
  expect(pace.room(1).mails).toBe(0)
  clock.ms = 1000
  expect(startAll(1)).toBe(9)
})

it('a pause holds everything back', () => {
  const { clock, pace, startAll } = aPace()
  pace.pause(3000)
  expect(pace.room(0)).toEqual({ mails: 0, pauseMs: 3000 })
  clock.ms = 3000
  expect(startAll()).toBe(1)
})

it('a lost answer in a new window does not stop it for ever', () => {
  const { clock, pace, startAll } = aPace()
  startAll()
  pace.learn(headers(2, 1), 0)
  startAll()
  clock.ms = 1000
  expect(startAll()).toBe(2)
  pace.learn(null, 1)
  pace.learn(null, 0)
  expect(startAll()).toBeGreaterThan(0)
})
