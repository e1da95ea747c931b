import { type MouseEvent, useEffect } from 'react'
import { toast } from 'react-toastify/unstyled'
import { brand } from '../../shared/brand.ts'
import { DESK_PATH } from '../../shared/desk.ts'
import { callLink, mailLink, mobileInGroups, whatsAppLink } from '../../shared/visitor-contact.ts'
import { AddCall, Notes, SendAgain, SetSpam, SetStatus } from './actions.tsx'
import { StatusLine } from './enquiry-row.tsx'
import { ageOf, timeOf } from './format.ts'
import { type Enquiry, messageOf, useEnquiry } from './queries.ts'

/** Whoever came from the list goes back to it: its entry of the tab's history knows what was searched for. */
function goBackToList(event: MouseEvent) {
  const isFromList = document.referrer === `${location.origin}${DESK_PATH}`
  if (!isFromList || event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  history.back()
}

export function EnquiryPage({ reference }: { reference: string }) {
  const { data, error } = useEnquiry(reference)
  useEffect(() => {
    document.title = `${reference} | ${brand.name}`
  }, [reference])
  return (
    <>
      <p className="back">
        <a href={DESK_PATH} onClick={goBackToList}>
          All enquiries
        </a>
      </p>
      {data ? (
        <Whole enquiry={data} />
      ) : (
        <p role="status" className="empty">
          {error ? messageOf(error) : 'Loading …'}
        </p>
      )}
    </>
  )
}

function Whole({ enquiry }: { enquiry: Enquiry }) {
  const { reference, name, email, mobile, quantity, products, retailerSelfUse, receivedAt, status } = enquiry
  return (
    <article className="whole" aria-labelledby="name">
      <div className="whole-head" data-status={status}>
        <h1 id="name">
          <bdi>{name}</bdi>
        </h1>
        <StatusLine row={enquiry} />
      </div>

      <section className="contact" aria-label="Contact">
        <p className="mobile">{mobileInGroups(mobile)}</p>
        <p className="buttons">
          <a className="primary" href={callLink(mobile)}>
            Call
          </a>
          <a href={whatsAppLink(mobile)} target="_blank" rel="noreferrer">
            WhatsApp
          </a>
          <a href={mailLink(email, `${brand.name} enquiry ${reference}`)}>Write</a>
          <button type="button" onClick={() => copy(mobile)}>
            Copy number
          </button>
        </p>
        <p className="buttons done">
          <SetStatus row={enquiry} status="Contacted" />
          <SetStatus row={enquiry} status="Closed" />
          <AddCall reference={reference} />
          <SetSpam row={enquiry} />
          {status !== 'New' && <SetStatus row={enquiry} status="New" />}
        </p>
      </section>

      <dl className="fields">
        <Field label="Product">{products}</Field>
        <Field label="Quantity">{quantity.toLocaleString('en-IN')}</Field>
        <Field label="Buying for">{retailerSelfUse}</Field>
        <Field label="Email">
          <bdi>{email}</bdi>
        </Field>
        <Field label="Received">
          {timeOf(receivedAt)}, {ageOf(receivedAt)}
        </Field>
        <Field label="Reference">{reference}</Field>
      </dl>

      <Notes row={enquiry} />

      {enquiry.earlier.length > 0 && (
        <section aria-labelledby="earlier">
          <h2 id="earlier">Earlier from this number or address</h2>
          <ul className="lines">
            {enquiry.earlier.map((each) => (
              <li key={each.reference}>
                <a href={`${DESK_PATH}/${each.reference}`}>{each.reference}</a>{' '}
                <span>
                  {timeOf(each.receivedAt)}: {each.quantity.toLocaleString('en-IN')} × {each.products}, {each.status}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}

      <section aria-labelledby="mails">
        <h2 id="mails">Mails</h2>
        {enquiry.mails.length === 0 && <p className="small">None.</p>}
        <ul className="lines">
          {enquiry.mails.map((mail) => (
            <li key={mail.id}>
              <span>
                {mail.means.charAt(0).toUpperCase() + mail.means.slice(1)}, {timeOf(mail.at)}
              </span>
              {mail.maySendAgain && <SendAgain reference={reference} mail={mail} />}
            </li>
          ))}
        </ul>
      </section>

      <section aria-labelledby="history">
        <h2 id="history">History</h2>
        <ul className="lines">
          {enquiry.history.map(({ at, who, what }) => (
            <li key={`${at} ${what}`}>
              <span className="small">
                {timeOf(at)}, {who}
              </span>{' '}
              <bdi>{what}</bdi>
            </li>
          ))}
          <li>
            <span className="small">{timeOf(receivedAt)}</span> <span>received</span>
          </li>
        </ul>
      </section>
    </article>
  )
}

function Field({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** The clipboard is missing on a page without TLS. */
async function copy(mobile: string) {
  try {
    await navigator.clipboard.writeText(mobile)
    toast.success('The number is copied')
  } catch {
    toast.error(`Copying does not work here: ${mobile}`)
  }
}
