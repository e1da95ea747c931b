import { type ReactNode, useState } from 'react'
import { brand } from '../../shared/brand.ts'
import { buyNow } from '../content/buy-now.ts'
import { enquiryReceived } from '../content/enquiry-form.ts'
import { Picture } from '../ui/picture.tsx'
import { OrderForm } from './order-form.tsx'
import { NextSteps } from './order-received.tsx'

interface OrderSectionProps {
  path: string
  /** The heading above it, which tells how far the enquiry is. */
  head: (text: { title: string; lead: string }) => ReactNode
}

/** The enquiry form with what surrounds it, the same on the home page and on the page of its own. */
export function OrderSection({ path, head }: OrderSectionProps) {
  const [received, setReceived] = useState(false)
  return (
    <div className="wrap">
      {head(received ? enquiryReceived : buyNow)}
      <div className="order-panel on-sand">
        <div className="order-main">
          <OrderForm path={path} onReceived={setReceived} />
        </div>
        <Picture
          className="square order-picture"
          name="buy-now"
          alt={`${brand.name} 300 and ${brand.name} XT before a note card`}
          sizes="(min-width: 56.25em) 440px, 280px"
        />
        <NextSteps received={received} />
      </div>
    </div>
  )
}
