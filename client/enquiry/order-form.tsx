import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type FocusEvent, type FormEvent, startTransition, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { toast } from 'react-toastify/unstyled'
import { otherProduct, type Product } from '../../shared/catalogue.ts'
import type { Receipt } from '../../shared/form-outcome.ts'
import { checkOrder, messages } from '../../shared/order.ts'
import { anotherEnquiry, buyNow, privacyNotice, scriptOffline } from '../content/enquiry-form.ts'
import { isNotUnderstood } from '../trpc.ts'
import { Linked } from '../ui/text.tsx'
import { Toasts } from '../ui/toasts.tsx'
import { doubtsOf } from './doubts.ts'
import { OrderActions } from './order-actions.tsx'
import { OrderFields, showFirstError } from './order-fields.tsx'
import { OrderHead } from './order-head.tsx'
import { adoptKey } from './order-key.ts'
import { OrderSide, orderPicture } from './order-panel.tsx'
import { OrderReceived } from './order-received.tsx'
import { formFieldsOf, readSlip, type SlipContent, valuesOf } from './order-slip.tsx'
import {
  fieldErrorsIn,
  filling,
  type OrderAnswer,
  orUncertain,
  refusedBy,
  stateOf,
  withoutError,
} from './order-state.ts'
import { chosenByLink } from './prefill.ts'
import { filledInMs } from './tab-storage.ts'
import { useOrder } from './use-order.ts'

/*
 * Read this, then order-state.ts (what the form can show), use-order.ts (retries), send-order.ts (one request) and order-key.ts.
 */

/** Typing pauses. */
const PAUSE_MS = 1500

interface OrderSectionProps {
  path: string
  answer?: OrderAnswer | undefined
  /** The form has a page of its own. */
  isPage: boolean
}

/** The form with its heading and panel, on the home page and on the page Buy Now. */
export function OrderSection(props: OrderSectionProps) {
  const [client] = useState(() => new QueryClient())
  return (
    <QueryClientProvider client={client}>
      <OrderForm {...props} />
    </QueryClientProvider>
  )
}

/** What the inputs hold when React mounts them. */
interface InitialInputs extends Partial<Pick<OrderAnswer, 'values' | 'submissionKey'>> {
  /** A new value makes React mount new inputs; `form.reset()` would bring back each `defaultValue`. */
  reactKey?: string
}

function OrderForm({ path, answer, isPage }: OrderSectionProps) {
  const form = useRef<HTMLFormElement>(null)
  const [initial, setInitial] = useState<InitialInputs>(answer ?? {})
  const [typed, setTyped] = useState<SlipContent>({})
  /** The fields about which something may be said: typing has paused, or they were left. */
  const [quiet, setQuiet] = useState<SlipContent>({})
  /** What a link, or we, have chosen in the form. */
  const [choice, setChoice] = useState('')
  /** The enquiry before this one, by the same person. */
  const [before, setBefore] = useState<Receipt>()
  const pause = useRef(0)
  const { state, settle, send, stop, isUnderWay } = useOrder(answer ? stateOf(answer) : filling, {
    onReceived: () => toast.success(messages.received, { role: 'none' }), // the heading, which takes the focus, says it
    onFailed: (message, error) => (isNotUnderstood(error) ? postByBrowser() : toast.error(message)),
  })
  const confirmed = state.is === 'received' ? state : undefined
  const fieldErrors = fieldErrorsIn(state)
  // A received order leaves empty inputs behind.
  const inputs: InitialInputs = confirmed ? { reactKey: confirmed.receipt.reference } : initial

  /** The page is of another version: one of the server's version answers. */
  function postByBrowser() {
    settle(filling)
    form.current?.toggleAttribute('data-posted', true)
    form.current?.submit()
  }

  const sendButton = () => form.current?.querySelector<HTMLElement>('.send')

  function submit(event: FormEvent<HTMLFormElement>) {
    const { currentTarget } = event
    if (currentTarget.hasAttribute('data-posted')) return // the browser has begun to send it
    event.preventDefault()
    setTimeout(checkAndSend, 0, currentTarget) // after the pressed button is painted
  }

  function checkAndSend(element: HTMLFormElement) {
    if (isUnderWay()) return
    toast.dismiss()
    const checked = checkOrder(formFieldsOf(element))
    if ('order' in checked) {
      if (element.querySelector('.fields :focus')) sendButton()?.focus({ preventScroll: true }) // the fields are locked while they are sent
      return send({ ...checked.order, filledInMs: filledInMs() })
    }
    toast.error(checked.problem.message)
    flushSync(() => settle((before) => refusedBy(checked.problem, before)))
    showFirstError(element)
  }

  /** Fills the slip, removes error and doubt of the edited field, and with the last error the toast. */
  function edit({ name }: { name: string }) {
    // After the letter is painted.
    startTransition(() => {
      setTyped(readSlip(form.current))
      setQuiet((before) => (before[name as keyof SlipContent] ? { ...before, [name]: undefined } : before))
    })
    waitForPause()
    if (name === 'products' || name === 'retailerSelfUse') setChoice('')
    if (!fieldErrors[name]) return
    settle((before) => withoutError(before, name))
    if (Object.keys(fieldErrors).length === 1) toast.dismiss()
  }

  function waitForPause() {
    clearTimeout(pause.current)
    pause.current = window.setTimeout(showDoubts, PAUSE_MS)
  }

  /** Not at the button, which a doubt would move away. */
  function showDoubts() {
    if (!sendButton()?.matches(':hover, :focus, :active')) setQuiet(readSlip(form.current))
  }

  function leaveField({ relatedTarget }: FocusEvent<HTMLFormElement>) {
    if (relatedTarget?.closest('.field')) setQuiet(readSlip(form.current))
    else waitForPause()
  }

  function takeEmail(email: string) {
    const field = form.current?.elements.namedItem('email') as HTMLInputElement
    field.value = email
    field.focus()
    edit(field)
  }

  function stopSending() {
    stop()
    sendButton()?.focus() // the pressed button is removed
  }

  /** Another order by the same person. */
  function startAnother(product: Product) {
    if (!confirmed) return
    const { order, receipt } = confirmed
    const values = { ...valuesOf(order), products: product, quantity: '' }
    toast.dismiss()
    setBefore(receipt)
    flushSync(() => {
      setInitial({ reactKey: 'another', values })
      setChoice(product)
      settle(orUncertain(filling))
    })
    form.current?.querySelector<HTMLElement>('[name=quantity]')?.focus()
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    if (answer?.submissionKey) adoptKey(answer.submissionKey, answer.values.products ?? '', answer.isUncertain ?? false)
    settle(orUncertain(answer ? stateOf(answer) : filling))
    if (form.current) setChoice(chosenByLink(form.current))
    waitForPause() // of what was typed before React came
    return () => clearTimeout(pause.current)
  }, [])
  // What was typed, or chosen by a link, before React came; and what another enquiry keeps.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the inputs
  useEffect(() => setTyped(readSlip(form.current)), [inputs.reactKey])

  return (
    <div className="wrap">
      <OrderHead isPage={isPage} isHidden={Boolean(confirmed)} choice={choice} />
      <div className={confirmed ? 'order-panel confirmation on-sand' : 'order-panel on-sand'}>
        <form
          ref={form}
          id="order"
          method="post"
          action={`${path}#order`}
          noValidate
          aria-label="Enquiry"
          data-offline={scriptOffline}
          data-refused={Object.keys(fieldErrors).length > 0}
          onSubmit={submit}
          onInput={({ target }) => edit(target as HTMLInputElement)}
          onBlur={leaveField}
        >
          {'firstError' in state && state.firstError && (
            <p className="Toastify__toast Toastify__toast--error" role="alert">
              {state.firstError}
            </p>
          )}
          <OrderFields
            key={inputs.reactKey}
            isHidden={Boolean(confirmed)}
            fieldErrors={fieldErrors}
            doubts={doubtsOf(quiet)}
            onTakeEmail={takeEmail}
            values={inputs.values}
            submissionKey={inputs.submissionKey}
            isLocked={state.is === 'sending'}
          />
          <OrderSide typed={typed} isHidden={Boolean(confirmed)} />
          <Toasts />
          <div className="submit" hidden={Boolean(confirmed)}>
            <p className="small">{buyNow.advice}</p>
            <div aria-live="polite">
              {'note' in state && state.note && (
                <p key={state.note} className="submit-note">
                  <Linked>{state.note}</Linked>
                </p>
              )}
            </div>
            <OrderActions state={state} label={buyNow.send} onStop={stopSending} />
            {/* Give `PRIVACY_NOTICE_VERSION` a new text when its words change. */}
            <p className="small">
              <Linked>{privacyNotice.join(' ')}</Linked> More in our <a href="/privacy-policy">Privacy Policy</a>.
            </p>
          </div>
        </form>
        {confirmed && (
          <OrderReceived
            {...confirmed}
            before={before}
            isPage={isPage}
            onAnother={() => startAnother(confirmed.order.products)}
          >
            <button
              type="button"
              className="pill"
              onClick={() => startAnother(otherProduct(confirmed.order.products) ?? confirmed.order.products)}
            >
              {anotherEnquiry}
            </button>
          </OrderReceived>
        )}
        {confirmed && orderPicture}
      </div>
    </div>
  )
}
