import type { ReactNode } from 'react'
import { buyNow, nextStepsTitle } from '../content/enquiry-form.ts'
import { Picture } from '../ui/picture.tsx'
import { OrderSlip, type SlipContent, Stages } from './order-slip.tsx'

/** Beside the form: the picture, the slip that fills as one types, and what happens next. */
export function OrderSide({ typed, isHidden }: { typed: SlipContent; isHidden: boolean }) {
  return (
    <div className="order-side" hidden={isHidden}>
      {orderPicture}
      <OrderSlip content={typed} />
      <div className="order-next">
        <h2>{nextStepsTitle}</h2>
        <Stages />
      </div>
    </div>
  )
}

/** Around a confirmation. */
export function ConfirmationPanel({ children }: { children: ReactNode }) {
  return (
    <div className="order-panel confirmation on-sand">
      {children}
      {orderPicture}
    </div>
  )
}

export const orderPicture = <Picture className="order-picture" name="buy-now" alt={buyNow.pictureAlt} sizes="352px" />
