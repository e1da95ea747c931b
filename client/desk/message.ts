import { type Id, type ToastContent, type ToastOptions, toast } from 'react-toastify/unstyled'

/* What is said of what one did. One message at a time says that it is done, as on a phone they cover rows. */

const REFUSAL_MS = 20_000

let done: Id | undefined

export function showDone(content: ToastContent, options?: ToastOptions): void {
  dismissDone()
  done = toast.success(content, options)
}

/** It stays for its time, also beside what is done meanwhile. @param isFault else it is news: a colleague was faster */
export function showRefusal(content: string, isFault: boolean): void {
  dismissDone()
  toast[isFault ? 'error' : 'info'](content, { role: 'alert', autoClose: REFUSAL_MS })
}

/** Whoever goes to another page has seen it. */
export function dismissDone(): void {
  if (done) toast.dismiss(done)
}
