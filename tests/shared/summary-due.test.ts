// When a summary is due: one pure function over facts. The silences and storms that a review found each have a row.
import { describe, expect, it } from 'vitest'
import { isDigestDue, isSummaryDue, type SummaryFacts } from '../../server/mail/summary.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** 15:00 in India. */
const now = new Date('2026-11-28T09:30:00Z')
const ago = (ms: number) => new Date(now.getTime() - ms)
const [ASHA, RAVI] = ['Asha@shop.example', 'ravi@shop.example']
const staff = { STAFF_EMAILS: [ASHA, RAVI], MAIL_DAILY_BUDGET: 0, DIGEST_AT: 'off' }
const lastReceivers = ['asha@shop.example', 'ravi@shop.example']
const quiet: SummaryFacts = {
  now,
  madeAt: ago(100 * DAY),
  isUntold: false,
  isSuspected: false,
  lastAt: null,
  lastStates: [],
  lastReceivers: [],
}
const last = (ms: number, changes: Partial<SummaryFacts> = {}) => ({ lastAt: ago(ms), lastReceivers, ...changes })
const taken: Partial<SummaryFacts> = { lastStates: ['Sent', 'Bounced'] }
const lost: Partial<SummaryFacts> = { lastStates: ['Bounced', 'Pending'] }

describe('a summary', () => {
  it.each<[of: string, facts: Partial<SummaryFacts>, isDue: boolean, settings?: Partial<typeof staff>]>([
    ['nothing untold', {}, false],
    ['an enquiry that is untold, and never a summary', { isUntold: true }, true],
    ['one that was taken, ten minutes ago', { isUntold: true, ...last(10 * MINUTE, taken) }, true],
    ['one that was taken, less than ten minutes ago', { isUntold: true, ...last(10 * MINUTE - 1, taken) }, false],
    ['one that was taken, and nothing untold since', last(3 * DAY, taken), false],
    [
      'everything Withheld by a restore an hour after it',
      { isUntold: true, ...last(HOUR, { lastStates: ['Withheld', 'Withheld'] }) },
      true,
    ],
    ['the full mailbox of the only one of staff', { isUntold: true, ...last(DAY - 1, lost) }, false],
    ['the same, a day later', { isUntold: true, ...last(DAY, lost) }, true],
    [
      'a typo in STAFF_EMAILS that was mended at noon',
      { isUntold: true, ...last(HOUR, { ...lost, lastReceivers: ['asha@shp.example', 'ravi@shop.example'] }) },
      true,
    ],
    [
      'replicas of other settings, whose addresses it went to',
      { isUntold: true, ...last(HOUR, lost) },
      false,
      { STAFF_EMAILS: [RAVI] },
    ],
    ['a small budget, after an hour', { isUntold: true, ...last(HOUR, taken) }, false, { MAIL_DAILY_BUDGET: 100 }],
    ['a small budget, after two hours', { isUntold: true, ...last(2 * HOUR, taken) }, true, { MAIL_DAILY_BUDGET: 100 }],
    [
      'a hundred thousand suspected that nobody touches, the same day',
      { isSuspected: true, ...last(23 * HOUR, taken) },
      false,
    ],
    ['the same, the next day', { isSuspected: true, ...last(DAY, taken) }, true],
    [
      'the same with a digest, which tells of them',
      { isSuspected: true, ...last(3 * DAY, taken) },
      false,
      { DIGEST_AT: '09:00' },
    ],
    ['suspected spam, and never a summary', { isSuspected: true }, true],
  ])('%#: %s', (_of, facts, isDue, settings = {}) => {
    expect(isSummaryDue({ ...quiet, ...facts }, { ...staff, ...settings })).toBe(isDue)
  })
})

describe('the digest', () => {
  const at = (clock: string) => new Date(`2026-11-28T${clock}:00+05:30`)
  it.each<
    [of: string, clock: string, facts: Partial<SummaryFacts>, isDue: boolean, digestAt?: string, budget?: number]
  >([
    ['at its time', '09:00', {}, true],
    ['a minute before', '08:59', {}, false],
    ['an empty morning and something at 14:59', '14:59', {}, true],
    ['an empty morning and something at 23:50', '23:50', {}, false],
    ['at 02:00 of a digest at 23:00', '02:00', {}, true, '23:00'],
    ['after a summary at 08:59', '09:00', { lastAt: at('08:59') }, false],
    ['after a summary at 08:50, one interval before it', '09:00', { lastAt: at('08:50') }, true],
    [
      'after yesterday’s, at the smallest budget, whose interval is a day',
      '09:00',
      { lastAt: new Date(at('09:00').getTime() - DAY + 5000) },
      true,
      '09:00',
      8,
    ],
    ['after one at 08:59 that nobody got', '09:00', { lastAt: at('08:59'), lastStates: ['Bounced', 'Unknown'] }, true],
    [
      'after one at 08:59 of which one was taken',
      '09:00',
      { lastAt: at('08:59'), lastStates: ['Bounced', 'Sent'] },
      false,
    ],
    ['after one at 08:59 that is on its way', '09:00', { lastAt: at('08:59'), lastStates: ['Pending'] }, false],
    ['after that of today, which nobody got', '09:20', { lastAt: at('09:01'), lastStates: ['Failed'] }, false],
    ['after that of today', '11:00', { lastAt: at('09:00') }, false],
    ['of a database that was made at ten', '11:00', { madeAt: at('10:00') }, false],
    ['of one that was made at eight', '09:00', { madeAt: at('08:00') }, true],
    ['switched off', '09:00', {}, false, 'off'],
  ])('%#: %s', (_of, clock, facts, isDue, digestAt = '09:00', MAIL_DAILY_BUDGET = 0) => {
    const settings = { ...staff, DIGEST_AT: digestAt, MAIL_DAILY_BUDGET }
    expect(isDigestDue({ ...quiet, now: at(clock), lastStates: ['Sent'], ...facts }, settings)).toBe(isDue)
  })
})
