import { mobileInGroups } from '../../shared/visitor-contact.ts'
import { ActionButton } from './buttons.tsx'
import { count, timeOf } from './format.ts'

/* What we hold of a person, in words. The file is that of `staff export --person`. */

/** Of tables: what is shown of their columns. */
export interface Held {
  enquiries: HeldEnquiry[]
  subscriptions: { Email: string; SubscribedAt: string; ConfirmedAt: string | null }[]
}

interface HeldEnquiry extends Record<'Reference' | 'Name' | 'Mobile' | 'Email' | 'Products' | 'ReceivedAt', string> {
  Quantity: number
  RetailerSelfUse: string
  Status: string
  ClosedAs: string | null
  Mails: { Id: number; Kind: string; Status: string; To: string | null; SentAt: string | null; QueuedAt: string }[]
  History: { Id: number; At: string; What: string; Text: string | null }[]
}

const kinds: Partial<Record<string, string>> = {
  Notice: 'Mail to staff',
  Change: 'Mail to staff about a change',
  Acknowledgement: 'Acknowledgement',
  ErasureAsked: 'Mail about the erasure',
  Post: 'Message to the chat of staff',
}

export function Holdings({ held, reference }: { held: Held; reference: string }) {
  const { enquiries, subscriptions } = held
  return (
    <div className="held">
      <p>
        All of this number or address. Several people may share one: look at the names before you pass this on. The file
        has the same, and each change.
      </p>
      <p className="buttons">
        <ActionButton className="primary" onClick={() => save(held, reference)}>
          Save as a file
        </ActionButton>
      </p>
      {enquiries.map((each) => (
        <HeldPart key={each.Reference} enquiry={each} />
      ))}
      <h3>Newsletter</h3>
      {subscriptions.length === 0 && <p>No subscription.</p>}
      {subscriptions.map(({ Email, SubscribedAt, ConfirmedAt }) => (
        <p key={Email}>
          <bdi>{Email}</bdi>
          <span>{`, asked for ${timeOf(SubscribedAt)}, ${ConfirmedAt ? `confirmed ${timeOf(ConfirmedAt)}` : 'not confirmed'}`}</span>
        </p>
      ))}
    </div>
  )
}

function HeldPart({ enquiry }: { enquiry: HeldEnquiry }) {
  const { Reference, Name, Mobile, Email, Quantity, Products, RetailerSelfUse, Status, ClosedAs } = enquiry
  const notes = enquiry.History.filter(({ What, Text }) => What === 'Note' && Text)
  const calls = enquiry.History.filter(({ What }) => What === 'Call')
  const lines = [
    ...notes.map(({ Id, At, Text }) => ({ key: `h${Id}`, at: At, text: `Note: ${Text}` })),
    ...calls.map(({ Id, At }) => ({ key: `h${Id}`, at: At, text: 'We rang, no answer' })),
    ...enquiry.Mails.map(({ Id, Kind, To, Status, SentAt, QueuedAt }) => ({
      ...{ key: `m${Id}`, at: SentAt ?? QueuedAt },
      text: `${kinds[Kind] ?? Kind}${To ? `, ${To}` : ''}: ${Status.toLowerCase()}`,
    })),
  ].sort((one, other) => one.at.localeCompare(other.at))
  return (
    <section aria-label={Reference}>
      <h3>{`${Reference}, received ${timeOf(enquiry.ReceivedAt)}`}</h3>
      <p>
        <bdi>{Name}</bdi>
        <br />
        <bdi>{[mobileInGroups(Mobile), Email].filter(Boolean).join(', ')}</bdi>
        <br />
        <span>{`${count(Quantity)} × ${Products}, ${RetailerSelfUse}`}</span>
        <br />
        <span>{[Status, ClosedAs].filter(Boolean).join(', ')}</span>
      </p>
      <ul className="lines">
        {lines.map(({ key, at, text }) => (
          <li key={key}>
            <span className="small">{timeOf(at)}</span>
            <bdi>{text}</bdi>
          </li>
        ))}
      </ul>
    </section>
  )
}

function save(held: Held, reference: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([JSON.stringify(held, null, 2)], { type: 'application/json' }))
  link.download = `${reference}-what-we-hold.json`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
