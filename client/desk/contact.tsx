import { brand } from '../../shared/brand.ts'
import { callLink, mailLink, mobileInGroups, whatsAppLink } from '../../shared/visitor-contact.ts'
import { Act, ActionButton } from './buttons.tsx'
import type { Seen } from './changes.tsx'
import { count } from './format.ts'
import { showDone, showRefusal } from './message.ts'
import { type Enquiry, type Row, replyTitles } from './queries.ts'
import { startCall, startContact } from './ringing.ts'

/** How one reaches the visitor. */
export function Contact({ seen, replies }: { seen: Seen; replies: Enquiry['replies'] | undefined }) {
  const { row } = seen
  const { reference, mobile, email, proposal } = row
  const titles = replies?.map(({ title }) => title) ?? replyTitles()
  const onWrite = () => startContact(reference)
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
        <a href={whatsAppLink(mobile)} target="_blank" rel="noreferrer" onClick={onWrite}>
          WhatsApp
        </a>
        {email && (
          <a href={mailLink(email, subjectOf(row))} onClick={onWrite}>
            Write
          </a>
        )}
        <ActionButton className="quiet" onClick={() => copy(mobile, 'The number is copied')}>
          Copy number
        </ActionButton>
        <ActionButton className="quiet" onClick={() => copy(allOf(row), 'The enquiry is copied')}>
          Copy all
        </ActionButton>
      </p>
      {titles.map((title, index) => (
        <Reply key={title} row={row} title={title} text={replies?.[index]?.text} />
      ))}
    </section>
  )
}

interface ReplyProps {
  row: Row
  title: string
  /** Undefined until it has come: its place is kept. */
  text: string | undefined
}

function Reply({ row, title, text }: ReplyProps) {
  const { reference, mobile, email } = row
  const body = text && encodeURIComponent(text)
  const links = {
    WhatsApp: `${whatsAppLink(mobile)}?text=${body}`,
    ...(email && { Mail: `${mailLink(email, subjectOf(row))}&body=${body}` }),
  }
  return (
    <p className="buttons reply quiet">
      <span className="small">{title}</span>
      {Object.entries(links).map(([name, href]) => (
        <a
          key={name}
          href={body ? href : undefined}
          onClick={() => startContact(reference)}
          {...(name === 'WhatsApp' && { target: '_blank', rel: 'noreferrer' })}
          aria-label={`${title}, by ${name === 'Mail' ? 'mail' : name}`}
        >
          {name}
        </a>
      ))}
    </p>
  )
}

const subjectOf = ({ reference }: Row) => `${brand.name} enquiry ${reference}`

function allOf({ reference, name, email, mobile, quantity, products, retailerSelfUse }: Row): string {
  return [reference, name, mobileInGroups(mobile), email, `${count(quantity)} × ${products}`, retailerSelfUse]
    .filter(Boolean)
    .join('\n')
}

/** The clipboard is missing on a page without TLS. */
async function copy(text: string, done: string) {
  try {
    await navigator.clipboard.writeText(text)
    showDone(done)
  } catch {
    showRefusal(`Copying does not work here: ${text}`, true)
  }
}
