import { type ReactNode, useEffect, useRef } from 'react'
import type { Order } from '../../shared/order.ts'

interface OrderReceivedProps {
  reference: string
  order?: Order | undefined
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
