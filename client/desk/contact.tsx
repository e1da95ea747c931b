import { toast } from 'react-toastify/unstyled'
import { brand } from '../../shared/brand.ts'
import { callLink, mailLink, mobileInGroups, whatsAppLink } from '../../shared/visitor-contact.ts'
import { Act, ActionButton } from './buttons.tsx'
import type { Seen } from './changes.tsx'
import { count } from './format.ts'
import type { Enquiry, Row } from './queries.ts'
import { startCall } from './ringing.ts'

/** How one reaches the visitor. */
export function Contact({ seen, replies }: { seen: Seen; replies: Enquiry['replies'] | undefined }) {
  const { row } = seen
  const { reference, mobile, email, proposal } = row
  const subject = `${brand.name} enquiry ${reference}`
  return (
    <section className="contact" aria-label="Contact">
      <p className="mobile">{mobileInGroups(mobile)}</p>
      {proposal && (
        <p className="buttons">
          <span>{`The visitor proposes ${mobileInGroups(proposal.mobile)}.`}</span>
          <Act name="accept" seen={seen} options={{}} />
        </p>
      )}
      <p className="buttons">
        <a className="primary call" href={callLink(mobile)} onClick={() => startCall(reference)}>
          Call
        </a>
        <a href={whatsAppLink(mobile)} target="_blank" rel="noreferrer">
          WhatsApp
        </a>
        {email && <a href={mailLink(email, subject)}>Write</a>}
        <ActionButton className="quiet" onClick={() => copy(mobile, 'The number is copied')}>
          Copy number
        </ActionButton>
        <ActionButton className="quiet" onClick={() => copy(allOf(row), 'All six fields are copied')}>
          Copy all
        </ActionButton>
      </p>
      {replies?.map(({ title, text }) => (
        <p className="buttons reply quiet" key={title}>
          <span className="small">{title}</span>
          <a
            href={`${whatsAppLink(mobile)}?text=${encodeURIComponent(text)}`}
            target="_blank"
            rel="noreferrer"
            aria-label={`${title}, by WhatsApp`}
          >
            WhatsApp
          </a>
          {email && (
            <a href={`${mailLink(email, subject)}&body=${encodeURIComponent(text)}`} aria-label={`${title}, by mail`}>
              Mail
            </a>
          )}
        </p>
      ))}
    </section>
  )
}

function allOf({ reference, name, email, mobile, quantity, products, retailerSelfUse }: Row): string {
  return [reference, name, mobileInGroups(mobile), email, `${count(quantity)} × ${products}`, retailerSelfUse]
    .filter(Boolean)
    .join('\n')
}

/** The clipboard is missing on a page without TLS. */
async function copy(text: string, done: string) {
  try {
    await navigator.clipboard.writeText(text)
    toast.success(done)
  } catch {
    toast.error(`Copying does not work here: ${text}`)
  }
}
