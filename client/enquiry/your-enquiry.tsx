import { type Act, fieldOf, YOUR_ENQUIRY_PATH, type YourEnquiry } from '../../shared/form-outcome.ts'
import { actTexts, standingTexts, yourEnquiry } from '../content/your-enquiry.ts'
import { Linked } from '../ui/text.tsx'
import { OrderSlip } from './order-slip.tsx'

/** What the holder of a visitor's link sees and may do. Without a script: each act is a form. */
export function YourEnquiryBody({ shown }: { shown: YourEnquiry }) {
  const { token, reference, products, quantity, receivedAt, mobile, email, standing, may } = shown
  const { problem, done } = shown
  const isEnding = standing.status === 'Withdrawn' || standing.eraseAt !== undefined
  return (
    <div className="your-enquiry">
      <h1 className="minor">{yourEnquiry.title}</h1>
      {problem && (
        <p className="field-error" role="alert">
          <Linked>{problem.message}</Linked>
        </p>
      )}
      <div role="status">
        {standingTexts(standing).map((text) => (
          <p key={text} className="lead">
            <Linked>{text}</Linked>
          </p>
        ))}
        {done && actTexts[done].done && <p className="lead">{actTexts[done].done}</p>}
        {standing.proposed && <p>{yourEnquiry.proposed(standing.proposed)}</p>}
      </div>
      <OrderSlip
        content={{ products, quantity, mobile: yourEnquiry.mobile(mobile, standing.proposed), email, receivedAt }}
        reference={reference}
        done={isEnding ? undefined : standing.stepsDone}
        hasCopy={false}
        next={
          <a href="#acts" className="pill">
            {yourEnquiry.changes}
          </a>
        }
      />
      <section className="acts" aria-labelledby="acts">
        <h2 id="acts" className="minor">
          {yourEnquiry.changes}
        </h2>
        {may.map((act) => {
          const refused = problem?.act === act ? problem : undefined
          const isOpen = refused !== undefined || act === 'keep' || act === 'resume'
          return <ActForm key={act} act={act} token={token} reference={reference} isOpen={isOpen} {...refused} />
        })}
      </section>
    </div>
  )
}

const inputs: Partial<Record<Act, { type?: string; inputMode?: 'numeric' | 'tel' | 'email'; autoComplete?: string }>> =
  {
    mobile: { type: 'tel', inputMode: 'tel', autoComplete: 'tel' },
    quantity: { inputMode: 'numeric' },
    email: { type: 'email', inputMode: 'email', autoComplete: 'email' },
  }

interface ActFormProps {
  act: Act
  token: string
  isOpen: boolean
  reference?: string
  /** What was typed. */
  value?: string
  /** Why that was refused. */
  message?: string
}

export function ActForm({ act, token, isOpen, reference, value, message }: ActFormProps) {
  const { title, says, label, button } = actTexts[act]
  const id = `act-${act}`
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      <form method="post" action={YOUR_ENQUIRY_PATH} noValidate className="submit">
        <input type="hidden" name="token" value={token} />
        {says && <p>{says}</p>}
        {label && (
          <div className="field">
            <label htmlFor={id}>{label(reference)}</label>
            <input
              {...inputs[act]}
              id={id}
              name={fieldOf(act)}
              defaultValue={value}
              aria-invalid={message ? true : undefined}
              aria-describedby={message && `${id}-error`}
              // biome-ignore lint/a11y/noAutofocus: what was refused lies far down the page
              autoFocus={message !== undefined}
              required
            />
          </div>
        )}
        {message && (
          <p className="field-error" id={`${id}-error`}>
            <Linked>{message}</Linked>
          </p>
        )}
        <button type="submit" name="act" value={act} className={act === 'erase' ? 'pill' : 'button'}>
          {button}
        </button>
      </form>
    </details>
  )
}
