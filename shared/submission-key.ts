/** How long a submission key identifies one order. The same content later is a new order. */
export const KEY_LIFETIME_MS = 86_400_000

/** A window of content keys: an equal form sent without scripts is a repeat for one to two windows. */
export const FORM_REPEAT_MS = 10 * 60_000
