import { type ReactNode, useEffect, useRef } from 'react'
import { brand } from '../../shared/brand.ts'
import type { Received } from '../../shared/form-outcome.ts'
import { whatsapp } from '../content/contact.ts'
import { enquiryReceived, receivedEarlier } from '../content/enquiry-form.ts'
import { Linked } from '../ui/text.tsx'

interface OrderReceivedProps {
  received: Received
  isPage: boolean
  /** Leads to another enquiry. */
  children: ReactNode
}

/** The confirmation, with scripts and without. */
export function OrderReceived({ received, isPage, children }: OrderReceivedProps) {
  const { reference, products, quantity, receivedAt, isEarlier } = received
  const rows = Object.entries({ Product: products, Quantity: quantity, Received: receivedAt })
  const chat = chatLink(received)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const Heading = isPage ? 'h1' : 'h2'
  return (
    <div className="received">
      <Heading ref={heading} className="minor" tabIndex={-1}>
        {enquiryReceived.heading}
      </Heading>
      <p>{receivedAt && isEarlier ? receivedEarlier(receivedAt) : enquiryReceived.lead}</p>
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
      <p className="small">
        <Linked>{enquiryReceived.quote}</Linked>
      </p>
      <div className="submit-row">
        {chat && (
          <a href={chat} className="button" target="_blank" rel="noopener">
            Continue on WhatsApp
          </a>
        )}
        {children}
      </div>
    </div>
  )
}

/** The chat's first message names the enquiry and not the visitor. */
function chatLink({ reference, products, quantity }: Received) {
  const what = quantity && products ? `: ${quantity} × ${products}` : ''
  return whatsapp && `${whatsapp}?text=${encodeURIComponent(`Enquiry ${reference}${what}`)}`
}
