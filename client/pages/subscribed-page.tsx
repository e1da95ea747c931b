import { useContext } from 'react'
import type { SubscriberLink } from '../../shared/form-outcome.ts'
import { SUBSCRIBED_PATH, SUBSCRIPTION_PATH } from '../../shared/page-paths.ts'
import { subscribe } from '../content/contact.ts'
import { FormAnswerContext } from '../enquiry/form-answer.ts'
import type { Page } from './page.ts'

/** Follows a subscription that was sent without scripts. */
export const subscribedPage: Page = {
  path: SUBSCRIBED_PATH,
  title: 'Almost subscribed',
  ground: 'paper',
  unlisted: true,
  Body: SubscribedPage,
}

/** Where a subscriber's link leads. */
export const subscriptionPage: Page = {
  ...subscribedPage,
  path: SUBSCRIPTION_PATH,
  title: 'Your subscription',
  Body: SubscriptionPage,
}

function SubscribedPage() {
  return (
    <section className="page-top lost-page wrap">
      <div className="lost-text">
        <h1>Almost subscribed</h1>
        <p className="lead">{subscribe.done}</p>
        <p>Nothing there after some minutes? Look among spam. Who is on the list already gets no second one.</p>
        <a href="/" className="button">
          Back to the home page
        </a>
      </div>
    </section>
  )
}

interface Told {
  title: string
  text: string
  /** What its buttons ask for, and what they say. */
  asks?: Record<string, string>
}

const told: Record<SubscriberLink, Told> = {
  unconfirmed: {
    title: 'Please confirm',
    text: 'Press the button, and you get news from us by email, now and then. If you did not subscribe, let us forget your address.',
    asks: { confirm: 'Confirm my subscription', end: 'Forget my address' },
  },
  confirmed: {
    title: 'You are on the list',
    text: 'You get news from us by email, now and then. Each email has a link to this page.',
    asks: { end: 'End my subscription' },
  },
  ended: {
    title: 'You are not on the list',
    text: 'You get no more news from us, and we forget your address within two days.',
  },
  unknown: {
    title: 'This link has ended',
    text: 'The subscription was ended, or not confirmed within 30 days. To subscribe, enter your address below.',
  },
  failed: { title: 'Please try again', text: 'We could not reach our list just now. Nothing has changed.' },
}

function SubscriptionPage() {
  const { title, text, asks = {} } = told[useContext(FormAnswerContext).link ?? 'unknown']
  return (
    <section className="page-top lost-page wrap">
      <div className="lost-text">
        <h1>{title}</h1>
        <p className="lead">{text}</p>
        {Object.entries(asks).map(([ask, label]) => (
          <form key={ask} method="post" data-native="">
            <input type="hidden" name="do" value={ask} />
            <button type="submit" className={ask === 'confirm' ? 'button' : 'pill'}>
              {label}
            </button>
          </form>
        ))}
      </div>
    </section>
  )
}
