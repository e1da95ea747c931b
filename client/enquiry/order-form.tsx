import { type ComponentType, type FormEvent, useCallback, useEffect, useRef, useState } from 'react'
import { products } from '../../shared/catalogue.ts'
import { failed, notStored } from '../content/enquiry-form.ts'
import type { DeskProps, Take } from './order-desk.tsx'
import { OrderFields } from './order-fields.tsx'
import { OrderReceived } from './order-received.tsx'
import { SubmitOrder } from './submit-order.tsx'

interface State {
  sending: boolean
  marks: Record<string, string>
  note?: string | undefined
  reference?: string | undefined
}

const EMPTY: State = { sending: false, marks: {} }

export function OrderForm() {
  const form = useRef<HTMLFormElement>(null)
  const [state, setState] = useState(EMPTY)
  const [Desk, setDesk] = useState<ComponentType<DeskProps>>()
  const busy = useRef(false)
  const opening = useRef<PromiseWithResolvers<Take>>(null)

  const openDesk = useCallback(() => {
    if (opening.current) return opening.current.promise
    const open = Promise.withResolvers<Take>()
    opening.current = open
    import('./order-desk.tsx').then(
      ({ OrderDesk }) => setDesk(() => OrderDesk),
      (error: unknown) => {
        opening.current = null
        open.reject(error)
      },
    )
    open.promise.catch(() => undefined) // a failure matters, and is told, when the form is sent
    return open.promise
  }, [])

  const onProblem = useCallback<DeskProps['onProblem']>((problem) => {
    busy.current = false
    setState({ ...EMPTY, ...problem })
    const first = [...(form.current?.elements ?? [])].find(
      (field) => (field.getAttribute('name') ?? '') in problem.marks,
    )
    if (first instanceof HTMLElement) first.focus()
  }, [])

  const onReceived = useCallback((reference: string) => {
    busy.current = false
    form.current?.reset()
    setState({ ...EMPTY, reference })
  }, [])

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (busy.current) return
    busy.current = true
    const data = new FormData(event.currentTarget)
    try {
      const take = await openDesk()
      await new Promise((resume) => setTimeout(resume)) // the pressed button is painted before the work begins
      take(data)
    } catch {
      onProblem({ marks: {}, note: `${failed}. ${notStored}` })
    }
  }

  useEffect(() => preselect(form.current), [])

  return (
    <div className="order-form">
      <form
        ref={form}
        method="post"
        noValidate
        hidden={state.reference !== undefined}
        aria-label="Enquiry"
        onSubmit={submit}
        onFocus={openDesk}
        onPointerEnter={openDesk}
        onInput={({ target }) => setState((now) => ({ ...now, marks: without(now.marks, target) }))}
      >
        <OrderFields marks={state.marks} />
        <SubmitOrder sending={state.sending} note={state.note} />
      </form>
      <div role="status">
        {state.reference && <OrderReceived reference={state.reference} onAgain={() => setState(EMPTY)} />}
      </div>
      {Desk && (
        <Desk
          onOpen={(take) => opening.current?.resolve(take)}
          onSending={() => setState({ ...EMPTY, sending: true })}
          onReceived={onReceived}
          onProblem={onProblem}
        />
      )}
    </div>
  )
}

/** A product page links here with its product in the query; a choice already made stays. */
function preselect(form: HTMLFormElement | null) {
  const wanted = new URLSearchParams(location.search).get('product')
  const choice = form?.elements.namedItem('products')
  if (!wanted || !(choice instanceof HTMLSelectElement) || choice.value) return
  choice.value = products.find((product) => product.toLowerCase().replace(' ', '-') === wanted) ?? ''
}

function without(marks: Record<string, string>, field: EventTarget) {
  const name = field instanceof Element ? field.getAttribute('name') : null
  return Object.fromEntries(Object.entries(marks).filter(([marked]) => marked !== name))
}
