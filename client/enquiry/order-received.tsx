import { type ReactNode, useEffect, useRef } from 'react'
import { brand } from '../../shared/brand.ts'
import type { Received } from '../../shared/form-outcome.ts'
import type { OrderContent } from '../../shared/order.ts'
import { whatsapp } from '../content/contact.ts'
import { enquiryReceived, nextSteps, receivedEarlier } from '../content/enquiry-form.ts'
import { Linked } from '../ui/text.tsx'

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
  isPage: boolean
  toast: ReactNode
  /** Leads to another enquiry. */
  children: ReactNode
}

/** What follows an order, with scripts and without: the enquiry, drawn as a product's label, and ways on that know its reference. */
export function OrderReceived({ received, isPage, toast, children }: OrderReceivedProps) {
  const { reference, products, quantity, on, isEarlier } = received
  const rows = Object.entries({ Product: products, Quantity: quantity, Received: on })
  const chat = chatLink(received)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const Heading = isPage ? 'h1' : 'h2'
  return (
    <div className="received">
      {toast}
      <Heading ref={heading} className="minor" tabIndex={-1}>
        {enquiryReceived.heading}
      </Heading>
      <p>{on && isEarlier ? receivedEarlier(on) : enquiryReceived.lead}</p>
      <div className="panel">
        <p className="panel-class">Your reference</p>
        <p className="reference">{reference}</p>
        <button type="button" className="pill copy-button" aria-live="polite">
          Copy
        </button>
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
      <div className="submit-row">
        {chat && (
          <a href={chat} className="button" target="_blank" rel="noopener">
            Continue on WhatsApp
          </a>
        )}
        {children}
      </div>
      <p className="small">
        <Linked>{enquiryReceived.quote}</Linked>
      </p>
    </div>
  )
}

/** A chat that begins with the enquiry, and with nothing of the visitor. */
function chatLink({ reference, products, quantity }: Received) {
  const what = quantity && products ? `: ${quantity} × ${products}` : ''
  return whatsapp && `${whatsapp}?text=${encodeURIComponent(`Enquiry ${reference}${what}`)}`
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
