import { type ReactNode, useEffect, useRef } from 'react'
import { brand } from '../../shared/brand.ts'
import { buyNowPath, otherProduct, type Product } from '../../shared/catalogue.ts'
import { suggestEmail } from '../../shared/doubts.ts'
import { type Receipt, receivedUrl } from '../../shared/form-outcome.ts'
import type { OrderContent } from '../../shared/order.ts'
import { mobileInGroups } from '../../shared/visitor-contact.ts'
import { chatLink } from '../content/contact.ts'
import { enquiryReceived, receivedEarlier } from '../content/enquiry-form.ts'
import { Linked } from '../ui/text.tsx'
import { OrderActions } from './order-actions.tsx'
import { fromOf, OrderSlip, valuesOf } from './order-slip.tsx'
import { filling } from './order-state.ts'
import { filledInMs, keepDraft } from './tab-storage.ts'
import { useOrder } from './use-order.ts'

interface OrderReceivedProps {
  receipt: Receipt
  /** The order, where scripts have sent it. */
  order?: OrderContent
  /** The enquiry before this one, in the same visit. */
  before?: Receipt | undefined
  isPage: boolean
  /** Opens the form for the same product. */
  onAnother?: () => void
  /** Leads to another enquiry. */
  children: ReactNode
}

/** The confirmation, with scripts and without. */
export function OrderReceived({ receipt, order, before, isPage, onAnother, children }: OrderReceivedProps) {
  const { reference, products, quantity, page } = receipt
  const mailLeads = order ? mailsHaveLinks() && !suggestEmail(order.email) : receipt.mailLeads
  const what = quantity && products ? `: ${quantity} × ${products}` : ''
  // What leaves the page names the enquiry and not the visitor.
  const summary = `Enquiry ${reference}${what}`
  const chat = chatLink(summary)
  const other = before ? undefined : otherProduct(products)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const { title } = document
    document.title = `${enquiryReceived.title} | ${brand.name}`
    return () => {
      document.title = title
    }
  }, [])
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
      <OrderSlip
        content={{ ...receipt, ...(order && { mobile: order.mobile, email: order.email, from: fromOf(order) }) }}
        reference={reference}
        done={1}
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
      {other &&
        (order && onAnother ? (
          <OtherProduct order={order} product={other} onAnother={onAnother} />
        ) : (
          <a href={buyNowPath(other)} className="pill">
            {enquiryReceived.other(other)}
          </a>
        ))}
      <p>{leadOf(receipt, order)}</p>
      {(page || mailLeads) && (
        <p>
          {page && (
            <>
              <a href={page}>{enquiryReceived.page}</a> {enquiryReceived.pageIs}{' '}
            </>
          )}
          {mailLeads && enquiryReceived.mailLeads}
        </p>
      )}
      <p className="small">
        <Linked>{enquiryReceived.quote}</Linked>
      </p>
      <div className="submit-row">
        {before && <p className="small">{enquiryReceived.before(before.products ?? '', before.reference)}</p>}
        {children}
      </div>
    </div>
  )
}

/** The server sets data-mail-links: without PUBLIC_URL no mail links to the site. */
function mailsHaveLinks(): boolean {
  return document.documentElement.dataset.mailLinks === 'on'
}

function leadOf({ receivedAt, isEarlier }: Receipt, order: OrderContent | undefined): string {
  if (receivedAt && isEarlier) return receivedEarlier(receivedAt)
  return order ? enquiryReceived.contact(mobileInGroups(order.mobile), order.email) : enquiryReceived.lead
}

interface OtherProductProps {
  order: OrderContent
  product: Product
  /** Opens the form for the product that was sent. */
  onAnother: () => void
}

/** Sends the same order for the other product, in one press and in place. */
function OtherProduct({ order, product, onAnother }: OtherProductProps) {
  const { state, send, stop } = useOrder(filling)
  const second = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (state.is === 'received') second.current?.focus({ preventScroll: true })
  }, [state.is])
  if (state.is === 'received')
    return (
      <div className="second">
        <p ref={second} tabIndex={-1}>
          {enquiryReceived.second(product)} <strong className="reference">{state.receipt.reference}</strong>
        </p>
      </div>
    )

  function sendSame() {
    const same = { ...order, products: product, filledInMs: filledInMs() }
    keepDraft(valuesOf(same)) // for a reload after a lost answer
    send(same)
  }

  return (
    <div className="second">
      <OrderActions
        state={state}
        label={enquiryReceived.same(product, String(order.quantity))}
        isQuiet
        onSend={sendSame}
        onStop={stop}
      >
        <button type="button" className="pill" onClick={onAnother}>
          {enquiryReceived.another(order.products)}
        </button>
      </OrderActions>
      <div aria-live="polite">
        {'note' in state && state.note && (
          <p className="submit-note">
            <Linked>{state.note}</Linked>
          </p>
        )}
      </div>
    </div>
  )
}
