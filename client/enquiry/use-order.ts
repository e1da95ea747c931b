import { focusManager, onlineManager, useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { messages, type OrderContent } from '../../shared/order.ts'
import { notStored, notStoredRetry, progressTexts, stoppedText } from '../content/sending.ts'
import { answeredStatus, retryAfterMs } from '../trpc.ts'
import { finishOrder } from './order-key.ts'
import { type OrderState, orUncertain, type Settled } from './order-state.ts'
import { Stopped, sendOrder } from './send-order.ts'

const GIVE_UP_MS = 60_000
const UNAVAILABLE_GIVE_UP_MS = 10_000
const SLOW_MS = 4000
const PAUSE_MAX_MS = 15_000
const UNAVAILABLE_PAUSE_MAX_MS = 3000
/** A longer `Retry-After` comes from the limit of a day. The form does not wait for it. */
const WAIT_MAX_MS = 120_000

/** What is said besides the state. */
interface Told {
  onReceived?(): void
  onFailed?(message: string, error: Error): void
}

/** One press of Send. */
interface Attempt {
  order: OrderContent
  signal: AbortSignal
}

/**
 * Sends one order at a time. A try without an answer is repeated with growing pauses for up to a minute, time offline apart; a
 * database that is away (503), for ten seconds. A refusal is not repeated, with two exceptions: 429 once, after its
 * `Retry-After`; `sendOrder` may repeat 409 with a new key.
 */
export function useOrder(first: Settled, { onReceived, onFailed }: Told = {}) {
  const [settled, settle] = useState(first)
  /** Ends in the same moment as `settled` begins; the mutation's own state follows later. */
  const [isSending, setSending] = useState(false)
  const underWay = useRef<AbortController>(null)
  const patience = useRef(createPatience())
  const mutation = useMutation({
    // The first try is made also when the browser says it is offline: it may be wrong.
    networkMode: 'offlineFirst',
    mutationFn: ({ order, signal }: Attempt) => sendOrder(order, signal),
    retry: (failures, error) => !(error instanceof Stopped) && patience.current.mayRetry(failures, error),
    retryDelay: pauseMs,
    onSuccess({ reference, page, receivedAt, isEarlier }, { order, signal }) {
      if (signal.aborted) return
      const { products, quantity } = order
      finishOrder(products, reference)
      const time = receivedAt && { receivedAt: formatIndianTime(receivedAt) }
      end({
        is: 'received',
        order,
        receipt: { reference, page, products, quantity: String(quantity), isEarlier, ...time },
      })
      onReceived?.()
    },
    onError(error, { order, signal }) {
      if (signal.aborted) return
      const note = isWorthAnotherTry(error) ? notStoredRetry : notStored
      end(orUncertain({ is: 'refused', note, fieldErrors: {} }, order.products))
      onFailed?.((answeredStatus(error) && error.message) || messages.failed, error)
    },
  })
  const { isPending, failureCount, failureReason } = mutation
  /** The first try has taken long. */
  const [isSlow, setSlow] = useState(false)
  const hasFailed = isPending && failureCount > 0
  const slow = isSlow ? progressTexts.slow : undefined
  const progress = hasFailed ? progressOf(failureCount, failureReason) : slow
  const state: OrderState = isSending ? { is: 'sending', progress } : settled

  function end(next: Settled) {
    underWay.current = null
    setSending(false)
    settle(next)
  }

  useEffect(() => {
    focusManager.setFocused(true) // hidden tabs go on sending
    onlineManager.setOnline(navigator.onLine)
    const unsubscribe = onlineManager.subscribe(() => patience.current.beginAnew())
    return () => {
      unsubscribe()
      underWay.current?.abort() // nobody would see what becomes of its order
    }
  }, [])

  useEffect(() => {
    if (!isSending) return
    const slow = setTimeout(() => setSlow(underWay.current !== null), SLOW_MS)
    addEventListener('beforeunload', confirmLeaving)
    return () => {
      clearTimeout(slow)
      setSlow(false)
      removeEventListener('beforeunload', confirmLeaving)
    }
  }, [isSending])

  return {
    state,
    settle,
    isUnderWay: () => underWay.current !== null,
    /** While an order is under way it does nothing. */
    send(order: OrderContent) {
      if (underWay.current) return
      underWay.current = new AbortController()
      patience.current = createPatience()
      setSending(true)
      mutation.mutate({ order, signal: underWay.current.signal })
    },
    stop() {
      underWay.current?.abort()
      mutation.reset()
      end({ is: 'uncertain', note: stoppedText, fieldErrors: {} })
    },
  }
}

/** Decides about further tries of an order. */
function createPatience() {
  let startedAt = performance.now()
  let unavailableSince: number | undefined
  let hasWaited = false
  return {
    /** The minute begins anew after a wait, and whenever the browser goes online or offline. */
    beginAnew() {
      startedAt = performance.now()
    },
    mayRetry(failures: number, error: Error): boolean {
      const status = answeredStatus(error)
      const now = performance.now()
      if (status === undefined) return !onlineManager.isOnline() || now - startedAt < GIVE_UP_MS
      const nextAt = now + pauseMs(failures, error)
      if (status === 503) {
        unavailableSince ??= now
        return nextAt - unavailableSince <= UNAVAILABLE_GIVE_UP_MS
      }
      if (hasWaited || !retryAfterMs(error) || !isWorthAnotherTry(error)) return false
      hasWaited = true
      startedAt = nextAt
      return true
    },
  }
}

function isWorthAnotherTry(error: Error): boolean {
  return (retryAfterMs(error) ?? 0) <= WAIT_MAX_MS
}

function pauseMs(failures: number, error: Error): number {
  const longest = answeredStatus(error) === 503 ? UNAVAILABLE_PAUSE_MAX_MS : PAUSE_MAX_MS
  return retryAfterMs(error) ?? Math.min(1000 * 2 ** failures, longest)
}

function progressOf(failures: number, reason: Error | null) {
  const waitMs = reason && retryAfterMs(reason)
  if (waitMs) return progressTexts.wait(waitMs / 1000)
  if (!onlineManager.isOnline()) return progressTexts.offline
  return answeredStatus(reason) === 503 ? progressTexts.unavailable : progressTexts.again(failures + 1)
}

/** Makes the browser ask before the page is left. */
function confirmLeaving(event: BeforeUnloadEvent) {
  event.preventDefault()
  event.returnValue = true // Chrome before 119
}
