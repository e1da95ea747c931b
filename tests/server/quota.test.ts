import { describe, expect, it } from 'vitest'
import { allowanceOf, type CountByKind, sharesOf, summaryPauseMs } from '../../server/mail/quota.ts'
import type { SentKind } from '../../server/mail/states.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const nothing: CountByKind = { Notice: 0, Summary: 0, Confirmation: 0, Acknowledgement: 0 }

describe('the shares of a day’s mails', () => {
  it.each([
    [100, 1, { Notice: 30, Summary: 25, Acknowledgement: 30, Confirmation: 10 }],
    [100, 3, { Notice: 10, Summary: 9, Acknowledgement: 30, Confirmation: 10 }],
    [30, 1, { Notice: 9, Summary: 8, Acknowledgement: 9, Confirmation: 3 }],
    [30, 3, { Notice: 3, Summary: 3, Acknowledgement: 9, Confirmation: 3 }],
    [1000, 1, { Notice: 300, Summary: 250, Acknowledgement: 300, Confirmation: 100 }],
    [10, 3, { Notice: 1, Summary: 1, Acknowledgement: 3, Confirmation: 1 }],
    [10, 8, { Notice: 0, Summary: 1, Acknowledgement: 2, Confirmation: 0 }],
    [1, 1, { Notice: 0, Summary: 1, Acknowledgement: 0, Confirmation: 0 }],
  ])('of %i for %i of staff', (mails, receivers, shares) => {
    expect(sharesOf({ mails, receivers })).toEqual(shares)
  })

  it('together are never more than the budget, and staff always have a summary', () => {
    for (let mails = 1; mails <= 300; mails++)
      for (let receivers = 1; receivers <= Math.min(mails, 12); receivers++) {
        const { Notice, Summary, Acknowledgement, Confirmation } = sharesOf({ mails, receivers })
        expect((Notice + Summary) * receivers + Acknowledgement + Confirmation).toBeLessThanOrEqual(mails)
        expect(Summary).toBeGreaterThanOrEqual(1)
      }
  })
})

describe('what may be sent now', () => {
  it.each<[number, number, Partial<CountByKind>, Partial<CountByKind>]>([
    [100, 1, {}, { Notice: 30, Summary: 100, Acknowledgement: 30, Confirmation: 10 }],
    [100, 1, { Notice: 30, Acknowledgement: 29 }, { Notice: 0, Summary: 41, Acknowledgement: 1, Confirmation: 10 }],
    [100, 3, { Notice: 9 }, { Notice: 1, Summary: 24 }],
    [
      100,
      1,
      { Notice: 30, Summary: 30, Acknowledgement: 30, Confirmation: 10 },
      { Notice: 0, Summary: 0, Confirmation: 0 },
    ],
    [30, 3, { Summary: 9, Notice: 1 }, { Notice: 0, Summary: 0, Acknowledgement: 0, Confirmation: 0 }],
    [0, 3, { Notice: 1e6 }, { Notice: Number.POSITIVE_INFINITY, Acknowledgement: Number.POSITIVE_INFINITY }],
  ])('of %i for %i of staff, after %j', (mails, receivers, used, allowed) => {
    expect(allowanceOf({ mails, receivers }, { ...nothing, ...used })).toMatchObject(allowed)
  })

  it('summaries have pauses that grow from nothing to 110 minutes; ten minutes without a budget', () => {
    const minutes = [0, 1, 2, 24].map((n) => Math.round(summaryPauseMs({ mails: 100, receivers: 1 }, n) / MINUTE_MS))
    expect(minutes).toEqual([0, 5, 9, 111])
    expect(summaryPauseMs({ mails: 0, receivers: 1 }, 500)).toBe(10 * MINUTE_MS)
  })
})

/** The longest that one waited, in milliseconds. */
interface Late {
  /** Of an enquiry, until staff were told by a notice or a summary. */
  told: number
  acknowledgements: number
  confirmations: number
}

/** A week by the rules, in steps of half a minute: how late staff and visitors hear, and the most mails of 24 hours. */
function simulate(mails: number, receivers: number, enquiriesADay: number) {
  const budget = { mails, receivers }
  const step = 30_000
  const sent: Record<SentKind, number[]> = { Notice: [], Summary: [], Confirmation: [], Acknowledgement: [] }
  const waiting: Record<'Notice' | 'Confirmation' | 'Acknowledgement', number[]> = {
    Notice: [],
    Confirmation: [],
    Acknowledgement: [],
  }
  const late: Late = { told: 0, acknowledgements: 0, confirmations: 0 }
  const first: CountByKind = { ...nothing }
  let [most, tooLate, waitsSince] = [0, 0, 0]
  let isLimitReached = false
  for (let now = 0; now < 7 * DAY_MS; now += step) {
    const arrived = Math.floor(((now + step) * enquiriesADay) / DAY_MS) - Math.floor((now * enquiriesADay) / DAY_MS)
    for (let index = 0; index < arrived; index++) {
      waiting.Notice.push(now)
      waiting.Acknowledgement.push(now)
    }
    if (now % (DAY_MS / 8) === 0) waiting.Confirmation.push(now) // eight subscriptions a day
    const kinds = Object.keys(sent) as SentKind[]
    for (const kind of kinds) while ((sent[kind][first[kind]] ?? now) <= now - DAY_MS) first[kind]++
    const used = () => Object.fromEntries(kinds.map((kind) => [kind, sent[kind].length - first[kind]])) as CountByKind
    while (waiting.Acknowledgement[0] !== undefined && waiting.Acknowledgement[0] < now - DAY_MS) {
      waiting.Acknowledgement.shift()
      tooLate++
    }
    isLimitReached = waiting.Notice.length > 0 && (isLimitReached || allowanceOf(budget, used()).Notice === 0)
    if (!isLimitReached) waitsSince = now
    const isQuiet = now - (sent.Summary.at(-1) ?? -DAY_MS) >= summaryPauseMs(budget, used().Summary)
    const isDigest = now % DAY_MS === 9 * HOUR_MS
    const isSummary = isDigest || (isLimitReached && now - waitsSince >= MINUTE_MS && isQuiet)
    if (isSummary && allowanceOf(budget, used()).Summary > 0) {
      if (isLimitReached) for (const each of waiting.Notice.splice(0)) late.told = Math.max(late.told, now - each)
      sent.Summary.push(now)
    }
    const send = (kind: 'Notice' | 'Confirmation' | 'Acknowledgement', how: 'shift' | 'pop', name: keyof Late) => {
      while (waiting[kind].length > 0 && allowanceOf(budget, used())[kind] > 0) {
        const each = waiting[kind][how]() ?? now
        sent[kind].push(now)
        late[name] = Math.max(late[name], now - each)
      }
    }
    send('Notice', 'shift', 'told')
    send('Confirmation', 'pop', 'confirmations')
    send('Acknowledgement', 'pop', 'acknowledgements')
    const { Notice, Summary, Confirmation, Acknowledgement } = used()
    most = Math.max(most, (Notice + Summary) * receivers + Confirmation + Acknowledgement)
  }
  for (const each of waiting.Notice) late.told = Math.max(late.told, 7 * DAY_MS - each)
  const confirmations = [...waiting.Confirmation.map((each) => 7 * DAY_MS - each), late.confirmations]
  return {
    minutes: {
      told: late.told / MINUTE_MS,
      acknowledgements: late.acknowledgements / MINUTE_MS,
      confirmations: Math.max(...confirmations) / MINUTE_MS,
    },
    acknowledged:
      sent.Acknowledgement.length / (sent.Acknowledgement.length + waiting.Acknowledgement.length + tooLate),
    most,
  }
}

describe('a simulated week', () => {
  it.each([
    // a day's mails, receivers, enquiries a day: staff told within so many minutes, the share acknowledged
    [100, 1, 10, 0, 1],
    [100, 1, 40, 40, 0.74],
    [100, 1, 400, 110, 0.07],
    [100, 1, 4000, 111, 0],
    [100, 3, 10, 0, 1],
    [100, 3, 400, 340, 0.07],
    [100, 3, 4000, 340, 0],
    [30, 1, 10, 1, 0.9],
    [30, 1, 400, 340, 0.02],
    [30, 3, 400, 910, 0.02],
    [1000, 1, 400, 5, 0.75],
    [1000, 3, 4000, 35, 0],
    [10_000, 1, 40_000, 3, 0.07],
    [0, 1, 400, 0, 1],
    [0, 3, 4000, 0, 1],
  ])('with %i mails a day to %i of staff and %i enquiries a day', (mails, receivers, enquiries, told, acknowledged) => {
    const week = simulate(mails, receivers, enquiries)
    expect(week.minutes.told).toBeLessThanOrEqual(told)
    expect(week.acknowledged).toBeGreaterThanOrEqual(acknowledged)
    if (mails > 0) expect(week.most).toBeLessThanOrEqual(mails)
    if (mails >= 100) expect(week.minutes.confirmations).toBeLessThanOrEqual(60)
  })
})
