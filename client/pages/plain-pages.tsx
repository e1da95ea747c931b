import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import { RECEIVED_PATH, type SubscriptionState } from '../../shared/form-outcome.ts'
import { NOT_FOUND_PATH, SUBSCRIBED_PATH, SUBSCRIPTION_PATH } from '../../shared/page-paths.ts'
import { subscribe } from '../content/contact.ts'
import { anotherEnquiry, buyNow, enquiryReceived, notLookedUp } from '../content/enquiry-form.ts'
import { policySections, privacyPolicy } from '../content/privacy-policy.ts'
import { OrderSection } from '../enquiry/order-form.tsx'
import { ConfirmationPanel } from '../enquiry/order-panel.tsx'
import { OrderReceived } from '../enquiry/order-received.tsx'
import { answerTo } from '../enquiry/order-state.ts'
import { Island } from '../ui/island.tsx'
import { backHome, MessagePage } from '../ui/message-page.tsx'
import { Picture } from '../ui/picture.tsx'
import { Linked } from '../ui/text.tsx'
import type { Page } from './page.ts'

export const buyNowPage: Page = {
  path: '/buy-now',
  title: buyNow.title,
  description: `Send an enquiry for ${products.join(' or ')}. You get a reference right away, and our team replies by phone or email.`,
  Body: ({ outcome: { order } }) => (
    <Island
      as="section"
      className="page-top order-page"
      name="order"
      of={OrderSection}
      props={{ path: '/buy-now', isPage: true, answer: order && answerTo(order) }}
    />
  ),
}

export const privacyPolicyPage: Page = {
  path: '/privacy-policy',
  title: privacyPolicy.title,
  description: privacyPolicy.description,
  Body: () => (
    <article className="page-top policy-page">
      <div className="wrap columns">
        <div className="page-title section-side">
          <h1>{privacyPolicy.title}</h1>
          <p className="lead">{privacyPolicy.lead}</p>
          <p className="small">{privacyPolicy.updated}</p>
        </div>
        <div className="policy-body">
          {policySections.map(({ id, title, paragraphs, bullets }) => (
            <section key={id} aria-labelledby={id} className="policy-section">
              <h2 id={id} className="minor">
                {title}
              </h2>
              {paragraphs.map((paragraph) => (
                <p key={paragraph}>
                  <Linked>{paragraph}</Linked>
                </p>
              ))}
              {bullets && (
                <ul>
                  {bullets.map((bullet) => (
                    <li key={bullet}>
                      <Linked>{bullet}</Linked>
                    </li>
                  ))}
                </ul>
              )}
            </section>
          ))}
        </div>
      </div>
    </article>
  ),
}

/** Follows an order sent without scripts. */
export const receivedPage: Page = {
  path: RECEIVED_PATH,
  title: enquiryReceived.title,
  description: 'Your enquiry has arrived. Here is its reference, and what happens next.',
  unlisted: true,
  Body: ({ outcome: { received = { reference: '' } } }) => (
    <section className="page-top order-page wrap">
      <ConfirmationPanel>
        {received.products ? (
          <>
            <p className="Toastify__toast Toastify__toast--success">{enquiryReceived.title}</p>
            <OrderReceived received={received} isPage>
              <a href="/buy-now" className="pill">
                {anotherEnquiry}
              </a>
            </OrderReceived>
          </>
        ) : (
          <div className="received">
            <h1 className="minor">{notLookedUp.heading}</h1>
            <p>{notLookedUp.lead}</p>
            <div className="slip">
              <p className="slip-title">Its reference</p>
              <p className="reference">{received.reference}</p>
            </div>
          </div>
        )}
      </ConfirmationPanel>
    </section>
  ),
}

/** Follows a subscription sent without scripts. */
export const subscribedPage: Page = {
  path: SUBSCRIBED_PATH,
  title: 'Almost subscribed',
  description: `News from ${brand.company} by email, now and then: what happens after you subscribe.`,
  unlisted: true,
  isSubscription: true,
  Body: () => (
    <MessagePage title="Almost subscribed">
      <p className="lead">{subscribe.done}</p>
      <p>Nothing there after some minutes? Look among spam.</p>
      {backHome}
    </MessagePage>
  ),
}

/** Where a subscriber's link leads. */
export const subscriptionPage: Page = {
  path: SUBSCRIPTION_PATH,
  title: 'Your subscription',
  description: `News from ${brand.company} by email: here you confirm your subscription, or end it.`,
  unlisted: true,
  isSubscription: true,
  Body: ({ outcome: { subscriptionState = 'unknown' } }) => {
    const { title, text, buttons } = subscriptionTexts[subscriptionState]
    return (
      <MessagePage title={title}>
        <p className="lead">{text}</p>
        {Object.entries(buttons ?? {}).map(([action, label]) => (
          <form key={action} method="post">
            <input type="hidden" name="do" value={action} />
            <button type="submit" className={action === 'confirm' ? 'button' : 'pill'}>
              {label}
            </button>
          </form>
        ))}
        {!buttons && backHome}
      </MessagePage>
    )
  },
}

/** For all other paths. */
export const notFoundPage: Page = {
  path: NOT_FOUND_PATH,
  title: 'Page not found',
  description: 'There is no page at this address. The home page links to every page.',
  unlisted: true,
  Body: () => (
    <MessagePage
      title="Page not found"
      picture={
        <Picture
          name="not-found"
          alt={`A bottle of ${products[0]} on its side, its cap off and a few capsules spilled`}
          sizes="(min-width: 56.25em) 680px, 92vw"
          first
        />
      }
    >
      <p className="lead">We could not find this page. It may have moved, or the address may be mistyped.</p>
      {backHome}
    </MessagePage>
  ),
}

interface SubscriptionText {
  title: string
  text: string
  /** Values of the field `do`, and the labels of their buttons. */
  buttons?: Record<string, string>
}

const subscriptionTexts: Record<SubscriptionState, SubscriptionText> = {
  unconfirmed: {
    title: 'Please confirm',
    text: 'Press the button, and you get news from us by email, now and then. If you did not subscribe, let us remove your address from the list.',
    buttons: { confirm: 'Confirm my subscription', end: 'Remove my address' },
  },
  confirmed: {
    title: 'You are on the list',
    text: 'You get news from us by email, now and then. Each email has a link to this page.',
    buttons: { end: 'End my subscription' },
  },
  ended: {
    title: 'You are not on the list',
    text: 'You get no more news from us, and we remove your address from the list within two days.',
  },
  unknown: {
    title: 'This link has ended',
    text: 'The subscription was ended, or not confirmed in time. To subscribe, enter your address at the foot of any other page.',
  },
  failed: {
    title: 'Please try again',
    text: 'We cannot say whether this has worked. Open the link in our email again in a minute: nothing counts twice.',
  },
}
