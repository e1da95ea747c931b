import { useState } from 'react'
import { brand } from '../../shared/brand.ts'
import { formatIndianTime } from '../../shared/indian-time.ts'
import { ActionButton } from './buttons.tsx'
import type { Held } from './queries.ts'
import { Ticks, useTicks } from './ticks.tsx'

/* What we hold of a person, the main of it in words: what is ticked is printed, or saved with all its columns. */

const dayAndTime = (time: string) => formatIndianTime(new Date(time))

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
      <p>{`${brand.company}, ${formatIndianTime(new Date())}`}</p>
      {chosen.map((each) => (
        <HeldPart key={each.Reference} reference={each.Reference} told={told[each.Reference]} />
      ))}
      {subscribed.map(({ Email, SubscribedAt, ConfirmedAt }) => (
        <section key={Email} aria-label="Newsletter">
          <h3>Newsletter</h3>
          <p>
            <bdi>{Email}</bdi>
            <span>{`, asked for ${dayAndTime(SubscribedAt)}, ${ConfirmedAt ? `confirmed ${dayAndTime(ConfirmedAt)}` : 'not confirmed'}`}</span>
          </p>
        </section>
      ))}
    </div>
  )
}

interface HeldPartProps {
  reference: string
  told: Held['told'][string] | undefined
}

function HeldPart({ reference, told }: HeldPartProps) {
  if (!told) return null
  return (
    <section aria-label={reference}>
      <h3>{`${reference}, received ${told.receivedAt}`}</h3>
      <dl className="fields">
        {told.fields.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      <ul className="lines">
        {told.lines.map(({ at, text }) => (
          <li key={`${at} ${text}`}>
            <span className="small">{at}</span>
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
