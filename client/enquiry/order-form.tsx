import { type FocusEvent, type FormEvent, startTransition, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { brand } from '../../shared/brand.ts'
import { otherProduct } from '../../shared/catalogue.ts'
import type { Received } from '../../shared/form-outcome.ts'
import { fieldLimits, type OrderContent, type OrderField } from '../../shared/order.ts'
import { telephone } from '../content/contact.ts'
import {
  anotherEnquiry,
  buyNow,
  chosen,
  doubtTexts,
  enquiryReceived,
  notAPurchase,
  ratherCall,
  scriptOffline,
  sentBefore,
} from '../content/enquiry-form.ts'
import { type Doubts, doubtsOf } from './doubts.ts'
import { OrderActions } from './order-actions.tsx'
import { OrderFields } from './order-fields.tsx'
import { OrderSide, orderPicture } from './order-panel.tsx'
import { OrderReceived } from './order-received.tsx'
import { createOrderSender, dismissToasts, type OrderSender, Toasts } from './order-sender.tsx'
import { readSlip, type SlipContent } from './order-slip.tsx'
import type { OrderAnswer, OrderState } from './order-state.ts'
import { keepReference, noteChoice, showSent } from './preselect.ts'
import { setCurrentKey } from './send-order.ts'

/*
 * Read this, then order-sender.tsx (validation, retries, toasts), then send-order.ts (one request and its key).
 * order-fields.tsx has the inputs, order-actions.tsx the button.
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
  const [typed, setTyped] = useState<SlipContent>({})
  /** The enquiry before this one, by the same person. */
  const [before, setBefore] = useState<Received>()
  const isRefused = Object.keys(state.fieldErrors ?? {}).length > 0

  function show(next: OrderState) {
    // hydrate.tsx shows the reference on the error page if rendering the confirmation throws.
    if (next.received) document.documentElement.dataset.reference = next.received.reference
    else delete document.documentElement.dataset.reference
    flushSync(() => {
      setState(next)
      if (next.received) setInitial({ reactKey: next.received.reference })
    })
    const first = (mark: string) => form.current?.querySelector<HTMLElement>(mark)
    const field = first('[aria-invalid]') ?? first('[data-doubted]')
    if (!field) return
    field.focus({ preventScroll: true })
    scrollToProblem(field.closest('.field') ?? field, form.current ?? field)
  }

  const sendButton = () => form.current?.querySelector<HTMLElement>('.send')

  function submit(event: FormEvent<HTMLFormElement>) {
    const { currentTarget } = event
    if (currentTarget.hasAttribute('data-posted')) return // the browser has begun to send it
    event.preventDefault()
    if (state.sending) return
    if (currentTarget.querySelector('.fields :focus')) sendButton()?.focus({ preventScroll: true }) // the fields are locked while they are sent
    setState({ ...state, sending: true })
    setTimeout(() => sender.current?.send(currentTarget)) // lets the browser paint the pressed button first
  }

  /** Something doubtful has changed: pressing Send once more may not be enough. */
  const notHeld = { heldBack: undefined, note: state.note === doubtTexts.notSent ? undefined : state.note }

  /** Fills the slip, removes error and doubt of the edited field, and with the last error the toast. */
  function edit({ name }: { name: string }) {
    startTransition(() => setTyped(readSlip(form.current))) // after the letter is painted
    const { [name]: error, ...fieldErrors } = state.fieldErrors ?? {}
    const { [name as keyof Doubts]: doubt, ...doubts } = state.doubts ?? {}
    if (!error && !doubt) return
    const isLast = error && Object.keys(fieldErrors).length === 0
    setState(isLast ? { doubts } : { ...state, fieldErrors, doubts, ...notHeld })
    if (isLast) dismissToasts()
  }

  /** Asks beside a field about what may be mistyped, on the way to another one: at the button, it would move that away. */
  function leaveField({ target, relatedTarget }: FocusEvent<HTMLFormElement, HTMLInputElement>) {
    if (!relatedTarget?.closest('.field')) return
    const { [target.name as keyof Doubts]: doubt } = doubtsOf(readSlip(form.current))
    if (doubt && doubt !== state.doubts?.[target.name as keyof Doubts] && !state.fieldErrors?.[target.name])
      setState({ ...state, ...notHeld, doubts: { ...state.doubts, [target.name]: doubt } })
  }

  function takeEmail(email: string) {
    const field = form.current?.elements.namedItem('email') as HTMLInputElement
    field.value = email
    field.focus()
    edit(field)
  }

  function stop() {
    sender.current?.stop()
    sendButton()?.focus() // the pressed button is removed
  }

  /** Another order by the same person, for the other product. */
  function startAnother() {
    if (state.order) setInitial({ reactKey: 'another', values: valuesForAnother(state.order) })
    dismissToasts()
    setBefore(state.received)
    show({})
    const product = form.current?.elements.namedItem('products') as HTMLSelectElement
    noteChoice(product)
    showSent()
    form.current?.querySelector<HTMLElement>('[name=quantity]')?.focus()
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    const created = createOrderSender(show, answer?.submissionKey)
    sender.current = created
    return () => created.close()
  }, [])
  // What was typed, or chosen by a link, before React came; and what another enquiry keeps.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the inputs
  useEffect(() => setTyped(readSlip(form.current)), [initial.reactKey])
  useEffect(() => {
    if (!state.received) return
    const { title } = document
    document.title = `${enquiryReceived.title} | ${brand.name}`
    keepReference(state.received.reference)
    // If rendering the confirmation throws, nobody sees it and its key must stay: the cleanup stops the timer.
    const timer = setTimeout(setCurrentKey, 0, null)
    return () => {
      document.title = title
      clearTimeout(timer)
    }
  }, [state.received])

  const isReceived = state.received !== undefined

  return (
    <div className="wrap">
      <div className={isPage ? 'page-title' : 'section-head'} hidden={isReceived}>
        {isPage ? <h1>{buyNow.title}</h1> : <h2 id="buy-now-title">{buyNow.title}</h2>}
        <p className="lead">
          {buyNow.lead} {notAPurchase}
        </p>
        <p>
          {ratherCall} <a href={telephone}>{brand.phone}</a>
        </p>
        {/* preselect.ts writes into them, also before React comes. */}
        <p className="chosen" data-chosen={chosen} role="status" suppressHydrationWarning>
          {''}
        </p>
        <p className="label" data-sent={sentBefore} suppressHydrationWarning>
          {''}
        </p>
      </div>
      <div className={isReceived ? 'order-panel confirmation on-sand' : 'order-panel on-sand'}>
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
          onInput={({ target }) => edit(target as HTMLInputElement)}
          onBlur={leaveField}
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
            doubts={state.doubts}
            heldBack={state.heldBack}
            onTakeEmail={takeEmail}
            values={initial.values}
            submissionKey={initial.submissionKey}
            isLocked={state.sending ?? false}
          />
          <OrderSide typed={typed} isHidden={isReceived} />
          <Toasts />
          <OrderActions {...state} onStop={stop} />
        </form>
        {state.received && (
          <OrderReceived received={state.received} contact={state.order} before={before} isPage={isPage}>
            <button type="button" className="pill" onClick={startAnother}>
              {anotherEnquiry}
            </button>
          </OrderReceived>
        )}
        {isReceived && orderPicture}
      </div>
    </div>
  )
}

/** The toast stands at the top of the form: it is shown together with the first wrong field where both fit on the screen. */
function scrollToProblem(field: Element, form: Element) {
  const height = field.getBoundingClientRect().bottom - form.getBoundingClientRect().top
  const target = height < innerHeight - HEADER_SPACE_PX ? form : field
  target.scrollIntoView({ block: 'start' })
}

function valuesForAnother(order: OrderContent): Record<string, string> {
  const names = (Object.keys(fieldLimits) as OrderField[]).filter((name) => name !== 'quantity')
  const kept = Object.fromEntries(names.map((name) => [name, order[name]]))
  return { ...kept, products: otherProduct(order.products) ?? order.products }
}
