import { type ReactNode, useEffect, useRef } from 'react'
import type { OrderContent } from '../../shared/order.ts'
import { nextSteps } from '../content/enquiry-form.ts'

/** What the order form shows, apart from what is typed. */
export interface OrderState {
  /** An order is under way. */
  sending?: boolean
  /** What is to be said of it while it is. */
  progress?: string | undefined
  /** What is wrong with each field. */
  marks: Record<string, string>
  /** Above the fields, on a page that answers a form sent without scripts: what a toast says elsewhere. */
  summary?: string
  /** What is wrong with none of them. */
  note?: string | undefined
  /** The order was received. */
  reference?: string | undefined
  order?: OrderContent
}

export const EMPTY: OrderState = { marks: {} }

interface OrderReceivedProps {
  reference: string
  order?: OrderContent | undefined
  onAgain: () => void
}

export function OrderReceived({ reference, order, onAgain }: OrderReceivedProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className="received">
      <h2 ref={heading} className="minor" tabIndex={-1}>
        Thank you. This is your reference.
      </h2>
      <Reference reference={reference}>
        {order && (
          <p>
            {order.quantity} × {order.products}, {order.retailerSelfUse}
          </p>
        )}
      </Reference>
      <button type="button" className="button" onClick={onAgain}>
        Send another enquiry
      </button>
    </div>
  )
}

export function Reference({ reference, children }: { reference: string; children?: ReactNode }) {
  return (
    <>
      <p className="reference amount">{reference}</p>
      {children}
      <p className="small">Please quote it when you call or write.</p>
    </>
  )
}

/** The first is done once the order is received. */
export function NextSteps({ received }: { received: boolean }) {
  return (
    <div className="order-next">
      <h2>What happens next</h2>
      <ol className="steps">
        {nextSteps.map((step, index) => (
          <li key={step.title} data-done={received && index === 0}>
            <strong>{step.title}</strong> {received && index === 0 && <span className="visually-hidden">(done)</span>}{' '}
            {step.text}
          </li>
        ))}
      </ol>
    </div>
  )
}
