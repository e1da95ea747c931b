const STORE = 'submission-key'

/*
 * Made when an order is first sent: by send-order.ts; by `addKey` when the browser posts; by the server without any script.
 * Kept for the tab in sessionStorage, and by the page of a failure in a hidden field, which counts more.
 * Forgotten once the visitor sees the reference: by order-form.tsx, or by main.ts on the page `/received`. Until then every
 * try has the same key, unless send-order.ts replaces it after 409. (Of a posted form whose key belongs to other content the
 * server stores the order under a new one.)
 */

/**
 * The key that makes one filling of the form one order, however often it is sent. It is kept for the tab, so that a
 * reload or the back button after a lost answer sends the same key again. Nothing that was typed is kept.
 */
export interface SubmissionKey {
  key: string
  /** A request with this key was started and not refused, so the server may have stored what was sent. */
  maybeStored: boolean
  /** `addKey` sets it when the browser posts the form. The page `/received` then removes the key. */
  isPosted?: true
}

export function readStoredKey(): SubmissionKey | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORE) ?? 'null')
    return typeof kept?.key === 'string' ? kept : null
  } catch {
    return null
  }
}

/** `null` removes it. @returns false when the browser refuses storage */
export function writeStoredKey(key: SubmissionKey | null): boolean {
  try {
    if (key) sessionStorage.setItem(STORE, JSON.stringify(key))
    else sessionStorage.removeItem(STORE)
    return true
  } catch {
    return false
  }
}

/** Adds a key to an order that the browser posts: the key that a page of failure holds, else this tab's, else a new one. */
export function addKey({ target, formData }: FormDataEvent): void {
  if ((target as HTMLElement).id !== 'order') return
  const given = formData.get('submissionKey')
  const key = given ? String(given) : (readStoredKey()?.key ?? crypto.randomUUID?.()) // http pages have no randomUUID
  // A key that cannot be kept would differ at the next post: none is sent then, and the server looks for an equal enquiry.
  if (key && writeStoredKey({ key, maybeStored: true, isPosted: true })) formData.set('submissionKey', key)
}
