import type { ComponentType } from 'react'
import type { FormOutcome } from '../../shared/form-outcome.ts'
import type { Ground, ProductContent } from '../content/product.ts'
import type { OrderAnswer } from '../enquiry/order-form.tsx'

export interface Page {
  path: string
  title: string
  /** The ground of the first screen, on which the header floats, if it is not paper. */
  ground?: Ground
  content?: ProductContent
  /** Nobody looks for it: not for search engines. */
  unlisted?: true
  /** It is about a subscription: the footer has no box for one. */
  isSubscription?: true
  Body: ComponentType<{ answer: FormAnswer }>
}

/** What the page says of a form that was sent without scripts. */
export interface FormAnswer extends Omit<FormOutcome, 'order'> {
  order?: OrderAnswer | undefined
}
