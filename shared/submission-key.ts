/** For so long a submission key stands for one order. The same content later is a new order. */
export const KEY_MAX_MS = 86_400_000

/** For so long the same content is the same order where a browser posts the form. */
export const REPEAT_MS = 10 * 60_000
