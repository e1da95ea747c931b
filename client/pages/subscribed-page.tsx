import { SUBSCRIBED_PATH } from '../../shared/page-paths.ts'
import { subscribe } from '../content/contact.ts'
import type { Page } from './page.ts'

/** Follows a subscription that was sent without scripts. */
export const subscribedPage: Page = {
  path: SUBSCRIBED_PATH,
  title: 'Subscribed',
  ground: 'paper',
  unlisted: true,
  Body: SubscribedPage,
}

function SubscribedPage() {
  return (
    <section className="page-top lost-page wrap">
      <div className="lost-text">
        <h1>Subscribed</h1>
        <p className="lead">{subscribe.done}</p>
        <a href="/" className="button">
          Back to the home page
        </a>
      </div>
    </section>
  )
}
