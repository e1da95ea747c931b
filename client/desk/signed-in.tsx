import { type FormEvent, useRef, useState } from 'react'
import { DESK_PATH } from '../../shared/desk.ts'
import { ActionButton } from './buttons.tsx'
import type { Pulse } from './queries.ts'
import { clearOnSignOut, isAnythingKept } from './session.ts'

/** Who is signed in, and the way out. Asks first where something is not stored. */
export function SignedIn({ pulse }: { pulse: Pulse | undefined }) {
  const form = useRef<HTMLFormElement>(null)
  const [asks, setAsks] = useState(false)
  const [everywhere, setEverywhere] = useState(false)
  const browsers = pulse?.browsers ?? 1
  function leave() {
    clearOnSignOut()
    form.current?.submit()
  }
  async function ask(event: FormEvent<HTMLFormElement>) {
    const { name } = ((event.nativeEvent as SubmitEvent).submitter ?? {}) as HTMLButtonElement
    if (name === 'others') return // this session stays
    event.preventDefault()
    setEverywhere(name === 'everywhere')
    if (await isAnythingKept()) setAsks(true)
    else leave()
  }
  return (
    <form ref={form} method="post" action={`${DESK_PATH}/sign-out`} onSubmit={ask} className="signed-in">
      {everywhere && <input type="hidden" name="everywhere" value="yes" />}
      <details>
        <summary>
          <bdi>{pulse?.you ?? 'Signed in'}</bdi>
        </summary>
        <p className="buttons">
          <span>
            {browsers === 1
              ? 'You are signed in with this browser only.'
              : `You are signed in with ${browsers} browsers.`}
          </span>
          {browsers > 1 && (
            <button type="submit" name="others" value="yes">
              Sign out in the others
            </button>
          )}
          <button type="submit" name="everywhere" value="yes">
            Sign out on all devices
          </button>
        </p>
      </details>
      <button type="submit">Sign out</button>
      {asks && (
        <p className="buttons notice" role="alert">
          <span>A note or a change is not stored yet. Signing out deletes it.</span>
          <ActionButton onClick={leave}>Sign out all the same</ActionButton>
          <ActionButton onClick={() => setAsks(false)}>Stay</ActionButton>
        </p>
      )}
    </form>
  )
}
