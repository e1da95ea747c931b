import { type ComponentType, type FormEvent, useContext, useEffect, useRef, useState } from 'react'
import { productSlug, products } from '../../shared/catalogue.ts'
import { progress } from '../content/enquiry-form.ts'
import { FormAnswerContext } from './form-answer.ts'
import { OrderActions } from './order-actions.tsx'
import { OrderFields } from './order-fields.tsx'
import { OrderReceived } from './order-received.tsx'
import type { OrderSender } from './order-sender.ts'
import { EMPTY, type OrderState } from './order-state.ts'

/** How long a sent form waits for the code that sends it, before it goes out without. */
const CODE_TIMEOUT_MS = 5000

interface OrderFormProps {
  path: string
  onReceived?: (received: boolean) => void
}

export function OrderForm({ path, onReceived }: OrderFormProps) {
  const form = useRef<HTMLFormElement>(null)
  const { order: answer } = useContext(FormAnswerContext)
  const [state, setState] = useState<OrderState>(answer ? { marks: answer.marks, summary: answer.message } : EMPTY)
  const [Toasts, setToasts] = useState<ComponentType>()
  const sender = useRef<Promise<OrderSender>>(null)

  function show(next: OrderState) {
    setState(next)
    onReceived?.(next.reference !== undefined)
    if (next.reference) empty(form.current)
    const first = [...(form.current?.elements ?? [])].find((field) => (field.getAttribute('name') ?? '') in next.marks)
    if (first instanceof HTMLElement) first.focus()
  }

  function prepare() {
    if (sender.current) return sender.current
    const loading = Promise.all([import('./order-sender.ts'), import('./toasts.tsx')])
    const created = loading.then(([code, toasts]) => {
      setToasts(() => toasts.Toasts)
      return code.createOrderSender(show)
    })
    sender.current = created
    created.catch(() => {
      sender.current = null // a failure matters when the form is sent; the next touch tries again
    })
    return created
  }

  async function submit(event: FormEvent<HTMLFormElement>) {
    const { currentTarget } = event
    if ('native' in currentTarget.dataset) return // handed to the browser already: sent again in the same way it stays one order
    event.preventDefault()
    try {
      const { send } = await inTime(prepare())
      await new Promise((resume) => setTimeout(resume)) // the pressed button is painted before the work begins
      send(new FormData(currentTarget))
    } catch {
      if (!navigator.onLine) return show({ ...EMPTY, note: progress.codeOffline })
      currentTarget.dataset.native = ''
      currentTarget.submit()
    }
  }

  useEffect(() => preselect(form.current), [])
  useEffect(() => () => void sender.current?.then(({ stop }) => stop()), [])

  return (
    <div className="order-form">
      <form
        ref={form}
        id="order"
        method="post"
        action={`${path}#order`}
        noValidate
        hidden={state.reference !== undefined}
        aria-label="Enquiry"
        data-offline={progress.codeOffline}
        onSubmit={submit}
        onFocus={prepare}
        onPointerEnter={prepare}
        onInput={({ target }) => setState((now) => ({ ...now, marks: without(now.marks, target) }))}
      >
        {state.summary && (
          <p className="submit-note" role="alert">
            {state.summary}
          </p>
        )}
        <OrderFields marks={state.marks} values={answer?.values} />
        <OrderActions {...state} onStop={() => sender.current?.then(({ stop }) => stop())} />
      </form>
      <div role="status">
        {state.reference && <OrderReceived {...state} reference={state.reference} onAgain={() => show(EMPTY)} />}
      </div>
      {Toasts && <Toasts />}
    </div>
  )
}

function inTime<T>(promise: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, fail) => setTimeout(fail, CODE_TIMEOUT_MS))
  return Promise.race([promise, late])
}

/** A product page links here with its product in the query; a choice already made stays. */
function preselect(form: HTMLFormElement | null) {
  const wanted = new URLSearchParams(location.search).get('product')
  const choice = form?.elements.namedItem('products')
  if (!wanted || !(choice instanceof HTMLSelectElement) || choice.value) return
  choice.value = products.find((product) => productSlug(product) === wanted) ?? ''
}

function without(marks: Record<string, string>, field: EventTarget) {
  const name = field instanceof Element ? field.getAttribute('name') : null
  return Object.fromEntries(Object.entries(marks).filter(([marked]) => marked !== name))
}

/** Not `reset`, which would bring back what the server put into the page when it refused the form. */
function empty(form: HTMLFormElement | null) {
  for (const field of form?.elements ?? []) {
    if (field instanceof HTMLSelectElement) field.selectedIndex = 0
    else if (field instanceof HTMLInputElement && field.type !== 'hidden') field.value = ''
  }
}
