import * as z from 'zod/mini'
import { buyerTypes, products } from '../../shared/catalogue.ts'
import {
  AT_ONCE_MAX,
  closingReasons,
  DESK_PATH,
  deskStates,
  NOTE_MAX,
  noteMessages,
  SEARCH_MAX,
} from '../../shared/desk.ts'
import { REFERENCE_PATTERN } from '../database/enquiry.ts'

/* What the desk takes to show something, and the parts that its changes take too (changes.ts). */

/** PostgreSQL's texts hold no zero byte. */
export const text = (max: number, message?: string) =>
  z.string().check(
    z.maxLength(max, message),
    z.refine((value) => !value.includes('\0')),
  )

/** A line of text, in which something is visible. */
const line = z.pipe(
  z.transform((value: string) =>
    value
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
      .replace(/ {2,}/g, ' ')
      .trim(),
  ),
  z.string().check(z.minLength(1, noteMessages.empty)),
)
export const note = z.pipe(text(NOTE_MAX, noteMessages.long), line)
export const reference = z.string().check(z.regex(REFERENCE_PATTERN))
export const references = z.array(reference).check(z.minLength(1), z.maxLength(AT_ONCE_MAX))

/** A day of the calendar. */
export const day = z.string().check(
  z.regex(/^20\d\d-\d\d-\d\d$/),
  z.refine((value) => isTime(`${value}T00:00:00.000Z`)),
)

const time = z.string().check(z.refine(isTime))

export const searchMessage = `Search for at most ${SEARCH_MAX} characters.`

export const chosenSchema = z.strictObject({
  state: z.enum(deskStates),
  order: z.optional(z.enum(['newest', 'oldest'])),
  text: z.optional(text(SEARCH_MAX, searchMessage)),
  product: z.optional(z.enum(products)),
  type: z.optional(z.enum(buyerTypes)),
  closedAs: z.optional(z.enum(closingReasons)),
  /** An address of staff. With it, or with `closedAs`, the days are those on which it was done, else those of receipt. */
  by: z.optional(text(200)),
  from: z.optional(day),
  to: z.optional(day),
})

export type Choice = z.infer<typeof chosenSchema>

/** A place in a list: `[the day of the reminder] the time of receipt, the id` of an enquiry, which may have been erased since. */
const PLACE =
  /^(?:(?<remindOn>\d{4}-\d\d-\d\d) )?(?<receivedAt>[\dT:.-]+Z) (?<id>[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12})$/

export interface Place {
  remindOn?: string | undefined
  receivedAt: string
  id: string
}

export function placeOf(
  { remindOn, receivedAt, id }: { remindOn: string | null; receivedAt: Date; id: string },
  isByDay: boolean,
) {
  return `${isByDay ? `${remindOn} ` : ''}${receivedAt.toISOString()} ${id}`
}

export function readPlace(text: string): Place | undefined {
  const place = PLACE.exec(text)?.groups as Place | undefined
  if (!place || !isTime(place.receivedAt)) return undefined
  return place.remindOn && !isTime(`${place.remindOn}T00:00:00.000Z`) ? undefined : place
}

/** Of a year that PostgreSQL has, too. */
function isTime(text: string): boolean {
  const date = new Date(text)
  return /^[1-9]\d{3}-/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString() === text
}

export const inputs = {
  list: z.extend(chosenSchema, {
    before: z.optional(
      z.string().check(
        z.maxLength(100),
        z.refine((value) => readPlace(value) !== undefined),
      ),
    ),
  }),
  pulse: z.strictObject({ showing: z.array(reference).check(z.maxLength(AT_ONCE_MAX)), newest: z.optional(time) }),
  show: z.strictObject({ reference }),
  person: z.strictObject({ reference }),
}

export const key = z.guid().check(z.toLowerCase())
/** `of`: the key of a change. */
export const takeBackInput = z.strictObject({ key, of: key })

const ENQUIRY_PATH = new RegExp(`^${DESK_PATH}/(.+)$`)

/** A page of the desk, of a form's hidden field or an address; anything else becomes the list. */
export function readDeskPath(path: unknown): string {
  const [, reference = ''] = ENQUIRY_PATH.exec(typeof path === 'string' ? path : '') ?? []
  return REFERENCE_PATTERN.test(reference) ? `${DESK_PATH}/${reference}` : DESK_PATH
}
