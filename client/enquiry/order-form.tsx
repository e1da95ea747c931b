import { type FormEvent, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { products } from '../../shared/catalogue.ts'
import type { OrderContent } from '../../shared/order.ts'
import { anotherEnquiry, buyNow, notAPurchase, privacyNotice, scriptOffline } from '../content/enquiry-form.ts'
import { Linked } from '../ui/text.tsx'
import { OrderFields } from './order-fields.tsx'
import { OrderPanel } from './order-panel.tsx'
import { OrderReceived } from './order-received.tsx'
import { createOrderSender, dismissToasts, type OrderSender, Toasts } from './order-sender.tsx'
import type { OrderAnswer, OrderState } from './order-state.ts'
import { setCurrentKey } from './send-order.ts'

/*
 * Read this, then order-sender.tsx (validation, retries, toasts), then send-order.ts (one request and its key).
 * order-fields.tsx has the inputs.
 */

/** Height of the header and the space below it. */
const HEADER_SPACE_PX = 120

interface OrderSectionProps {
  path: string
  answer?: OrderAnswer | undefined
  /** The form has a page of its own. */
  isPage: boolean
}

/** What the inputs hold when React mounts them. */
interface InitialInputs extends Partial<Pick<OrderAnswer, 'values' | 'submissionKey'>> {
  /** A new value makes React mount new inputs; `form.reset()` would bring back each `defaultValue`. */
  reactKey?: string
}

/** The form with its heading and panel, on the home page and on the page Buy Now. */
export function OrderSection({ path, answer, isPage }: OrderSectionProps) {
  const form = useRef<HTMLFormElement>(null)
  const sender = useRef<OrderSender>(null)
  const [state, setState] = useState<OrderState>(answer ?? {})
  const [initial, setInitial] = useState<InitialInputs>(answer ?? {})
  const isRefused = Object.keys(state.fieldErrors ?? {}).length > 0

  function show(next: OrderState) {
    // hydrate.tsx shows the reference on the error page if rendering the confirmation throws.
    if (next.received) document.documentElement.dataset.reference = next.received.reference
    else delete document.documentElement.dataset.reference
    flushSync(() => {
      setState(next)
      if (next.received) setInitial({ reactKey: next.received.reference })
    })
    const first = form.current?.querySelector<HTMLElement>('[aria-invalid]')
    if (!first) return
    first.focus({ preventScroll: true })
    scrollToProblem(first.closest('.field') ?? first, form.current ?? first)
  }

  const sendButton = () => form.current?.querySelector<HTMLElement>('.send')

  function submit(event: FormEvent<HTMLFormElement>) {
    const { currentTarget } = event
    if (currentTarget.hasAttribute('data-posted')) return // the browser has begun to send it
    event.preventDefault()
    if (currentTarget.querySelector('.fields :focus')) sendButton()?.focus() // the fields are locked while they are sent
    sender.current?.send(currentTarget)
  }

  /** Removes the error of an edited field, and with the last one the toast. */
  function correct({ target }: FormEvent) {
    if (!isRefused) return
    const { [(target as HTMLInputElement).name]: _, ...fieldErrors } = state.fieldErrors ?? {}
    const isLast = Object.keys(fieldErrors).length === 0
    setState(isLast ? {} : { ...state, fieldErrors })
    if (isLast) dismissToasts()
  }

  function stop() {
    sender.current?.stop()
    sendButton()?.focus() // the pressed button is removed
  }

  /** Another order by the same person, for the other product. */
  function startAnother() {
    if (state.order) setInitial({ reactKey: 'another', values: valuesForAnother(state.order) })
    dismissToasts()
    show({})
    form.current?.querySelector<HTMLElement>('[name=quantity]')?.focus()
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    const created = createOrderSender(show, answer?.submissionKey)
    sender.current = created
    return () => created.close()
  }, [])
  useEffect(() => {
    if (!state.received) return
    // If rendering the confirmation throws, nobody sees it and its key must stay: the cleanup stops the timer.
    const timer = setTimeout(setCurrentKey, 0, null)
    return () => clearTimeout(timer)
  }, [state.received])

  const isReceived = state.received !== undefined

  return (
    <div className="wrap">
      <div className={isPage ? 'page-title' : 'section-head'} hidden={isReceived}>
        {isPage ? <h1>{buyNow.title}</h1> : <h2 id="buy-now-title">{buyNow.title}</h2>}
        <p className="lead">{buyNow.lead}</p>
      </div>
      <OrderPanel received={isReceived}>
        <div className="order-form">
          <form
            ref={form}
            id="order"
            method="post"
            action={`${path}#order`}
            noValidate
            aria-label="Enquiry"
            data-offline={scriptOffline}
            data-refused={isRefused}
            onSubmit={submit}
            onInput={correct}
          >
            {state.firstError && (
              <p className="Toastify__toast Toastify__toast--error" role="alert">
                {state.firstError}
              </p>
            )}
            <OrderFields
              key={initial.reactKey}
              isHidden={isReceived}
              fieldErrors={state.fieldErrors ?? {}}
              values={initial.values}
              submissionKey={initial.submissionKey}
              isLocked={state.sending ?? false}
            />
            <Toasts />
            <OrderActions {...state} onStop={stop} />
          </form>
          {state.received && (
            <OrderReceived received={state.received} isPage={isPage}>
              <button type="button" className="pill" onClick={startAnother}>
                {anotherEnquiry}
              </button>
            </OrderReceived>
          )}
        </div>
      </OrderPanel>
    </div>
  )
}

interface OrderActionsProps extends OrderState {
  onStop: () => void
}

/** The button, with the privacy notice beside it: raise `PRIVACY_NOTICE_VERSION` when its words change. */
function OrderActions({ sending = false, progress, note, received, onStop }: OrderActionsProps) {
  return (
    <div className="submit" hidden={received !== undefined}>
      <div aria-live="polite">
        {note && (
          <p key={note} className="submit-note">
            <Linked>{note}</Linked>
          </p>
        )}
      </div>
      <p>{notAPurchase}</p>
      <div className="submit-row">
        <button type="submit" className="button send" aria-disabled={sending}>
          {sending ? 'Sending…' : 'Send enquiry'}
        </button>
        {progress && (
          <button type="button" className="pill" onClick={onStop}>
            Stop
          </button>
        )}
        <p role="status" className="submit-progress">
          {progress}
        </p>
      </div>
      <p className="small">
        {privacyNotice} More on this, and on your rights, in our <a href="/privacy-policy">Privacy Policy</a>.
      </p>
    </div>
  )
}

/** The toast stands at the top of the form: it is shown together with the first wrong field where both fit on the screen. */
function scrollToProblem(field: Element, form: Element) {
  const height = field.getBoundingClientRect().bottom - form.getBoundingClientRect().top
  const target = height < innerHeight - HEADER_SPACE_PX ? form : field
  target.scrollIntoView({ block: 'start' })
}

function valuesForAnother({ name, email, mobile, retailerSelfUse, products: last }: OrderContent) {
  return { name, email, mobile, retailerSelfUse, products: products.find((product) => product !== last) ?? last }
}
