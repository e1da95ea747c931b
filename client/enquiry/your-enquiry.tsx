import { type Act, YOUR_ENQUIRY_PATH, type YourEnquiry } from '../../shared/form-outcome.ts'
import { actTexts, standingTexts, yourEnquiry } from '../content/your-enquiry.ts'
import { Linked } from '../ui/text.tsx'
import { OrderSlip } from './order-slip.tsx'

/** What the holder of a visitor's link sees and may do. Without a script: each act is a form. */
export function YourEnquiryBody({ shown }: { shown: YourEnquiry }) {
  const { reference, products, quantity, receivedAt, mobile, email, standing, may } = shown
  return (
    <div className="your-enquiry">
      <h1 className="minor">{yourEnquiry.title}</h1>
      <div role="status">
        {standingTexts(standing).map((text) => (
          <p key={text} className="lead">
            <Linked>{text}</Linked>
          </p>
        ))}
        {standing.proposed && <p>{yourEnquiry.proposed(standing.proposed)}</p>}
      </div>
      <OrderSlip
        content={{ products, quantity, mobile: yourEnquiry.mobile(mobile), email, receivedAt }}
        reference={reference}
        done={standing.stepsDone}
        hasCopy={false}
      />
      <h2 className="minor">{yourEnquiry.changes}</h2>
      <div className="acts">
        {may.map((act) => (
          <ActForm key={act} act={act} shown={shown} />
        ))}
      </div>
    </div>
  )
}

const inputs: Partial<Record<Act, { type?: string; inputMode?: 'numeric' | 'tel' | 'email'; autoComplete?: string }>> =
  {
    mobile: { type: 'tel', inputMode: 'tel', autoComplete: 'tel' },
    quantity: { inputMode: 'numeric' },
    email: { type: 'email', inputMode: 'email', autoComplete: 'email' },
  }

function ActForm({ act, shown: { token, problem } }: { act: Act; shown: YourEnquiry }) {
  const { title, says, label, button } = actTexts[act]
  const refused = problem?.act === act ? problem : undefined
  const id = `act-${act}`
  return (
    <details open={refused !== undefined || act === 'keep'}>
      <summary>{title}</summary>
      <form method="post" action={YOUR_ENQUIRY_PATH} noValidate className="submit">
        <input type="hidden" name="token" value={token} />
        {says && <p>{says}</p>}
        {label && (
          <div className="field">
            <label htmlFor={id}>{label}</label>
            <input
              {...inputs[act]}
              id={id}
              name={act === 'erase' ? 'reference' : act}
              defaultValue={refused?.value}
              aria-invalid={refused ? true : undefined}
              aria-describedby={refused && `${id}-error`}
              required
            />
          </div>
        )}
        {refused && (
          <p className="field-error" id={`${id}-error`} role="alert">
            {refused.message}
          </p>
        )}
        <button type="submit" name="act" value={act} className={act === 'erase' ? 'pill' : 'button'}>
          {button}
        </button>
      </form>
    </details>
  )
}
