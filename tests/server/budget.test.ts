// Mails keep to the daily budget, and staff learn of every enquiry within the minutes that are given here.
import { describe, expect, it } from 'vitest'
import { type Budget, limitOf, receiversOf, summaryIntervalMs } from '../../server/mail/budget.ts'
import { type CountedKind, kinds, mailKinds } from '../../server/mail/states.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const STEP_MS = 30_000
/** Mails that are claimed together. */
const AT_ONCE = 20

function limits(budget: Budget, count: number) {
  return Object.fromEntries(mailKinds.map((kind) => [kind, limitOf(kind, budget, count)]))
}

describe('what may be sent now', () => {
  it.each([
    [100, 1, 0, { Summary: 100, Notice: 75, Confirmation: 70, Acknowledgement: 60 }],
    [100, 1, 59, { Summary: 41, Notice: 16, Confirmation: 11, Acknowledgement: 1 }],
    [100, 1, 60, { Summary: 40, Notice: 15, Confirmation: 10, Acknowledgement: 0 }],
    [100, 3, 73, { Summary: 9, Notice: 0, Confirmation: 0, Acknowledgement: 0 }],
    [100, 3, 72, { Summary: 9, Notice: 1, Confirmation: 0, Acknowledgement: 0 }],
    [10, 10, 0, { Summary: 1, Notice: 0, Confirmation: 0, Acknowledgement: 0 }],
    [100, 1, 200, { Summary: 0, Notice: 0, Confirmation: 0, Acknowledgement: 0 }],
  ])('of %i for %i of staff, after %i in 24 hours', (mails, receivers, used, each) => {
    expect(limits({ mails, receivers }, used)).toEqual(each)
  })

  it('is everything without a budget', () => {
    expect(Object.values(limits({ mails: 0, receivers: 3 }, 0))).toEqual(Array(4).fill(Number.POSITIVE_INFINITY))
  })
})

it('summaries are an hour apart, at least ten minutes, and at most a day', () => {
  const minutes = (mails: number, receivers: number) => summaryIntervalMs({ mails, receivers }) / MINUTE_MS
  expect([minutes(100, 1), minutes(0, 3), minutes(3000, 3), minutes(100, 3), minutes(10, 10)]).toEqual([
    57.6,
    10,
    10,
    172.8,
    24 * 60,
  ])
})

/** A week by the rules: how late staff learn of an enquiry at most, the share acknowledged, and what the counter did. */
function simulate(budget: Budget, enquiriesADay: number) {
  const sent: { at: number; receivers: number }[] = []
  const waiting: Record<CountedKind, number[]> = { Summary: [], Notice: [], Confirmation: [], Acknowledgement: [] }
  const highest = { Summary: 0, Notice: 0, Confirmation: 0, Acknowledgement: 0 }
  const untold: number[] = []
  let [first, used, toldLate, acknowledged] = [0, 0, 0, 0]
  let lastSummary = -DAY_MS

  function send(kind: CountedKind, now: number) {
    sent.push({ at: now, receivers: receiversOf(kind, budget) })
    used += receiversOf(kind, budget)
    highest[kind] = Math.max(highest[kind], used)
  }
  for (let now = 0; now < 7 * DAY_MS; now += STEP_MS) {
    const arrived = Math.floor(((now + STEP_MS) * enquiriesADay) / DAY_MS) - Math.floor((now * enquiriesADay) / DAY_MS)
    for (let index = 0; index < arrived; index++)
      for (const kind of ['Notice', 'Acknowledgement'] as const) waiting[kind].push(now)
    if (now % (DAY_MS / 8) === 0) waiting.Confirmation.push(now) // eight subscriptions a day
    for (; sent[first] && (sent[first]?.at ?? 0) <= now - DAY_MS; first++) used -= sent[first]?.receivers ?? 0
    while ((waiting.Acknowledgement[0] ?? now) < now - DAY_MS) waiting.Acknowledgement.shift()
    for (let isBusy = true; isBusy; ) {
      isBusy = false
      const limitNow = (kind: CountedKind) => limitOf(kind, budget, used)
      if (limitNow('Notice') === 0) for (const since of waiting.Notice.splice(0)) untold.push(since)
      const isDue = untold[0] !== undefined && now - untold[0] >= MINUTE_MS
      if (isDue && now - lastSummary >= summaryIntervalMs(budget) && limitNow('Summary') > 0) {
        for (const since of untold.splice(0)) toldLate = Math.max(toldLate, now - since)
        waiting.Summary.push(now)
        lastSummary = now
      }
      // Mails of one kind are claimed together: the first that has any.
      const kind = mailKinds.find((each) => waiting[each].length > 0 && limitNow(each) > 0)
      if (!kind) continue
      isBusy = true
      for (let count = Math.min(limitNow(kind), AT_ONCE, waiting[kind].length); count > 0; count--) {
        const since = (kinds[kind].to === 'staff' ? waiting[kind].shift() : waiting[kind].pop()) ?? now
        if (kind === 'Notice') toldLate = Math.max(toldLate, now - since)
        if (kind === 'Acknowledgement') acknowledged++
        send(kind, now)
      }
    }
  }
  for (const since of [...untold, ...waiting.Notice]) toldLate = Math.max(toldLate, 7 * DAY_MS - since)
  return { highest, toldMinutes: toldLate / MINUTE_MS, acknowledged: acknowledged / (7 * enquiriesADay) }
}

describe('in a simulated week', () => {
  it.each([
    // Staff know of each enquiry within so many minutes, whatever the number of enquiries.
    [0, 1, 1],
    [0, 2, 1],
    [0, 3, 1],
    [0, 10, 1],
    [10, 1, 600],
    [10, 2, 1440],
    [10, 3, 1440],
    [10, 10, 1440],
    [100, 1, 60],
    [100, 2, 120],
    [100, 3, 230],
    [100, 10, 580],
    [3000, 1, 11],
    [3000, 2, 11],
    [3000, 3, 11],
    [3000, 10, 20],
  ])(
    'with %i mails a day, staff of %i know within %i minutes, and no share is exceeded',
    (mails, receivers, minutes) => {
      for (const enquiriesADay of [10, 40, 400, 4000, 40_000]) {
        const week = simulate({ mails, receivers }, enquiriesADay)
        const what = `${enquiriesADay} enquiries a day`
        expect(week.toldMinutes, what).toBeLessThanOrEqual(minutes)
        if (mails === 0) continue
        expect(week.highest.Summary, what).toBeLessThanOrEqual(mails)
        expect(week.highest.Notice, what).toBeLessThanOrEqual(0.75 * mails)
        expect(week.highest.Acknowledgement, what).toBeLessThanOrEqual(0.6 * mails)
      }
    },
  )

  it.each([
    [100, 1, 10, 1],
    [100, 1, 40, 0.25],
    [100, 3, 10, 1],
    [3000, 3, 400, 1],
    [3000, 3, 4000, 0.01],
  ])(
    'with %i mails a day and staff of %i, of %i enquiries a day at least %f are acknowledged',
    (mails, receivers, enquiries, share) => {
      expect(simulate({ mails, receivers }, enquiries).acknowledged).toBeGreaterThanOrEqual(share)
    },
  )
})
