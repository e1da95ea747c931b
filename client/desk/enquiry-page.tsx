import { type ReactNode, useEffect, useState } from 'react'
import { closingReasons, DESK_PATH } from '../../shared/desk.ts'
import { orderFields, pickOrderFields } from '../../shared/order.ts'
import { answeredStatus } from '../trpc.ts'
import { Act, RingAgain } from './buttons.tsx'
import { type Seen, seenWith, submitCorrection, useChanges } from './changes.tsx'
import { Contact } from './contact.tsx'
import { DialogButton } from './dialog-button.tsx'
import { mayRing, Reached, StatusLine } from './enquiry-row.tsx'
import { FieldsForm } from './fields-form.tsx'
import { ageOf, count, timeOf, todayHere } from './format.ts'
import { dropDraft } from './kept.ts'
import { Notes } from './notes.tsx'
import { Person } from './person.tsx'
import { type Enquiry, type Fields, isGone, listedRows, messageOf, type Row, useEnquiry } from './queries.ts'
import { useAsked } from './ringing.ts'
import { belongsTo } from './tabs.ts'
import { useNow } from './use-now.ts'

interface EnquiryPageProps {
  reference: string
  /** Undefined until the server has told it. */
  you: string | undefined
}

/** What the list knows is shown before the rest has come. */
export function EnquiryPage({ reference, you }: EnquiryPageProps) {
  const { data: whole, error } = useEnquiry(reference)
  const tried = useChanges()
  const listed = listedRows()
  const known = listed.find((each): each is Row => each.reference === reference && !isGone(each))
  const isErased = error && answeredStatus(error) === 404
  const stored = isErased ? undefined : (whole ?? known)
  useEffect(() => {
    if (isErased) dropDraft(reference)
  }, [isErased, reference])
  return (
    <>
      <nav className="back" aria-label="Back and on">
        <a href={DESK_PATH}>All enquiries</a>
        <NextLink reference={reference} rows={listed.filter((each): each is Row => !isGone(each))} />
      </nav>
      {error && stored && <p className="notice">{messageOf(error)}</p>}
      {stored ? (
        <Whole seen={seenWith(stored, tried)} whole={whole} you={you} />
      ) : (
        <h1 tabIndex={-1} className="empty">
          {error ? messageOf(error) : 'Loading …'}
        </h1>
      )}
    </>
  )
}

/** Leads to the next of the list that is New. */
function NextLink({ reference, rows }: { reference: string; rows: Row[] }) {
  const tried = useChanges()
  const today = todayHere()
  const here = rows.findIndex((each) => each.reference === reference)
  const next = [...rows.slice(here + 1), ...rows.slice(0, Math.max(here, 0))].find((each) =>
    belongsTo('new', seenWith(each, tried).row, today),
  )
  if (!next) return null
  return (
    <a href={`${DESK_PATH}/${next.reference}`} data-next>
      Next
    </a>
  )
}

interface WholeProps extends Pick<EnquiryPageProps, 'you'> {
  seen: Seen
  whole: Enquiry | undefined
}

function Whole({ seen, whole, you }: WholeProps) {
  const { row } = seen
  const { reference, name, email, quantity, products, retailerSelfUse, receivedAt, status } = row
  const now = useNow()
  const age = ageOf(receivedAt, now)
  return (
    <article className="whole" aria-labelledby="name" data-row={reference}>
      <div className="whole-head" data-status={status}>
        <h1 id="name" tabIndex={-1}>
          <bdi>{name}</bdi>
        </h1>
        <StatusLine seen={seen} />
      </div>
      <div className="whole-part">
        <Contact seen={seen} replies={whole?.replies} />
        <Outcome seen={seen} />
        <dl className="fields">
          <Field label={orderFields.products.label}>{`${count(quantity)} × ${products}`}</Field>
          <Field label={orderFields.retailerSelfUse.label}>{retailerSelfUse}</Field>
          <Field label={orderFields.email.label}>
            <bdi>{email || 'none'}</bdi>
          </Field>
          <Field label="Received">{age ? `${timeOf(receivedAt, now)}, ${age} ago` : timeOf(receivedAt, now)}</Field>
          <Field label="Reference">{reference}</Field>
        </dl>
        <Correct seen={seen} />
      </div>
      <div className="whole-part">
        <Notes seen={seen} notes={whole?.notes} you={you} />
        {whole ? <Further seen={seen} whole={whole} /> : <p role="status">Loading the rest …</p>}
      </div>
    </article>
  )
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** What came of it. */
function Outcome({ seen }: { seen: Seen }) {
  const { reference, status, suspectedSpam, last, eraseAt } = seen.row
  const isAsked = useAsked() === reference
  return (
    <section className="outcome" aria-label="What came of it">
      {eraseAt && (
        <p className="buttons notice">
          <span>{`It will be erased: ${timeOf(eraseAt)}.`}</span>
          <Act name="keep" seen={seen} options={{}} label="Take back" />
        </p>
      )}
      {isAsked && <Reached seen={seen} />}
      <p className="buttons">
        {mayRing(seen.row) && !isAsked && (
          <>
            <Act name="setStatus" seen={seen} options={{ status: 'Contacted' }} className="main-action" />
            <Act name="addCall" seen={seen} options={{}} />
          </>
        )}
        {status !== 'New' && <Act name="setStatus" seen={seen} options={{ status: 'New' }} />}
        <Act name="setSpam" seen={seen} options={{ spam: !suspectedSpam }} className="quiet" />
        {last && !eraseAt && <Act className="quiet" name="takeBack" seen={seen} options={{ of: last.key }} />}
      </p>
      {last && <p className="small">{`${last.who}, ${timeOf(last.at)}: ${last.what}`}</p>}
      <div className="labelled">
        <span className="small">{status === 'Closed' ? 'Closed as' : 'Close as'}</span>
        <p className="buttons">
          {closingReasons.map((closedAs) => (
            <Act key={closedAs} name="setStatus" seen={seen} options={{ status: 'Closed', closedAs }} />
          ))}
          <Act name="setStatus" seen={seen} options={{ status: 'Closed' }} label="No reason" />
        </p>
      </div>
      {status !== 'Closed' && <RingAgain seen={seen} />}
    </section>
  )
}

/** What is typed stays, whatever others change meanwhile; opened again, the form has what they have changed. */
function Correct({ seen }: { seen: Seen }) {
  const now = pickOrderFields(seen.row) as Fields
  const [began, setBegan] = useState(now)
  const isStoring = seen.doing.includes('correct')
  function begin() {
    if (!isStoring) setBegan(now) // which would be what is being stored, and may be refused
  }
  return (
    <div className="buttons">
      <DialogButton label="Correct" title={`Correct ${seen.row.reference}`} onOpen={begin}>
        {(close) => (
          <FieldsForm
            key={JSON.stringify(began)}
            values={began}
            mayLackEmail={began.email === ''}
            isStoring={isStoring}
            submitLabel="Store"
            onSubmit={(typed) => submitCorrection(seen.row, began, typed).then(close, () => {})}
          />
        )}
      </DialogButton>
    </div>
  )
}

/** What the list does not know. */
function Further({ seen, whole: { mails, history, earlier, receivedAt } }: { seen: Seen; whole: Enquiry }) {
  return (
    <>
      {earlier.length > 0 && (
        <section aria-labelledby="earlier">
          <h2 id="earlier">Other enquiries of this number or address</h2>
          <ul className="lines">
            {earlier.map((each) => (
              <li key={each.reference}>
                <a href={`${DESK_PATH}/${each.reference}`}>{each.reference}</a>
                <bdi>{each.name}</bdi>
                <span>{`${timeOf(each.receivedAt)}: ${count(each.quantity)} × ${each.products}, ${each.status}`}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section aria-labelledby="mails">
        <h2 id="mails">Mails</h2>
        {mails.length === 0 && <p className="small">None.</p>}
        <ul className="lines">
          {mails.map(({ id, means, at, maySendAgain, whyNot }) => (
            <li key={id}>
              <span>{`${means.charAt(0).toUpperCase()}${means.slice(1)}, ${timeOf(at)}`}</span>
              {whyNot && <span className="small">{whyNot}</span>}
              {maySendAgain && <Act name="sendAgain" seen={seen} options={{ mail: id }} isInList />}
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="history">
        <h2 id="history">History</h2>
        <ul className="lines">
          {history.map(({ at, who, what }) => (
            <li key={`${at} ${what}`}>
              <span className="small">{`${timeOf(at)}, ${who}`}</span>
              <bdi>{what}</bdi>
            </li>
          ))}
          <li>
            <span className="small">{timeOf(receivedAt)}</span>
            <span>received</span>
          </li>
        </ul>
      </section>
      <Person seen={seen} />
    </>
  )
}
