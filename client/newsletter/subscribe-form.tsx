import { createTRPCClient } from '@trpc/client'
import { type FormEvent, useEffect, useState } from 'react'
import type { NewsletterRouter } from '../../server/newsletter/procedure.ts'
import type { Refused } from '../../shared/form-outcome.ts'
import { readEmail } from '../../shared/typed-text.ts'
import { subscribe } from '../content/contact.ts'
import { answeredStatus, links } from '../trpc.ts'

const trpc = createTRPCClient<NewsletterRouter>({ links })

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

  // Above the keyboard of a phone.
  useEffect(() => {
    if (answer) document.getElementById('subscribe-answer')?.scrollIntoView({ block: 'nearest' })
  }, [answer])

  async function submit(event: FormEvent<HTMLFormElement>) {
    const form = event.currentTarget
    if (form.hasAttribute('data-posted')) return // the browser has begun to send it
    event.preventDefault()
    const box = form.elements.namedItem('email') as HTMLInputElement
    if (busy || (answer?.done && !box.value)) return // pressed twice
    setBusy(true)
    const typed = box.value
    const result = await send(readEmail(new FormData(form)))
    setBusy(false)
    setAnswer(result)
    if (result.done && box.value === typed) box.value = ''
  }

  return (
    <form
      id="subscribe"
      className="subscribe"
      method="post"
      action={`${path}?subscribe#subscribe`}
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
        <p id="subscribe-answer" role="status" className="subscribe-answer" data-done={answer?.done}>
          {answer?.message}
        </p>
        <button type="submit" className="button" aria-disabled={busy}>
          {busy ? 'Sending…' : 'Subscribe'}
        </button>
      </div>
      <p className="small">{subscribe.consent}</p>
    </form>
  )
}

/** The server checks the address: a check here would load the rules with the box. Returns the message to show. */
async function send(email: string): Promise<Answer> {
  try {
    await trpc.subscription.subscribe.mutate({ email })
    return { done: true, message: subscribe.done }
  } catch (error) {
    if (!navigator.onLine) return { done: false, message: subscribe.offline }
    const status = answeredStatus(error)
    return { done: false, message: (status && status < 500 && (error as Error).message) || subscribe.failed }
  }
}
