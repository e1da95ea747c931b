import { useState } from 'react'
import { act, type Seen } from './changes.tsx'
import { DialogButton } from './dialog-button.tsx'
import { timeOf } from './format.ts'
import { type Held, Holdings } from './holdings.tsx'
import { messageOf, trpc } from './queries.ts'

/* One person's data: what we hold, and erasing it. */

export function Person({ seen }: { seen: Seen }) {
  const { reference } = seen.row
  const [held, setHeld] = useState<Held>()
  const [problem, setProblem] = useState('')
  function read() {
    setHeld(undefined)
    setProblem('')
    trpc.desk.person.query({ reference }).then(
      (answer) => setHeld(answer as unknown as Held), // the columns of tables, which have no types here
      (error: Error) => setProblem(messageOf(error)),
    )
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

/** Each enquiry is ticked: a number that several share is not one person. */
function Erase({ seen, held: { enquiries, subscriptions }, close }: EraseProps) {
  const { reference } = seen.row
  const [ticked, setTicked] = useState([reference])
  const [subscription, setSubscription] = useState(false)
  function tick(one: string, isTicked: boolean) {
    setTicked(isTicked ? [...ticked, one] : ticked.filter((each) => each !== one))
  }
  function erase() {
    if (ticked.length === 0) return
    act('erase', seen.row, { references: ticked, subscription })
    close()
  }
  return (
    <>
      <p>Everybody at the desk sees it, and can take it back for a day. Then it is gone for good.</p>
      <ul className="ticks">
        {enquiries.map(({ Reference, Name, Products, ReceivedAt }) => (
          <li key={Reference}>
            <label>
              <input
                type="checkbox"
                checked={ticked.includes(Reference)}
                onChange={({ target }) => tick(Reference, target.checked)}
              />
              <span>
                <bdi>{Name}</bdi>
                <span className="small">{`${Reference}, ${Products}, ${timeOf(ReceivedAt)}`}</span>
              </span>
            </label>
          </li>
        ))}
        {subscriptions.length > 0 && (
          <li>
            <label>
              <input
                type="checkbox"
                checked={subscription}
                onChange={({ target }) => setSubscription(target.checked)}
              />
              <span>The subscription to the newsletter, which ends at once</span>
            </label>
          </li>
        )}
      </ul>
      <p className="buttons">
        <button type="button" className="primary" aria-disabled={ticked.length === 0} onClick={erase}>
          {ticked.length === 1 ? 'Erase 1 enquiry in a day' : `Erase ${ticked.length} enquiries in a day`}
        </button>
      </p>
    </>
  )
}
