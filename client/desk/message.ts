import { type ToastContent, type ToastOptions, toast } from 'react-toastify/unstyled'

/* What is said of what one did: one message at a time, as on a phone they cover rows. */

const REFUSAL_MS = 20_000

export function say(content: ToastContent, options?: ToastOptions): void {
  toast.dismiss()
  toast.success(content, options)
}

/** @param isFault else it is news, as that a colleague was faster */
export function sayNot(content: string, isFault: boolean): void {
  toast.dismiss()
  toast[isFault ? 'error' : 'info'](content, { role: 'alert', autoClose: REFUSAL_MS })
}

/** Whoever goes to another page has done with it. */
export const sayNoMore = (): void => toast.dismiss()
