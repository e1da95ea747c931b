import type { KeyboardEvent } from 'react'
import { DESK_PATH, type DeskState } from '../../shared/desk.ts'
import { callLink, mobileInGroups, whatsAppLink } from '../../shared/visitor-contact.ts'
import { actions } from './actions.ts'
import { Act, ActionButton, RingAgain } from './buttons.tsx'
import { act, type Seen } from './changes.tsx'
import { focusRow, focusRowBeside } from './focus.ts'
import { ageOf, count, dayName, isDue, isOlderThanDays, timeOf, todayHere } from './format.ts'
import { type Row, you } from './queries.ts'
import { endCall, startCall, startContact } from './ringing.ts'

/** Who has waited longer is seen at a glance. */
const LATE_DAYS = 2

/** Whether a list of this tab has it. @param today in India */
export function belongsTo(state: DeskState, row: Row, today: string): boolean {
  const { status, suspectedSpam, remindOn, eraseAt } = row
  if (state === 'all') return true
  if (state === 'spam') return status === 'New' && suspectedSpam
  if (suspectedSpam) return false
  if (state === 'new') return status === 'New' && !eraseAt && (!remindOn || isDue(remindOn, today))
  if (state === 'toRing') return Boolean(remindOn) && status !== 'Closed' && !eraseAt
  return status.toLowerCase() === state
}

const CONTACTED = { status: 'Contacted' } as const

const standings = {
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
  const { row, standing, doing } = seen
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
    if (key === 'c' && actions.setStatus.when?.(row, CONTACTED)) act('setStatus', row, CONTACTED)
    if (key === 'n' && !doing.includes('addCall')) act('addCall', row, {})
    if (key === 'u' && row.last) act('takeBack', row, { of: row.last.key })
  }

  return (
    <li
      className="enquiry"
      data-row={reference}
      data-status={status}
      data-late={isLate || undefined}
      data-done={(!isHere && !standing) || undefined}
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
      {asksWhen(seen) && <RingAgain seen={seen} />}
    </li>
  )
}

/** After No answer, and after Contacted where a day is still set. */
function asksWhen({ row, own }: Seen): boolean {
  if (own?.name === 'addCall' || own?.name === 'remind') return true
  return own?.name === 'setStatus' && row.status === 'Contacted' && row.remindOn !== undefined
}

function RowActions({ seen, isHere }: { seen: Seen; isHere: boolean }) {
  const { reference, name, mobile, status, suspectedSpam } = seen.row
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
      {isSpam ? (
        <Act name="setStatus" seen={seen} options={{ status: 'Closed' }} label="Surely spam" isInList />
      ) : (
        isHere && (
          <>
            <Act name="addCall" seen={seen} options={{}} isInList />
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
  const { status, last, remindOn } = row
  const isOwn = own?.input.key === last?.key && own?.name !== 'takeBack'
  // What was done here is taken back here, but a note leaves its enquiry as New as it was.
  if (last && (!isHere || (isOwn && own?.name !== 'addNote' && own?.name !== 'setSpam')))
    return <Act key="main" name="takeBack" seen={seen} options={{ of: last.key }} isInList />
  if (isSpam) return <Act key="main" name="setSpam" seen={seen} options={{ spam: false }} isInList />
  if (status === 'Closed' && !isDue(remindOn)) return null
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
export function StatusLine({ seen: { row, standing, refusal } }: { seen: Seen }) {
  const { status, statusBy, statusAt, closedAs, suspectedSpam, flags, remindOn, ringing, eraseAt, proposal } = row
  const isOverdue = isDue(remindOn) && remindOn !== todayHere()
  const marks = [
    suspectedSpam && 'suspected spam',
    remindOn && !isOverdue && `ring ${dayName(remindOn)}`,
    ringing && ringing.who !== you() && `${ringing.who.split('@')[0]} is ringing`,
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
      {standing && <span className="standing">{standings[standing]}</span>}
      {standing === 'refused' && <span className="small">{refusal}</span>}
    </p>
  )
}
