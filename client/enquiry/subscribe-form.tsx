import { type FormEvent, useRef, useState } from 'react'
import { subscribe } from '../content/contact.ts'

export function SubscribeForm() {
  const busy = useRef(false)
  const [answer, setAnswer] = useState<{ done: boolean; message: string }>()

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (busy.current) return
    busy.current = true
    const form = event.currentTarget
    const result = await sendAddress(new FormData(form))
    busy.current = false
    setAnswer(result)
    if (result.done) form.reset()
  }

  return (
    <form className="subscribe" method="post" noValidate aria-label={subscribe.title} onSubmit={submit}>
      <h2>{subscribe.title}</h2>
      <div className="subscribe-row">
        <label htmlFor="subscribe-email">Email address</label>
        <input
          id="subscribe-email"
          name="email"
          type="email"
          autoComplete="email"
          required
          aria-describedby="subscribe-answer"
          aria-invalid={answer && !answer.done ? true : undefined}
        />
        <button type="submit" className="button">
          Subscribe
        </button>
      </div>
      <p id="subscribe-answer" role="status" className="subscribe-answer">
        {answer?.message}
      </p>
      <p className="small">{subscribe.consent}</p>
    </form>
  )
}

async function sendAddress(data: FormData) {
  try {
    const { subscribeAddress } = await import('./subscribe-address.ts')
    return await subscribeAddress(String(data.get('email') ?? '').trim())
  } catch {
    return { done: false, message: subscribe.failed } // the code for it did not arrive
  }
}
