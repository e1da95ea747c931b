/** How long a submission key identifies one order. The same content later is a new order. */
export const KEY_LIFETIME_MS = 86_400_000

/** How long forms with the same content, sent without scripts, are one order. */
export const FORM_REPEAT_MS = 10 * 60_000
