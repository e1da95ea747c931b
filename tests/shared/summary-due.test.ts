// When staff get a summary of the enquiries that no mail has told them of.
import { expect, it } from 'vitest'
import { isDueBy } from '../../server/mail/summary.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const staff = { STAFF_EMAILS: ['Asha@shop.example', 'ravi@shop.example'], MAIL_DAILY_BUDGET: 0 }
const lastReceivers = ['asha@shop.example', 'ravi@shop.example']
const told = { untoldMs: 2 * MINUTE, untoldSpamMs: null, lastMs: null, wasTaken: false, lastReceivers: [] as string[] }

it.each([
  ['an enquiry that has waited', {}, true],
  ['an enquiry that has just come', { untoldMs: MINUTE - 1 }, false],
  ['nothing untold', { untoldMs: null }, false],
  ['suspected spam alone', { untoldMs: null, untoldSpamMs: 2 * MINUTE }, true],
  [
    'suspected spam on the day of a summary',
    { untoldMs: null, untoldSpamMs: DAY, lastMs: DAY - 1, wasTaken: true },
    false,
  ],
  ['a summary that was taken, and the interval is over', { lastMs: 10 * MINUTE, wasTaken: true }, true],
  ['a summary that was taken, and the interval is not over', { lastMs: 10 * MINUTE - 1, wasTaken: true }, false],
  ['a summary that reached nobody', { lastMs: DAY - 1, lastReceivers }, false],
  ['a summary that reached nobody, a day later', { lastMs: DAY, lastReceivers }, true],
  [
    'a summary that reached nobody, and a new address',
    { lastMs: DAY - 1, lastReceivers: lastReceivers.slice(1) },
    true,
  ],
])('is due or not after %s', (_of, facts, isDue) => expect(isDueBy({ ...told, ...facts }, staff, MINUTE)).toBe(isDue))

it('the interval grows where the budget is small', () => {
  const facts = { ...told, lastMs: 60 * MINUTE, wasTaken: true }
  expect(isDueBy(facts, { ...staff, MAIL_DAILY_BUDGET: 100 }, MINUTE)).toBe(false)
  expect(isDueBy({ ...facts, lastMs: 120 * MINUTE }, { ...staff, MAIL_DAILY_BUDGET: 100 }, MINUTE)).toBe(true)
})
