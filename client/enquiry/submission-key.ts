import { KEY_MAX_MS } from '../../shared/submission-key.ts'

const STORE = 'submission-key'

/**
 * The key that makes one filling of the form one order, however often it is sent. It is kept for the tab, so that a
 * reload or the back button after a lost answer sends the same key again. Nothing that was typed is kept.
 */
export interface SubmissionKey {
  key: string
  /** A try with this key ended without an answer, so the server may have stored what was sent. */
  unanswered: boolean
  /** When it was made. */
  at: number
}

/** A key dated in the future comes from a clock that was wrong. */
export function isFresh({ at }: SubmissionKey): boolean {
  return Math.abs(Date.now() - at) < KEY_MAX_MS
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
