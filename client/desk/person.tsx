import { useState } from 'react'
import { act, type Seen } from './changes.tsx'
import { DialogButton } from './dialog-button.tsx'
import { Holdings } from './holdings.tsx'
import { type Held, messageOf, trpc } from './queries.ts'
import { Ticks, useTicks } from './ticks.tsx'

/* One person's data: what we hold, and erasing it. */

export function Person({ seen }: { seen: Seen }) {
  const { reference } = seen.row
  const [held, setHeld] = useState<Held>()
  const [problem, setProblem] = useState('')
  function read() {
    setHeld(undefined)
    setProblem('')
    trpc.desk.person.query({ reference }).then(setHeld, (error: Error) => setProblem(messageOf(error)))
  }
  const waiting = <p role="status">{problem || 'Loading …'}</p>
  return (
    <section aria-labelledby="person">
      <h2 id="person">This person’s data</h2>
      <div className="buttons">
        <DialogButton label="What we hold" onOpen={read}>
          {() => (held ? <Holdings held={held} reference={reference} /> : waiting)}
        </DialogButton>
        <DialogButton label="Erase" title={`Erase ${reference}`} onOpen={read}>
          {(close) => (held ? <Erase seen={seen} held={held} close={close} /> : waiting)}
        </DialogButton>
      </div>
    </section>
  )
}

interface EraseProps {
  seen: Seen
  held: Held
  close: () => void
}

function Erase({ seen, held, close }: EraseProps) {
  const ticks = useTicks([seen.row.reference])
  const [subscription, setSubscription] = useState(false)
  const references = ticks.ticked
  function erase() {
    if (references.length === 0) return
    act('erase', seen.row, { references, subscription })
    close()
  }
  return (
    <>
      <p>Everybody at the desk sees it, and can take it back for a day. Then it is gone for good.</p>
      <Ticks held={held} ticks={ticks} isSubscriptionTicked={subscription} onSubscription={setSubscription}>
        The subscription to the newsletter, which ends at once
      </Ticks>
      <p className="buttons">
        <button type="button" className="primary" aria-disabled={references.length === 0} onClick={erase}>
          {references.length === 1 ? 'Erase 1 enquiry in a day' : `Erase ${references.length} enquiries in a day`}
        </button>
      </p>
    </>
  )
}
