import { useEffect, useRef } from 'react'
import { brand } from '../../shared/brand.ts'
import type { Product } from '../../shared/catalogue.ts'
import type { Received } from '../../shared/form-outcome.ts'
import type { OrderContent } from '../../shared/order.ts'
import { telephone } from '../content/contact.ts'
import { nextSteps } from '../content/enquiry-form.ts'
import { productCards } from '../content/product.ts'

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
  received?: Received
  /** What was received: another one may begin with it. */
  order?: OrderContent
}

export const EMPTY: OrderState = { marks: {} }

interface OrderReceivedProps {
  received: Received
  onAgain: () => void
}

export function OrderReceived({ received, onAgain }: OrderReceivedProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className="received">
      <h2 ref={heading} className="minor" tabIndex={-1}>
        Thank you. This is your reference.
      </h2>
      <ReceivedLabel {...received} />
      <button type="button" className="button" onClick={onAgain}>
        Send another enquiry
      </button>
    </div>
  )
}

/** The enquiry, drawn as a product's label, and ways on that know its reference. */
export function ReceivedLabel({ reference, products, quantity, on }: Received) {
  const rows = Object.entries({ Product: products, Quantity: quantity, Received: on })
  const greeting = encodeURIComponent(`Enquiry ${reference}: `)
  return (
    <>
      <div className="panel" data-ground={productCards[products as Product]?.ground}>
        <p className="panel-class">enquiry</p>
        <p className="reference amount">{reference}</p>
        <table>
          <tbody>
            {rows.map(
              ([label, value]) =>
                value && (
                  <tr key={label}>
                    <th scope="row">{label}</th>
                    <td>{value}</td>
                  </tr>
                ),
            )}
          </tbody>
        </table>
        <p className="panel-band">
          {brand.company}, {brand.address.city}
        </p>
      </div>
      <p className="small">
        Please quote it when you call or write: <a href={telephone}>{brand.phone}</a> or{' '}
        <a href={`${brand.social.whatsapp}?text=${greeting}`} rel="noopener">
          WhatsApp
        </a>
        .
      </p>
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
            <strong>{step.title}</strong>{' '}
            <span className="visually-hidden" hidden={!received || index > 0}>
              (done)
            </span>{' '}
            {step.text}
          </li>
        ))}
      </ol>
    </div>
  )
}
