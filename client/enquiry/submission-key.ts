import { KEY_LIFETIME_MS } from '../../shared/submission-key.ts'

const STORE = 'submission-key'

/*
 * A key is created when an order is first sent. send-order.ts stores it before each try and removes it once the visitor sees
 * the reference. Where the browser sends the form, main.ts adds the stored key or a new one to it, and lets it expire soon
 * after the page that shows the reference.
 */

/**
 * The key that makes one filling of the form one order, however often it is sent. It is kept for the tab, so that a
 * reload or the back button after a lost answer sends the same key again. Nothing that was typed is kept.
 */
export interface SubmissionKey {
  key: string
  /** A request with this key was started and not refused, so the server may have stored what was sent. */
  maybeStored: boolean
  /** The browser, not the scripts, sent it last. */
  sentByBrowser: boolean
  expiresAt: number
}

/** A record of this key. Its lifetime starts now. */
export function createKeyRecord(key: string): SubmissionKey {
  return { key, maybeStored: false, sentByBrowser: false, expiresAt: Date.now() + KEY_LIFETIME_MS }
}

/** A key that expires in more than two days comes from a clock that was wrong. */
export function isFresh({ expiresAt }: SubmissionKey): boolean {
  const left = expiresAt - Date.now()
  return left > 0 && left < 2 * KEY_LIFETIME_MS
}

export function readKey(): SubmissionKey | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORE) ?? 'null')
    return typeof kept?.key === 'string' && isFresh(kept) ? kept : null
  } catch {
    return null
  }
}

/** `null` removes it. @returns false when the browser refuses storage */
export function storeKey(key: SubmissionKey | null): boolean {
  try {
    if (key) sessionStorage.setItem(STORE, JSON.stringify(key))
    else sessionStorage.removeItem(STORE)
    return true
  } catch {
    return false
  }
}
