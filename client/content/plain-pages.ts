import { brand } from '../../shared/brand.ts'
import { products } from '../../shared/catalogue.ts'
import type { SubscriptionState } from '../../shared/form-outcome.ts'

/* The pages beside home and products; those of the form are in enquiry-form.ts, the policy in privacy-policy.ts. */

export const almostSubscribed = {
  title: 'Almost subscribed',
  description: `News from ${brand.company} by email, now and then: what happens after you subscribe.`,
  hint: 'Nothing there after some minutes? Look among spam.',
}

export const notFound = {
  title: 'Page not found',
  description: 'There is no page at this address. The home page links to every page.',
  lead: 'We could not find this page. It may have moved, or the address may be mistyped.',
  pictureAlt: `A bottle of ${products[0]} on its side, its cap off and a few capsules spilled`,
}

/** Where a subscriber's link leads. */
export const subscription = {
  title: 'Your subscription',
  description: `News from ${brand.company} by email: here you confirm your subscription, or end it.`,
}

interface SubscriptionText {
  title: string
  text: string
  /** Values of the field `do`, and the labels of their buttons. */
  buttons?: Record<string, string>
}

export const subscriptionTexts: Record<SubscriptionState, SubscriptionText> = {
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
