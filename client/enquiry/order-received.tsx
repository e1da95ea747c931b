import { useEffect, useRef } from 'react'
import { nextSteps } from '../content/enquiry-form.ts'

export function OrderReceived({ reference, onAgain }: { reference: string; onAgain: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className="received">
      <h2 ref={heading} className="minor" tabIndex={-1}>
        Thank you. Your enquiry is with us.
      </h2>
      <NextSteps reference={reference} />
      <button type="button" className="button" onClick={onAgain}>
        Send another enquiry
      </button>
    </div>
  )
}

export function NextSteps({ reference }: { reference: string }) {
  return (
    <>
      <p>Your reference</p>
      <p className="reference">{reference}</p>
      <p>Please keep it: it finds your enquiry when you call or write.</p>
      <ol>
        {nextSteps.slice(1).map((step) => (
          <li key={step.title}>
            <strong>{step.title}.</strong> {step.text}
          </li>
        ))}
      </ol>
    </>
  )
}
