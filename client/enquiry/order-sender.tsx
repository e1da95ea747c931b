import { focusManager, MutationObserver, onlineManager, QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ToastContainer, toast } from 'react-toastify/unstyled'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { messages, type OrderContent, orderContentSchema, problemOf, readOrderFields } from '../../shared/order.ts'
import type { FormFields } from '../../shared/typed-text.ts'
import { doubtTexts } from '../content/enquiry-form.ts'
import { fieldErrorsOf, notStored, notStoredRetry, progressTexts, stoppedText, uncertain } from '../content/sending.ts'
import { toastTransition } from '../ui/toast-transition.ts'
import { type Doubts, doubtsOf } from './doubts.ts'
import type { OrderState } from './order-state.ts'
import { currentKey, retryAfterMs, sendOrder, setCurrentKey } from './send-order.ts'
import { answeredStatus, isNotUnderstood } from './trpc.ts'

export type OrderSender = ReturnType<typeof createOrderSender>
/** Shows the state of the form. */
type Show = (state: OrderState) => void

const GIVE_UP_MS = 60_000
const SLOW_MS = 4000
const PAUSE_MAX_MS = 15_000

/**
 * Validates and sends orders and shows toasts. A try without an answer is repeated with growing pauses for up to a minute.
 * Time offline does not count. A refusal is shown and not repeated, with three exceptions: 429 is repeated once, after its
 * `Retry-After`; `sendOrder` may repeat 409 with a new key; after 400 the browser posts the form.
 * @param submissionKey of an order that was sent without scripts and may be stored
 */
export function createOrderSender(show: Show, submissionKey?: string) {
  if (submissionKey) setCurrentKey({ key: submissionKey, maybeStored: true })
  const client = new QueryClient()
  client.mount() // resumes paused mutations when the network is back
  focusManager.setFocused(true) // hidden tabs go on sending
  onlineManager.setOnline(navigator.onLine)
  let underWay: AbortController | undefined
  /** Values of which a form was held back: the visitor was asked whether they are right. */
  const asked = new Set<string>()

  /** About values for which no form was held back yet. */
  function newDoubts({ mobile, email }: OrderContent): Doubts {
    const doubts = doubtsOf({ mobile: asked.has(mobile) ? '' : mobile, email: asked.has(email) ? '' : email })
    asked.add(mobile).add(email)
    return doubts
  }

  function hold(doubts: Doubts) {
    show({ doubts, heldBack: doubts, note: currentKey().maybeStored ? uncertain : doubtTexts.notSent })
  }

  function finish() {
    underWay = undefined
    removeEventListener('beforeunload', confirmLeaving)
  }

  async function start(order: OrderContent, form: HTMLFormElement) {
    underWay = new AbortController()
    const { signal } = underWay
    addEventListener('beforeunload', confirmLeaving)
    show({ sending: true })
    const showProgress = (progress: string) => !signal.aborted && show({ sending: true, progress })
    const slow = setTimeout(showProgress, SLOW_MS, progressTexts.slow)
    const mutation = createMutation(client, signal)
    const unsubscribe = mutation.subscribe(({ isPending, failureCount, failureReason }) => {
      if (!isPending || failureCount === 0) return // the `catch` below shows the last failure
      clearTimeout(slow)
      showProgress(progressOf(failureCount, failureReason))
    })
    try {
      const { reference, receivedAt: earlier } = await mutation.mutate(order)
      if (signal.aborted) return
      finish()
      const { products, quantity } = order
      const receivedAt = formatIndianTime(earlier ? new Date(earlier) : new Date())
      const received = { reference, products, quantity: String(quantity), receivedAt, isEarlier: Boolean(earlier) }
      show({ order, received })
      toast.success(messages.received, { role: 'none' }) // the heading, which takes the focus, says it
    } catch (error) {
      if (signal.aborted) return
      finish()
      if (isNotUnderstood(error)) {
        show({})
        form.toggleAttribute('data-posted', true)
        return form.submit() // a page of the server's version answers
      }
      const serverMessage = answeredStatus(error) && (error as Error).message
      // The message at the limit of a day says when to try again.
      const refusal = serverMessage === messages.manyOrders ? notStored : notStoredRetry
      const note = currentKey().maybeStored ? uncertain : refusal
      show({ note })
      toast.error(serverMessage || messages.failed)
    } finally {
      clearTimeout(slow)
      unsubscribe()
    }
  }

  return {
    /** Checks the form and sends it; while an order is under way it does nothing. */
    send(form: HTMLFormElement) {
      if (underWay) return
      toast.dismiss()
      const typed = readOrderFields(fieldsOf(form))
      const checked = orderContentSchema.safeParse({
        ...typed,
        // performance.now() counts from the navigation, which shows the form.
        filledInMs: Math.round(performance.now()),
      })
      if (checked.success) {
        const doubts = newDoubts(checked.data)
        const isAsked = Object.keys(doubts).length > 0
        return isAsked ? hold(doubts) : void start(checked.data, form)
      }
      const problem = problemOf(checked.error)
      const fieldErrors = fieldErrorsOf(problem)
      toast.error(problem.message)
      const valid = (name: 'mobile' | 'email') => (name in fieldErrors ? '' : typed[name])
      show({ fieldErrors, doubts: doubtsOf({ mobile: valid('mobile'), email: valid('email') }) })
    },
    stop() {
      if (!underWay) return
      underWay.abort()
      finish()
      show({ note: stoppedText })
    },
    /** Of a form that is gone: nobody would see what becomes of its order. */
    close() {
      this.stop()
      client.unmount()
    },
  }
}

/**
 * Not by `FormData`, whose event would tell `addKey` that the browser posts the form. If the browser cannot read a number,
 * the field's value is ''. NaN makes it a wrong number and not an empty field.
 */
export function fieldsOf(form: HTMLFormElement): FormFields {
  return {
    get(name) {
      const field = form.elements.namedItem(name) as HTMLInputElement | null
      return field?.validity.badInput ? 'NaN' : (field?.value ?? null)
    },
  }
}

function createMutation(client: QueryClient, signal: AbortSignal) {
  /** The minute begins anew after a wait, and whenever the browser goes online or offline. */
  let minuteStartedAt = performance.now()
  let hasObeyedRetryAfter = false
  const unsubscribe = onlineManager.subscribe(() => {
    minuteStartedAt = performance.now()
  })
  return new MutationObserver(client, {
    // The first try is made also when the browser says it is offline: it may be wrong.
    networkMode: 'offlineFirst',
    mutationFn: (order: OrderContent) => sendOrder(order, signal),
    onSettled: unsubscribe,
    retry: (_failures, error) => {
      if (signal.aborted) return false
      if (answeredStatus(error) === undefined)
        return !onlineManager.isOnline() || performance.now() - minuteStartedAt < GIVE_UP_MS
      const waitMs = retryAfterMs(error)
      if (hasObeyedRetryAfter || waitMs === undefined) return false
      hasObeyedRetryAfter = true
      minuteStartedAt = performance.now() + waitMs
      return true
    },
    retryDelay: (failures, error) => retryAfterMs(error) ?? Math.min(1000 * 2 ** failures, PAUSE_MAX_MS),
  })
}

function progressOf(failures: number, reason: unknown) {
  const wait = retryAfterMs(reason)
  if (wait !== undefined) return progressTexts.wait(wait / 1000)
  return onlineManager.isOnline() ? progressTexts.again(failures + 1) : progressTexts.offline
}

/** Makes the browser ask before the page is left. */
function confirmLeaving(event: BeforeUnloadEvent) {
  event.preventDefault()
  event.returnValue = true // Chrome before 119
}

/** Where toasts are shown: in the flow, so that they cover nothing. */
export function Toasts() {
  // An error is an alert of its own, and would be read twice.
  useEffect(() => document.querySelector('.Toastify')?.setAttribute('aria-live', 'off'), [])
  return (
    <ToastContainer
      aria-label="Messages"
      autoClose={false}
      closeOnClick={false}
      hotKeys={() => false}
      role="alert"
      transition={toastTransition}
    />
  )
}

export const dismissToasts = () => toast.dismiss()
