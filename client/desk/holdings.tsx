import { useState } from 'react'
import { mobileInGroups } from '../../shared/visitor-contact.ts'
import { ActionButton } from './buttons.tsx'
import { count, timeOf } from './format.ts'
import type { Held } from './queries.ts'
import { Ticks, useTicks } from './ticks.tsx'

/* What we hold of a person, the main of it in words: what is ticked is printed, or saved with all its columns. */

export function Holdings({ held, reference }: { held: Held; reference: string }) {
  const { enquiries, subscriptions, told } = held
  const own = enquiries.find((each) => each.Reference === reference)
  const isSameName = ({ Name }: Held['enquiries'][number]) => Name.toLowerCase() === own?.Name.toLowerCase()
  const ticks = useTicks(enquiries.filter(isSameName).map((each) => each.Reference))
  const [withSubscription, setWithSubscription] = useState(subscriptions.length > 0)
  const chosen = enquiries.filter((each) => ticks.has(each.Reference))
  const subscribed = withSubscription ? subscriptions : []
  return (
    <div className="held">
      <div className="not-printed">
        <p>All of this number or address. Several people may share one: tick what is of who asks.</p>
        <Ticks held={held} ticks={ticks} isSubscriptionTicked={withSubscription} onSubscription={setWithSubscription}>
          The subscription to the newsletter
        </Ticks>
        <p className="buttons">
          <ActionButton className="primary" onClick={() => print()}>
            Print or save as PDF
          </ActionButton>
          <ActionButton onClick={() => save({ ...held, enquiries: chosen, subscriptions: subscribed }, reference)}>
            Save all columns (JSON)
          </ActionButton>
        </p>
      </div>
      {chosen.map((each) => (
        <HeldPart key={each.Reference} enquiry={each} lines={told[each.Reference] ?? []} />
      ))}
      {subscribed.map(({ Email, SubscribedAt, ConfirmedAt }) => (
        <section key={Email} aria-label="Newsletter">
          <h3>Newsletter</h3>
          <p>
            <bdi>{Email}</bdi>
            <span>{`, asked for ${timeOf(SubscribedAt)}, ${ConfirmedAt ? `confirmed ${timeOf(ConfirmedAt)}` : 'not confirmed'}`}</span>
          </p>
        </section>
      ))}
    </div>
  )
}

interface HeldPartProps {
  enquiry: Held['enquiries'][number]
  lines: { at: string; text: string }[]
}

function HeldPart({ enquiry, lines }: HeldPartProps) {
  const { Reference, Name, Mobile, Email, Quantity, Products, RetailerSelfUse, Status, ClosedAs } = enquiry
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
        {lines.map(({ at, text }) => (
          <li key={`${at} ${text}`}>
            <span className="small">{timeOf(at)}</span>
            <bdi>{text}</bdi>
          </li>
        ))}
      </ul>
    </section>
  )
}

function save({ told, ...columns }: Held, reference: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([JSON.stringify(columns, null, 2)], { type: 'application/json' }))
  link.download = `${reference}-what-we-hold.json`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
