import { type ComponentType, type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { products } from '../../shared/catalogue.ts'
import type { FieldRule, OrderContent, OrderField } from '../../shared/order.ts'
import { anotherEnquiry, buyNow, notAPurchase, privacyNotice, scriptOffline } from '../content/enquiry-form.ts'
import { Linked } from '../ui/text.tsx'
import { holdState, postByBrowser } from './hold-state.ts'
import { inTime } from './in-time.ts'
import { OrderFields } from './order-fields.tsx'
import { OrderPanel } from './order-panel.tsx'
import { OrderReceived } from './order-received.tsx'
import type { OrderSender } from './order-sender.tsx'
import type { OrderAnswer, OrderState } from './order-state.ts'

/*
 * Read this, then order-sender.tsx (validation, retries, toasts; loaded at the first interaction), then send-order.ts (one
 * request and its key). order-fields.tsx has the inputs.
 */

/** Height of the header and the space below it. */
const HEADER_SPACE_PX = 120

interface OrderSectionProps {
  path: string
  answer?: OrderAnswer | undefined
  rules: Record<OrderField, FieldRule>
  /** The form has a page of its own. */
  isPage: boolean
}

/** What the inputs hold when React mounts them. */
interface InitialInputs extends Partial<Pick<OrderAnswer, 'values' | 'submissionKey'>> {
  /** A new value makes React mount new inputs; `form.reset()` would bring back each `defaultValue`. */
  reactKey?: string
}

/** The form with its heading and panel, on the home page and on the page Buy Now. */
export function OrderSection({ path, answer, rules, isPage }: OrderSectionProps) {
  const form = useRef<HTMLFormElement>(null)
  const [state, setState] = useState<OrderState>(answer ?? {})
  const isRefused = Object.keys(state.fieldErrors ?? {}).length > 0
  const [initial, setInitial] = useState<InitialInputs>(answer ?? {})
  const [Toasts, setToasts] = useState<ComponentType>()
  const sender = useRef<Promise<OrderSender>>(null)

  function show(next: OrderState, addToast?: () => void) {
    // hydrate.tsx shows the reference on the error page if rendering the confirmation throws.
    if (next.received) document.documentElement.dataset.reference = next.received.reference
    else delete document.documentElement.dataset.reference
    flushSync(() => {
      setState(next)
      if (next.received) setInitial({ reactKey: next.received.reference })
    })
    // First the state: it decides where the container of toasts stands, and a container that moves drops its toasts.
    if (addToast) flushSync(addToast)
    const first = form.current?.querySelector<HTMLElement>('[aria-invalid]')
    if (!first) return
    first.focus({ preventScroll: true })
    scrollToProblem(first.closest('.field') ?? first, form.current ?? first)
  }

  const sendButton = () => form.current?.querySelector<HTMLElement>('.send')

  function loadSender() {
    if (sender.current) return sender.current
    const created = import('./order-sender.tsx').then((code) => {
      setToasts(() => code.Toasts)
      return code.createOrderSender(show, answer?.submissionKey)
    })
    sender.current = created
    created.catch(() => {
      sender.current = null // the next interaction tries again
    })
    return created
  }

  async function submit(event: FormEvent<HTMLFormElement>) {
    const { currentTarget } = event
    if (holdState(currentTarget) === 'byBrowser') return
    event.preventDefault()
    if (state.sending) return // otherwise the browser could post the order while the script sends it
    if (currentTarget.querySelector('.fields :focus')) sendButton()?.focus() // the fields are locked while they are sent
    setState({ ...state, sending: true })
    try {
      const { send } = await inTime(loadSender())
      await new Promise((resume) => setTimeout(resume)) // lets the browser paint the pressed button first
      send(currentTarget)
    } catch {
      if (!navigator.onLine) return show({ note: scriptOffline })
      setState({ ...state, sending: false }) // for a visitor who stops the navigation or comes back
      postByBrowser(currentTarget)
    }
  }

  /** Removes the error of an edited field. With the last one the container of toasts moves, which drops the toast. */
  function correct({ target }: FormEvent) {
    if (!isRefused) return
    const { [(target as HTMLInputElement).name]: _, ...fieldErrors } = state.fieldErrors ?? {}
    setState(Object.keys(fieldErrors).length > 0 ? { ...state, fieldErrors } : {})
  }

  function stop() {
    sender.current?.then((loaded) => loaded.stop())
    sendButton()?.focus() // the pressed button is removed
  }

  /** Another order by the same person, for the other product. */
  function startAnother() {
    if (state.order) setInitial({ reactKey: 'another', values: valuesForAnother(state.order) })
    show({})
    form.current?.querySelector<HTMLElement>('[name=quantity]')?.focus()
  }

  // The touch that made React hydrate the form came before `onFocus` existed, so the sender is loaded here too.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => void loadSender(), [])
  useEffect(() => {
    if (!state.received) return
    // If rendering the confirmation throws, nobody sees it and its key must stay: the cleanup stops the timer.
    const timer = setTimeout(() => sender.current?.then((loaded) => loaded.forgetKey()))
    return () => clearTimeout(timer)
  }, [state.received])
  useEffect(() => () => void sender.current?.then((loaded) => loaded.stop()), [])

  const isReceived = state.received !== undefined
  /** In one of three places: in the confirmation, above the first field if a field is wrong, or else at the button. */
  const toasts = Toasts && <Toasts />

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
            hidden={isReceived}
            aria-label="Enquiry"
            data-offline={scriptOffline}
            onSubmit={submit}
            onFocus={loadSender}
            onInput={correct}
          >
            {isRefused && toasts}
            {state.firstError && (
              <p className="Toastify__toast Toastify__toast--error" role="alert">
                {state.firstError}
              </p>
            )}
            <OrderFields
              key={initial.reactKey}
              rules={rules}
              fieldErrors={state.fieldErrors ?? {}}
              values={initial.values}
              submissionKey={initial.submissionKey}
              isLocked={state.sending ?? false}
            />
            <OrderActions {...state} toasts={!isRefused && !isReceived && toasts} onStop={stop} />
          </form>
          <div role="status" aria-atomic="false">
            {state.received && (
              <OrderReceived received={state.received} isPage={isPage} toast={toasts}>
                <button type="button" className="pill" onClick={startAnother}>
                  {anotherEnquiry}
                </button>
              </OrderReceived>
            )}
          </div>
        </div>
      </OrderPanel>
    </div>
  )
}

interface OrderActionsProps extends OrderState {
  toasts: ReactNode
  onStop: () => void
}

/** The button, with the privacy notice beside it: raise `PRIVACY_NOTICE_VERSION` when its words change. */
function OrderActions({ sending = false, progress, note, toasts, onStop }: OrderActionsProps) {
  return (
    <div className="submit">
      <div className="submit-messages">
        {toasts}
        <div aria-live="polite">
          {note && (
            <p key={note} className="submit-note">
              <Linked>{note}</Linked>
            </p>
          )}
        </div>
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
