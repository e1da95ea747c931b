import { privacyNotice } from '../content/enquiry-form.ts'

/** The button, with the privacy notice beside it: raise `NOTICE_VERSION` when its words change. */
export function SubmitOrder({ sending, note }: { sending: boolean; note: string | undefined }) {
  return (
    <div className="submit">
      {note && <p className="submit-note">{note}</p>}
      <button type="submit" className="button" aria-disabled={sending}>
        {sending ? 'Sending…' : 'Send enquiry'}
      </button>
      <p className="small">
        {privacyNotice} How, and your rights: <a href="/privacy-policy">Privacy Policy</a>.
      </p>
    </div>
  )
}
