import type { KeyboardEvent } from 'react'
import { DESK_PATH, type DeskState } from '../../shared/desk.ts'
import { callLink, mobileInGroups, whatsAppLink } from '../../shared/visitor-contact.ts'
import { actions } from './actions.ts'
import { Act, ActionButton, RingAgain } from './buttons.tsx'
import { act, type Seen } from './changes.tsx'
import { focusRow, focusRowBeside } from './focus.ts'
import { ageOf, count, dayName, isDue, isOlderThanDays, timeOf, todayHere } from './format.ts'
import { type Row, shortName, you } from './queries.ts'
import { endCall, startCall, startContact } from './ringing.ts'
import { belongsTo } from './tabs.ts'

/** Who has waited longer is seen at a glance. */
const LATE_DAYS = 2

const CONTACTED = { status: 'Contacted' } as const

const progressWords = {
  storing: 'storing …',
  waiting: 'not stored yet: the server is out of reach',
  refused: 'not changed',
}

interface RowProps {
  seen: Seen
  state: DeskState
  today: string
  now: number
  isAsked: boolean
}

/** An enquiry in the list. */
export function EnquiryRow({ seen, state, today, now, isAsked }: RowProps) {
  const { row, progress, doing } = seen
  const { reference, name, mobile, quantity, products, retailerSelfUse, receivedAt, note, status } = row
  const isHere = belongsTo(state, row, today)
  const isLate = status === 'New' && !row.suspectedSpam && isOlderThanDays(receivedAt, LATE_DAYS, now)
  const age = ageOf(receivedAt, now) || 'just now'

  /** Keys have an effect only here (WCAG 2.1.4). */
  function press(event: KeyboardEvent) {
    const { key, currentTarget, target } = event
    if (target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return
    const isArrow = key === 'ArrowDown' || key === 'ArrowUp'
    if (isArrow && focusRowBeside(currentTarget, key === 'ArrowDown' ? 1 : -1)) event.preventDefault() // no scrolling
    if (event.repeat || doing.includes('takeBack')) return
    if (key === 'c' && mayRing(row) && actions.setStatus.when?.(row, CONTACTED)) act('setStatus', row, CONTACTED)
    if (key === 'n' && mayRing(row) && !doing.includes('addCall')) act('addCall', row, {})
    if (key === 'u' && row.last) act('takeBack', row, { of: row.last.key })
  }

  return (
    <li
      className="enquiry"
      data-row={reference}
      data-status={status}
      data-late={isLate || undefined}
      data-done={(!isHere && !progress) || undefined}
      onKeyDown={press}
    >
      <p className="age">
        <span>{isLate ? `waits ${age}` : age}</span>
      </p>
      <h2 className="name">
        <a href={`${DESK_PATH}/${reference}`}>
          <bdi>{name}</bdi>
        </a>
      </h2>
      <div className="facts">
        <p className="number">{mobileInGroups(mobile)}</p>
        <p className="what">{`${count(quantity)} × ${products}`}</p>
        <p className="type">{retailerSelfUse}</p>
      </div>
      <StatusLine seen={seen} />
      {note && (
        <p className="small note-line">
          <bdi>{note}</bdi>
        </p>
      )}
      {isAsked ? <Reached seen={seen} /> : <RowActions seen={seen} isHere={isHere} />}
      {asksWhen(seen) && <RingAgain seen={seen} className={isOnlyOffered(seen) ? 'on-narrow' : ''} />}
    </li>
  )
}

/** What is suspected is first no spam, what is closed first New again, what is to be erased first kept. */
export const mayRing = ({ status, suspectedSpam, eraseAt }: Row) => status !== 'Closed' && !suspectedSpam && !eraseAt

/** After No answer, and after Contacted. */
function asksWhen({ row, own }: Seen): boolean {
  if (own?.name === 'addCall' || own?.name === 'remind') return true
  return own?.name === 'setStatus' && row.status === 'Contacted'
}

/** "Ring me on Monday." Not on a wide screen: there the next row would move from under the mouse. */
const isOnlyOffered = ({ row, own }: Seen) => own?.name === 'setStatus' && row.remindOn === undefined

function RowActions({ seen, isHere }: { seen: Seen; isHere: boolean }) {
  const { row, own } = seen
  const { reference, name, mobile, status, suspectedSpam } = row
  const isSpam = suspectedSpam && status === 'New'
  return (
    <div className="row-actions">
      {!isSpam && (
        <a
          className="primary call"
          href={callLink(mobile)}
          aria-label={`Call ${name}, ${mobileInGroups(mobile)}`}
          onClick={() => startCall(reference)}
        >
          Call
        </a>
      )}
      <MainAction seen={seen} isHere={isHere} isSpam={isSpam} />
      {/* They may ring back in a minute. */}
      {!isHere && own?.name === 'addCall' && (
        <Act name="setStatus" seen={seen} options={CONTACTED} short="Contacted" isInList />
      )}
      {isSpam ? (
        <Act name="setStatus" seen={seen} options={{ status: 'Closed' }} label="Surely spam" isInList />
      ) : (
        isHere && (
          <>
            {mayRing(row) && <Act name="addCall" seen={seen} options={{}} isInList />}
            <a
              href={whatsAppLink(mobile)}
              target="_blank"
              rel="noreferrer"
              aria-label={`WhatsApp ${name}`}
              onClick={() => startContact(reference)}
            >
              WhatsApp
            </a>
          </>
        )
      )}
    </div>
  )
}

interface MainActionProps {
  seen: Seen
  isHere: boolean
  isSpam: boolean
}

/** The first of the actions: its button keeps the focus when it becomes another one. */
function MainAction({ seen, isHere, isSpam }: MainActionProps) {
  const { row, own } = seen
  const { status, last, eraseAt } = row
  if (eraseAt) return <Act key="main" name="keep" seen={seen} options={{}} isInList />
  // What was done here is taken back here, but a note leaves its enquiry as New as it was.
  const isDoneHere = own?.input.key === last?.key && own && !['takeBack', 'addNote', 'setSpam'].includes(own.name)
  if (last && (!isHere || isDoneHere))
    return <Act key="main" name="takeBack" seen={seen} options={{ of: last.key }} isInList />
  if (isSpam) return <Act key="main" name="setSpam" seen={seen} options={{ spam: false }} isInList />
  if (status === 'Closed') return <Act key="main" name="setStatus" seen={seen} options={{ status: 'New' }} isInList />
  // No effect once it is contacted, but its neighbours stay where they are.
  return <Act key="main" name="setStatus" seen={seen} options={CONTACTED} short="Contacted" isInList />
}

/** Asked once, in place of the actions. */
export function Reached({ seen }: { seen: Seen }) {
  function end() {
    endCall()
    focusRow(seen.row.reference)
  }
  return (
    <fieldset className="row-actions reached">
      <legend>Reached?</legend>
      <Act name="setStatus" seen={seen} options={CONTACTED} label="Contacted" onPress={end} />
      <Act name="addCall" seen={seen} options={{}} onPress={end} />
      <ActionButton onClick={end}>Not now</ActionButton>
    </fieldset>
  )
}

/** `Contacted, ravi@shop.example, 10:40`, and what else is worth a look. */
export function StatusLine({ seen: { row, progress, refusal } }: { seen: Seen }) {
  const { status, statusBy, statusAt, closedAs, suspectedSpam, flags, remindOn, ringing, eraseAt, proposal } = row
  const isOverdue = isDue(remindOn) && remindOn !== todayHere()
  const marks = [
    suspectedSpam && 'suspected spam',
    remindOn && !isOverdue && `ring ${dayName(remindOn)}`,
    ringing && ringing.who !== you() && `${shortName(ringing.who)} is ringing`,
    proposal && 'new number proposed',
    eraseAt && `to be erased ${timeOf(eraseAt)}`,
    ...flags,
  ].filter((mark) => typeof mark === 'string')
  return (
    <p className="status-line">
      <strong className="status">{closedAs ? `${status}, ${closedAs}` : status}</strong>
      {statusBy && statusAt && <span className="small">{`${statusBy}, ${timeOf(statusAt)}`}</span>}
      {isOverdue && remindOn && <strong className="flag late">{`overdue since ${dayName(remindOn)}`}</strong>}
      {marks.map((mark) => (
        <span key={mark} className="flag">
          {mark}
        </span>
      ))}
      {progress && <span className="progress">{progressWords[progress]}</span>}
      {refusal && <span className="small">{refusal}</span>}
    </p>
  )
}
