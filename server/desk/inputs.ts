import * as z from 'zod/mini'
import { DESK_PATH, deskStates, deskStatuses, NOTE_MAX, NOTES_MAX, SEARCH_MAX } from '../../shared/desk.ts'
import { REFERENCE_PATTERN } from '../database/enquiry.ts'

/* What the desk takes. */

/** Of broken rules these are shown; any other is a fault of the page. */
export const inputMessages = {
  search: `Search for at most ${SEARCH_MAX} characters.`,
  longNote: `A note has at most ${NOTE_MAX} characters.`,
  emptyNote: 'Please type a note.',
}

/** PostgreSQL's texts hold no zero byte. */
const text = (max: number, message?: string) =>
  z.string().check(
    z.maxLength(max, message),
    z.refine((value) => !value.includes('\0')),
  )
const reference = z.string().check(z.regex(REFERENCE_PATTERN))

export const chosenSchema = z.strictObject({
  state: z.enum(deskStates),
  order: z.optional(z.enum(['newest', 'oldest'])),
  text: z.optional(text(SEARCH_MAX, inputMessages.search)),
})

export type Choice = z.infer<typeof chosenSchema>

export const inputs = {
  list: z.extend(chosenSchema, { before: z.optional(text(100)) }),
  show: z.strictObject({ reference }),
  setStatus: z.strictObject({ reference, status: z.enum(deskStatuses), was: text(100) }),
  setSpam: z.strictObject({ reference, spam: z.boolean(), was: z.boolean() }),
  addNote: z.strictObject({
    reference,
    text: z.pipe(
      text(NOTE_MAX, inputMessages.longNote),
      z.pipe(
        z.transform((value: string) =>
          value
            .replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
            .replace(/ {2,}/g, ' ')
            .trim(),
        ),
        z.string().check(z.minLength(1, inputMessages.emptyNote)),
      ),
    ),
  }),
  removeNote: z.strictObject({ reference, was: text(NOTES_MAX) }),
  addCall: z.strictObject({ reference }),
  sendAgain: z.strictObject({ mail: z.string().check(z.regex(/^[1-9]\d{0,17}$/)) }),
}

const ENQUIRY_PATH = new RegExp(`^${DESK_PATH}/(.+)$`)

/** A page of the desk, of a form's hidden field or an address; anything else becomes the list. */
export function readDeskPath(path: unknown): string {
  const [, reference = ''] = ENQUIRY_PATH.exec(typeof path === 'string' ? path : '') ?? []
  return REFERENCE_PATTERN.test(reference) ? `${DESK_PATH}/${reference}` : DESK_PATH
}
