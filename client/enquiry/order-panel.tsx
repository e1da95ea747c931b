import type { ReactNode } from 'react'
import { buyNow, nextSteps } from '../content/enquiry-form.ts'
import { Picture } from '../ui/picture.tsx'

/** The panel around the form and around the confirmation. */
export function OrderPanel({ received, children }: { received: boolean; children: ReactNode }) {
  return (
    <div className="order-panel on-sand">
      <div className="order-main">
        {children}
        {!received && <p className="small order-advice">{buyNow.advice}</p>}
      </div>
      <Picture className="order-picture" name="buy-now" alt={buyNow.pictureAlt} sizes="352px" />
      <NextSteps received={received} />
    </div>
  )
}

function NextSteps({ received }: { received: boolean }) {
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
