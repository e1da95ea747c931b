import { buyNow, privacyNotice } from '../content/enquiry-form.ts'
import { Linked } from '../ui/text.tsx'
import type { OrderState } from './order-state.ts'

/** The button, with the privacy notice beside it: raise `PRIVACY_NOTICE_VERSION` when its words change. */
export function OrderActions({
  sending = false,
  progress,
  note,
  received,
  onStop,
}: OrderState & { onStop: () => void }) {
  return (
    <div className="submit" hidden={received !== undefined}>
      <p className="small">{buyNow.advice}</p>
      <div aria-live="polite">
        {note && (
          <p key={note} className="submit-note">
            <Linked>{note}</Linked>
          </p>
        )}
      </div>
      <div className="submit-row">
        {/* The second click of a double click is no answer to a question that the first has raised. */}
        <button
          type="submit"
          className="button send"
          aria-disabled={sending}
          onClick={(event) => event.detail > 1 && event.preventDefault()}
        >
          {sending ? 'Sending…' : 'Send enquiry'}
        </button>
        {progress && (
          <button type="button" className="pill" onClick={onStop}>
            Stop
          </button>
        )}
        <p role="status" className="submit-progress">
          {progress}
        </p>
      </div>
      <p className="small">
        {privacyNotice} More on this, and on your rights, in our <a href="/privacy-policy">Privacy Policy</a>.
      </p>
    </div>
  )
}
