import { privacyNotice } from '../content/enquiry-form.ts'
import type { OrderState } from './order-state.ts'

/** The button, with the privacy notice beside it: raise `NOTICE_VERSION` when its words change. */
export function OrderActions({ sending = false, progress, note, onStop }: OrderState & { onStop: () => void }) {
  return (
    <div className="submit">
      {note && <p className="submit-note">{note}</p>}
      <div className="submit-row">
        <button type="submit" className="button send" aria-disabled={sending}>
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
