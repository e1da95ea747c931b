import { useState } from 'react'
import { DESK_PATH } from '../../shared/desk.ts'
import { callLink, mobileInGroups, whatsAppLink } from '../../shared/visitor-contact.ts'
import { SetSpam, SetStatus } from './actions.tsx'
import { ageOf, timeOf } from './format.ts'
import type { Row } from './queries.ts'

/** An enquiry in the list. */
export function EnquiryRow({ row }: { row: Row }) {
  const { reference, name, mobile, quantity, products, retailerSelfUse, receivedAt, note } = row
  const [first] = useState(row) // its button stays after the click, so that nothing moves and the focus stays
  return (
    <li className="enquiry" data-status={row.status}>
      <div className="enquiry-text">
        <div className="enquiry-name">
          <h2>
            <a href={`${DESK_PATH}/${reference}`}>
              <bdi>{name}</bdi>
            </a>
          </h2>
          <span className="small">
            {ageOf(receivedAt)}, {timeOf(receivedAt)}
          </span>
        </div>
        <div className="enquiry-facts">
          <p>
            {quantity.toLocaleString('en-IN')} × {products}, {retailerSelfUse}
          </p>
          <StatusLine row={row} />
        </div>
        {note && (
          <p className="small note-line">
            <bdi>{note.split('\n').at(-1)}</bdi>
          </p>
        )}
      </div>
      <p className="enquiry-actions">
        <a className="primary" href={callLink(mobile)} aria-label={`Call ${name}, ${mobileInGroups(mobile)}`}>
          Call
        </a>
        <a href={whatsAppLink(mobile)} target="_blank" rel="noreferrer" aria-label={`WhatsApp ${name}`}>
          WhatsApp
        </a>
        {first.suspectedSpam ? (
          <SetSpam row={row} isInList />
        ) : (
          first.status === 'New' && <SetStatus row={row} status="Contacted" isInList />
        )}
      </p>
    </li>
  )
}

/** `Contacted, ravi@shop.example, 10:40`, and what else is worth a look. */
export function StatusLine({ row }: { row: Row }) {
  const { status, statusBy, statusAt, suspectedSpam, flags } = row
  return (
    <p className="status-line">
      <strong className="status">{status}</strong>
      {statusBy && statusAt && (
        <span className="small">
          {statusBy}, {timeOf(statusAt)}
        </span>
      )}
      {suspectedSpam && <span className="flag">suspected spam</span>}
      {flags.map((flag) => (
        <span key={flag} className="flag">
          {flag}
        </span>
      ))}
    </p>
  )
}
