import { type ReactNode, useEffect, useRef } from 'react'
import { brand } from '../../shared/brand.ts'
import { otherProduct } from '../../shared/catalogue.ts'
import { type Received, receivedUrl } from '../../shared/form-outcome.ts'
import type { OrderContent } from '../../shared/order.ts'
import { chatLink } from '../content/contact.ts'
import { enquiryReceived, receivedEarlier } from '../content/enquiry-form.ts'
import { Linked } from '../ui/text.tsx'
import { fromOf, OrderSlip } from './order-slip.tsx'

interface OrderReceivedProps {
  received: Received
  /** How we reach the visitor: known where scripts have sent the order. */
  contact?: OrderContent | undefined
  /** The enquiry before this one, in the same visit. */
  before?: Received | undefined
  isPage: boolean
  /** Leads to another enquiry. */
  children: ReactNode
}

/** The confirmation, with scripts and without. */
export function OrderReceived({ received, contact, before, isPage, children }: OrderReceivedProps) {
  const { reference, products, quantity, receivedAt, isEarlier } = received
  const what = quantity && products ? `: ${quantity} × ${products}` : ''
  // What leaves the page names the enquiry and not the visitor.
  const other = otherProduct(products)
  const hint = before
    ? enquiryReceived.before(before.products ?? '', before.reference)
    : contact && other && enquiryReceived.other(other)
  const summary = `Enquiry ${reference}${what}`
  const chat = chatLink(summary)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    // Near the top, where a toast finds room above it and the reference below, also on a phone.
    heading.current?.scrollIntoView({ block: 'start', behavior: 'instant' })
  }, [])
  const Heading = isPage ? 'h1' : 'h2'
  return (
    <div className="received">
      <Heading ref={heading} className="minor" tabIndex={-1}>
        {enquiryReceived.heading}
      </Heading>
      <p>{receivedAt && isEarlier ? receivedEarlier(receivedAt) : enquiryReceived.lead}</p>
      <OrderSlip
        content={{ ...received, ...(contact && { ...contact, quantity, from: fromOf(contact) }) }}
        reference={reference}
      >
        <div className="submit-row slip-actions">
          <button type="button" className="pill" data-print>
            Print
          </button>
          <button
            type="button"
            className="pill"
            data-share={`${summary}. ${brand.company}, ${brand.phone}`}
            data-url={receivedUrl(reference)}
          >
            Share
          </button>
          {chat && (
            <a href={chat} className="pill" target="_blank" rel="noopener">
              Ask on WhatsApp
            </a>
          )}
        </div>
      </OrderSlip>
      <p className="small">
        <Linked>{enquiryReceived.quote}</Linked>
      </p>
      <div className="submit-row">
        {hint && <p className="small">{hint}</p>}
        {children}
      </div>
    </div>
  )
}
