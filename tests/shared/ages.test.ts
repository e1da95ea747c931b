// An age in months is counted as the calendar does, for erasing by hand and by retention.
import { expect, it } from 'vitest'
import { readAge } from '../../server/operations/person.ts'

it.each([
  ['24m', '2026-11-21', '2024-11-21'],
  ['1m', '2026-03-31', '2026-02-28'],
  ['730d', '2026-11-21', '2024-11-21'],
])('%s before %s is %s', (age, now, then) => expect(readAge(age)(new Date(now))).toEqual(new Date(then)))
