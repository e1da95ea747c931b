import { useSyncExternalStore } from 'react'
import { client, receive, trpc } from './queries.ts'

/* After Call, WhatsApp or Write whoever comes back is asked once whether they reached anybody. Others see who rings. */

const CALLED = 'desk-called'
/** Shorter than this nobody has rung and spoken, or written. */
const CALL_MIN_MS = 15_000
/** Later than this nobody remembers. */
const CALL_MAX_MS = 3_600_000

interface Called {
  reference: string
  at: number
}

let asked = ''
const listeners = new Set<() => void>()

function ask(reference: string) {
  asked = reference
  for (const listener of listeners) listener()
}

/** In sessionStorage: a telephone may end the page during the call. */
function askIfBack() {
  if (document.visibilityState !== 'visible') return
  const called: Called | null = JSON.parse(sessionStorage.getItem(CALLED) ?? 'null')
  const ago = Date.now() - (called?.at ?? 0)
  if (!called || ago < CALL_MIN_MS) return
  sessionStorage.removeItem(CALLED)
  if (ago < CALL_MAX_MS) ask(called.reference)
}

export function watchCalls(): void {
  addEventListener('visibilitychange', askIfBack)
  addEventListener('focus', askIfBack)
  askIfBack()
}

/** A link leads to another app: whoever comes back is asked. */
export function startContact(reference: string): void {
  sessionStorage.setItem(CALLED, JSON.stringify({ reference, at: Date.now() } satisfies Called))
  ask('')
}

/** The link rings; this tells the others. */
export function startCall(reference: string): void {
  startContact(reference)
  trpc.desk.ring
    .mutate({ reference, key: crypto.randomUUID() })
    .then((rows) => receive(rows))
    .catch(() => client.invalidateQueries({ queryKey: ['pulse'] })) // a session that is over is noticed there
}

export const endCall = (): void => ask('')

/** The reference of the enquiry that is asked about. */
export function useAsked(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => asked,
  )
}
