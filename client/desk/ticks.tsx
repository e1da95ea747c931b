import { type ReactNode, useState } from 'react'
import { timeOf } from './format.ts'
import type { Held } from './queries.ts'

/* Enquiries to be ticked one by one: a number that several share is not one person. */

export function useTicks(first: string[]) {
  const [ticked, setTicked] = useState(first)
  return {
    ticked,
    has: (reference: string) => ticked.includes(reference),
    tick(reference: string, isTicked: boolean) {
      setTicked(isTicked ? [...ticked, reference] : ticked.filter((each) => each !== reference))
    },
  }
}

interface TicksProps {
  held: Held
  ticks: ReturnType<typeof useTicks>
  isSubscriptionTicked: boolean
  onSubscription: (isTicked: boolean) => void
  /** How the subscription is called. */
  children: ReactNode
}

export function Ticks({ held, ticks, isSubscriptionTicked, onSubscription, children }: TicksProps) {
  return (
    <ul className="ticks">
      {held.enquiries.map(({ Reference, Name, Products, ReceivedAt }) => (
        <li key={Reference}>
          <Tick isTicked={ticks.has(Reference)} onTick={(isTicked) => ticks.tick(Reference, isTicked)}>
            <bdi>{Name}</bdi>
            <span className="small">{`${Reference}, ${Products}, ${timeOf(ReceivedAt)}`}</span>
          </Tick>
        </li>
      ))}
      {held.subscriptions.length > 0 && (
        <li>
          <Tick isTicked={isSubscriptionTicked} onTick={onSubscription}>
            {children}
          </Tick>
        </li>
      )}
    </ul>
  )
}

interface TickProps {
  isTicked: boolean
  onTick: (isTicked: boolean) => void
  children: ReactNode
}

function Tick({ isTicked, onTick, children }: TickProps) {
  return (
    <label>
      <input type="checkbox" checked={isTicked} onChange={({ target }) => onTick(target.checked)} />
      <span>{children}</span>
    </label>
  )
}
