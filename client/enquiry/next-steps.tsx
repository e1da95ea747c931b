import { nextSteps } from '../content/enquiry-form.ts'

/** The first is done once the order is received. */
export function NextSteps({ received }: { received: boolean }) {
  return (
    <div className="order-next">
      <h2>What happens next</h2>
      <ol className="steps">
        {nextSteps.map((step, index) => (
          <li key={step.title} data-done={received && index === 0}>
            <strong>{step.title}</strong> {received && index === 0 && <span className="visually-hidden">(done)</span>}{' '}
            {step.text}
          </li>
        ))}
      </ol>
    </div>
  )
}
