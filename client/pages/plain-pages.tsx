import { RECEIVED_PATH, YOUR_ENQUIRY_PATH } from '../../shared/form-outcome.ts'
import { NOT_FOUND_PATH, SUBSCRIBED_PATH, SUBSCRIPTION_PATH } from '../../shared/page-paths.ts'
import { subscribe } from '../content/contact.ts'
import { anotherEnquiry, buyNow, enquiryReceived, notLookedUp } from '../content/enquiry-form.ts'
import { almostSubscribed, notFound, subscription, subscriptionTexts } from '../content/plain-pages.ts'
import { policySections, privacyPolicy } from '../content/privacy-policy.ts'
import { yourEnquiry, yourEnquiryMessages } from '../content/your-enquiry.ts'
import { OrderSection } from '../enquiry/order-form.tsx'
import { ConfirmationPanel } from '../enquiry/order-panel.tsx'
import { OrderReceived } from '../enquiry/order-received.tsx'
import { answerTo } from '../enquiry/order-state.ts'
import { ActForm, YourEnquiryBody } from '../enquiry/your-enquiry.tsx'
import { Island } from '../ui/island.tsx'
import { backHome, MessagePage } from '../ui/message-page.tsx'
import { Picture } from '../ui/picture.tsx'
import { Linked } from '../ui/text.tsx'
import type { Page } from './page.ts'

export const buyNowPage: Page = {
  path: '/buy-now',
  title: buyNow.title,
  description: buyNow.description,
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
  description: enquiryReceived.description,
  unlisted: true,
  Body: ({ outcome: { received = { reference: '' } } }) => (
    <section className="page-top order-page wrap">
      <ConfirmationPanel>
        {received.products ? (
          <>
            <p className="Toastify__toast Toastify__toast--success">{enquiryReceived.title}</p>
            <OrderReceived receipt={received} isPage>
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
              <p className="slip-title">{notLookedUp.reference}</p>
              <p className="reference">{received.reference}</p>
            </div>
          </div>
        )}
      </ConfirmationPanel>
    </section>
  ),
}

/** The visitor's own. */
export const yourEnquiryPage: Page = {
  path: YOUR_ENQUIRY_PATH,
  title: yourEnquiry.title,
  description: yourEnquiry.description,
  unlisted: true,
  hasNoScripts: true,
  hasBareFooter: true,
  Body({ outcome: { yourEnquiry: shown = 'gone' } }) {
    if (typeof shown === 'object' && 'reference' in shown)
      return (
        <section className="page-top order-page wrap">
          <div className="order-panel on-sand">
            <YourEnquiryBody shown={shown} />
          </div>
        </section>
      )
    const { message, again } = typeof shown === 'object' ? shown : {}
    const failed = again ? 'uncertain' : 'notLookedUp'
    const { title, text } = yourEnquiryMessages[typeof shown === 'string' ? shown : failed]
    return (
      <MessagePage title={title}>
        <p className="lead">
          <Linked>{message ?? text}</Linked>
        </p>
        {again ? (
          <div className="acts">
            <ActForm {...again} isOpen />
          </div>
        ) : (
          backHome
        )}
      </MessagePage>
    )
  },
}

/** Follows a subscription sent without scripts. */
export const subscribedPage: Page = {
  path: SUBSCRIBED_PATH,
  title: almostSubscribed.title,
  description: almostSubscribed.description,
  unlisted: true,
  hasBareFooter: true,
  Body: () => (
    <MessagePage title={almostSubscribed.title}>
      <p className="lead">{subscribe.done}</p>
      <p>{almostSubscribed.hint}</p>
      {backHome}
    </MessagePage>
  ),
}

/** Where a subscriber's link leads. */
export const subscriptionPage: Page = {
  path: SUBSCRIPTION_PATH,
  title: subscription.title,
  description: subscription.description,
  unlisted: true,
  hasBareFooter: true,
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
  title: notFound.title,
  description: notFound.description,
  unlisted: true,
  Body: () => (
    <MessagePage
      title={notFound.title}
      picture={<Picture name="not-found" alt={notFound.pictureAlt} sizes="(min-width: 56.25em) 680px, 92vw" first />}
    >
      <p className="lead">{notFound.lead}</p>
      {backHome}
    </MessagePage>
  ),
}
