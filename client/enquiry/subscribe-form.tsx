import { type FormEvent, useState } from 'react'
import type { Refused } from '../../shared/form-outcome.ts'
import { subscribe } from '../content/contact.ts'
import { holdState, postByBrowser } from './hold-state.ts'
import { inTime } from './in-time.ts'

interface Answer {
  done: boolean
  message: string
}

interface SubscribeFormProps {
  path: string
  /** The refusal of an address sent without scripts. */
  refused?: Refused | undefined
}

export function SubscribeForm({ path, refused }: SubscribeFormProps) {
  const [busy, setBusy] = useState(false)
  const [answer, setAnswer] = useState<Answer | undefined>(refused && { done: false, ...refused.problem })

  async function submit(event: FormEvent<HTMLFormElement>) {
    const form = event.currentTarget
    if (holdState(form) === 'byBrowser') return
    event.preventDefault()
    const box = form.elements.namedItem('email') as HTMLInputElement
    if (busy || (answer?.done && !box.value)) return // pressed twice
    setBusy(true)
    const data = new FormData(form)
    const code = await inTime(import('./trpc.ts')).catch(() => undefined)
    const result = await code?.subscribeAddress(data)
    setBusy(false)
    if (result) setAnswer(result)
    else if (navigator.onLine)
      return postByBrowser(form) // the code for it is gone, as after an update of the site
    else return setAnswer({ done: false, message: subscribe.offline })
    if (result.done && box.value === data.get('email')) box.value = ''
  }

  return (
    <form
      id="subscribe"
      className="subscribe"
      method="post"
      action={`${path}#subscribe`}
      noValidate
      aria-label={subscribe.title}
      data-offline={subscribe.offline}
      onSubmit={submit}
    >
      <h2>{subscribe.title}</h2>
      <div className="subscribe-row">
        <label htmlFor="subscribe-email">Email address</label>
        <input
          id="subscribe-email"
          name="email"
          type="email"
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          inputMode="email"
          enterKeyHint="send"
          defaultValue={refused?.values.email}
          required
          onInput={() => setAnswer(undefined)}
          aria-describedby="subscribe-answer"
          aria-invalid={answer && !answer.done ? true : undefined}
        />
        <button type="submit" className="button" aria-disabled={busy}>
          {busy ? 'Sending…' : 'Subscribe'}
        </button>
      </div>
      <p id="subscribe-answer" role="status" className="subscribe-answer" data-done={answer?.done}>
        {answer?.message}
      </p>
      <p className="small">{subscribe.consent}</p>
    </form>
  )
}
