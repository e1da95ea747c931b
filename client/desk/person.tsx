import { useState } from 'react'
import { toast } from 'react-toastify/unstyled'
import { act, type Seen } from './changes.tsx'
import { DialogButton } from './dialog-button.tsx'
import { timeOf } from './format.ts'
import { type Inputs, messageOf, trpc } from './queries.ts'

/* One person's data: what we hold, and erasing it. */

type Held = Awaited<ReturnType<typeof trpc.desk.person.query>>
/** The columns of the table that are shown. */
interface HeldEnquiry {
  Reference: string
  Name: string
  Mobile: string
  Products: string
  ReceivedAt: string
}

const ask = (input: Inputs['person']) => trpc.desk.person.query(input)
const tell = (error: Error) => {
  toast.error(messageOf(error), { role: 'alert', autoClose: false })
}

/** The file of `staff export --person`. */
async function download(reference: string) {
  const held = await ask({ reference })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([JSON.stringify(held, null, 2)], { type: 'application/json' }))
  link.download = `${reference}-what-we-hold.json`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

export function Person({ seen }: { seen: Seen }) {
  const { reference } = seen.row
  const [held, setHeld] = useState<Held>()
  function read() {
    setHeld(undefined)
    ask({ reference }).then(setHeld, tell)
  }
  return (
    <section aria-labelledby="person">
      <h2 id="person">This person’s data</h2>
      <div className="buttons">
        <button type="button" onClick={() => download(reference).catch(tell)}>
          What we hold
        </button>
        <DialogButton label="Erase" title={`Erase ${reference}`} onOpen={read}>
          {(close) => (held ? <Erase seen={seen} held={held} close={close} /> : <p role="status">Loading …</p>)}
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
function Erase({ seen, held, close }: EraseProps) {
  const { reference } = seen.row
  const enquiries = held.enquiries as unknown as HeldEnquiry[]
  const isSubscribed = held.subscriptions.length > 0
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
        {isSubscribed && (
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
