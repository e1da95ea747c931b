/**
 * The key that makes one filling of the form one order, however often it is sent. It is kept for the tab, so that a
 * reload or the back button after a lost answer sends the same key again. Nothing that was typed is kept.
 */
export interface SubmissionKey {
  key: string
  /** A try with this key ended without an answer, so the server may have stored what was sent. */
  unanswered: boolean
}

const STORE = 'submission-key'
let current: SubmissionKey | undefined

export function currentKey(): SubmissionKey {
  current ??= stored() ?? { key: randomUuid(), unanswered: false }
  return current
}

export function keepKey(key: SubmissionKey) {
  current = key
  try {
    sessionStorage.setItem(STORE, JSON.stringify(key))
  } catch {
    // A browser may refuse storage; the key then lives as long as the page.
  }
}

export function forgetKey() {
  current = undefined
  try {
    sessionStorage.removeItem(STORE)
  } catch {
    // As above.
  }
}

function stored(): SubmissionKey | undefined {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(STORE) ?? 'null')
    if (typeof value !== 'object' || value === null || !('key' in value) || !('unanswered' in value)) return undefined
    return typeof value.key === 'string' ? { key: value.key, unanswered: value.unanswered === true } : undefined
  } catch {
    return undefined
  }
}

/** `crypto.randomUUID` exists on https and localhost only. */
function randomUuid() {
  if ('randomUUID' in crypto) return crypto.randomUUID()
  const bytes = (crypto as Crypto).getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
