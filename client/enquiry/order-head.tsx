import { Fragment, useSyncExternalStore } from 'react'
import { brand } from '../../shared/brand.ts'
import { receivedUrl } from '../../shared/form-outcome.ts'
import { telephone } from '../content/contact.ts'
import { buyNow, chosen, notAPurchase, ratherCall, sentBefore } from '../content/enquiry-form.ts'
import { sentReferences } from './order-key.ts'

interface OrderHeadProps {
  /** The form has a page of its own. */
  isPage: boolean
  isHidden: boolean
  /** What a link, or we, have chosen in the form. */
  choice: string
}

const noSubscription = () => () => {}

/** Title, telephone, and what this tab has sent. */
export function OrderHead({ isPage, isHidden, choice }: OrderHeadProps) {
  const references = useSyncExternalStore(
    noSubscription,
    () => sentReferences().join(' '),
    () => '',
  )
  return (
    <div className={isPage ? 'page-title' : 'section-head'} hidden={isHidden}>
      {isPage ? <h1>{buyNow.title}</h1> : <h2 id="buy-now-title">{buyNow.title}</h2>}
      <p className="lead">
        {buyNow.lead} {notAPurchase}
      </p>
      <p>
        {ratherCall} <a href={telephone}>{brand.phone}</a>
      </p>
      {/* prefill.ts writes into them before React comes. */}
      <p className="chosen" data-chosen={chosen} role="status" suppressHydrationWarning>
        {choice && choice + chosen}
      </p>
      <p className="label" data-sent={sentBefore} suppressHydrationWarning>
        {references && !isHidden && (
          <span>
            {sentBefore}
            {references.split(' ').map(linkTo)}
          </span>
        )}
      </p>
    </div>
  )
}

function linkTo(reference: string, index: number) {
  return (
    <Fragment key={reference}>
      {index > 0 && ', '}
      <a href={receivedUrl(reference)}>{reference}</a>
    </Fragment>
  )
}
