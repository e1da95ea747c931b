/** How long a submission key identifies one order. The same content later is a new order. */
export const KEY_LIFETIME_MS = 86_400_000

/** How long the same content is the same order where a browser posts the form. */
export const FORM_REPEAT_MS = 10 * 60_000
