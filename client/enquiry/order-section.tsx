import { brand } from '../../shared/brand.ts'
import { nextSteps } from '../content/enquiry-form.ts'
import { Picture } from '../ui/picture.tsx'
import { OrderForm } from './order-form.tsx'

/** The enquiry form with what surrounds it, the same on the home page and on the page of its own. */
export function OrderSection({ path }: { path: string }) {
  return (
    <div className="order-panel">
      <div className="order-main">
        <OrderForm path={path} />
      </div>
      <Picture
        className="order-picture"
        name="buy-now"
        seamless
        alt={`${brand.name} 300 and ${brand.name} XT before a note card`}
        sizes="(min-width: 56.25em) 440px, 92vw"
      />
      <div className="order-next">
        <h2 className="minor">What happens next</h2>
        <ol className="steps">
          {nextSteps.map((step) => (
            <li key={step.title}>
              <strong>{step.title}</strong> {step.text}
            </li>
          ))}
        </ol>
      </div>
    </div>
  )
}
