import { Fragment, useEffect, useState } from 'react'
import { type DeskState, deskStates, FIRST_LIST } from '../../shared/desk.ts'
import { orderFields } from '../../shared/order.ts'
import { centreInRow } from '../ui/row.ts'
import { AddByPhone } from './add-by-phone.tsx'
import { ActionButton } from './buttons.tsx'
import { createChange, type Seen, seenWith, submit, useChanges } from './changes.tsx'
import { belongsTo, EnquiryRow } from './enquiry-row.tsx'
import { Filters, Search } from './filters.tsx'
import { count, todayHere } from './format.ts'
import { Overview } from './overview.tsx'
import { type Choice, client, isGone, type List, messageOf, type Pulse, useList } from './queries.ts'
import { useAsked } from './ringing.ts'
import { keepSearch, readSearch } from './route.ts'
import { keepChoice, readChoice } from './session.ts'
import { useNow } from './use-now.ts'

const tabs: Record<DeskState, string> = {
  new: 'New',
  toRing: 'To ring',
  contacted: 'Contacted',
  closed: 'Closed',
  spam: 'Suspected spam',
  all: 'All',
}

/** On a wide screen. */
const { name, quantity, retailerSelfUse } = orderFields
const columns = ['Waiting', name.label, 'Number', quantity.label, retailerSelfUse.label, 'State', '']

const ALL_OF_NEW = {
  ...FIRST_LIST,
  product: undefined,
  type: undefined,
  from: undefined,
  to: undefined,
} satisfies Partial<Choice>
const firstChoice: Choice = { ...FIRST_LIST, ...readChoice() }

/** What is asked for: a search looks at everything, whatever the tab. */
function asked({ state, ...filters }: Choice, text: string): Choice {
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value))
  return { state: text ? 'all' : state, ...given, ...(text && { text }) }
}

function countIn(state: DeskState, { counts, due }: Pulse): string {
  if (state !== 'toRing' || counts.toRing === 0) return count(counts[state])
  return due > 0 ? `${count(due)} due` : `${count(counts.toRing)} later`
}

export function ListPage({ pulse }: { pulse: Pulse | undefined }) {
  const [choice, setChoice] = useState(firstChoice)
  const [text, setText] = useState(readSearch)
  const [reading, setReading] = useState(0)
  const wanted = asked(choice, text)
  const list = useList(wanted, reading)
  const readAnew = () => setReading((before) => before + 1)
  // What is fresh is counted from the newest that is shown.
  useEffect(() => {
    if (list.isSuccess && !list.isPlaceholderData && reading > 0) client.invalidateQueries({ queryKey: ['pulse'] })
  }, [list.isSuccess, list.isPlaceholderData, reading])

  function choose(change: Partial<Choice>) {
    const next = { ...choice, ...change }
    keepChoice(next)
    setChoice(next)
    readAnew()
  }
  function search(next: string) {
    keepSearch(next)
    setText(next)
    readAnew()
  }
  /** A tab is pressed: it ends the search. */
  function show(change: Partial<Choice>) {
    if (text) search('')
    choose(change)
  }

  // On a phone the tabs scroll sideways.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the pressed one depends on it
  useEffect(() => {
    const pressed = document.querySelector<HTMLElement>('.tabs [aria-pressed=true]')
    if (pressed) centreInRow(pressed)
  }, [choice.state])

  return (
    <>
      <h1 className="visually-hidden">Enquiries</h1>
      {pulse && (
        <Overview pulse={pulse} onOldest={() => show({ ...ALL_OF_NEW, order: 'oldest' })}>
          <Fresh choice={wanted} fresh={pulse.fresh} isWhole={!list.hasNextPage} onRead={readAnew} />
        </Overview>
      )}
      <div className="choice">
        <nav className="tabs" aria-label="Enquiries by state">
          {deskStates.map((state) => (
            <button
              key={state}
              type="button"
              aria-pressed={state === choice.state && !text}
              onClick={() => show({ state })}
            >
              <span>{tabs[state]}</span> <span className="count">{pulse && countIn(state, pulse)}</span>
            </button>
          ))}
        </nav>
        <Search text={text} onSearch={search} />
        <Filters choice={wanted} onChoose={choose} />
        <AddByPhone />
      </div>
      <Rows list={list} choice={wanted} toRing={pulse?.counts.toRing ?? 0} />
    </>
  )
}

interface RowsProps {
  list: List
  choice: Choice
  /** So many are to be rung, now or later. */
  toRing: number
}

function Rows({ list, choice, toRing }: RowsProps) {
  const now = useNow()
  const tried = useChanges()
  const reached = useAsked()
  const { state } = choice
  const pages = list.data?.pages ?? []
  const today = pages[0]?.today ?? todayHere()
  const later = pages.find((page) => page.later)?.later
  const rows = pages.flatMap(({ enquiries }) =>
    enquiries.map((row) => ({ reference: row.reference, seen: isGone(row) ? undefined : seenWith(row, tried) })),
  )
  const common = { state, today, now }
  const foundClass = choice.text ? 'small' : 'visually-hidden' // the rows are seen
  return (
    <>
      <p role="status" className={rows.length > 0 ? foundClass : 'empty'}>
        {textOf(list, choice, { shown: rows.length, toRing })}
      </p>
      {list.isError && list.data && <p className="notice">{messageOf(list.error)}</p>}
      {state === 'spam' && <AllSpam seen={rows.flatMap(({ seen }) => seen ?? [])} today={today} />}
      {rows.length > 0 && (
        <p className="columns" aria-hidden="true">
          {columns.map((column) => (
            <span key={column}>{column}</span>
          ))}
        </p>
      )}
      {rows.length > 0 && (
        <ul className="enquiries" aria-label={tabs[state]} aria-busy={list.isPlaceholderData}>
          {rows.map(({ reference, seen }) => (
            <Fragment key={reference}>
              {reference === later && (
                <li className="later">
                  <h2>Later</h2>
                </li>
              )}
              {seen ? (
                <EnquiryRow {...common} seen={seen} isAsked={reference === reached} />
              ) : (
                <li className="enquiry gone">{`${reference} was erased.`}</li>
              )}
            </Fragment>
          ))}
        </ul>
      )}
      {rows.length > 0 && (
        <p className="keys small">Keys in a row: c contacted, n no answer, u take back, arrows for the next</p>
      )}
      {list.hasNextPage && (
        <p className="more">
          <ActionButton isIdle={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            {list.isFetchingNextPage ? 'Loading …' : 'Load more'}
          </ActionButton>
        </p>
      )}
    </>
  )
}

interface FreshProps {
  choice: Choice
  fresh: number
  isWhole: boolean
  onRead: () => void
}

/** Reads the list anew for what has come since. Of a part of a list nobody knows what is new. */
function Fresh({ choice, fresh, isWhole, onRead }: FreshProps) {
  const { state, order, ...filters } = choice
  const isCounted = state === 'new' && Object.keys(filters).length === 0 && (order === 'newest' || isWhole)
  return (
    <span role="status" className="fresh">
      {isCounted && fresh > 0 && (
        <button type="button" className="primary" onClick={onRead}>
          {`Show ${count(fresh)} new`}
        </button>
      )}
    </span>
  )
}

/** Closes all that is shown, when it is pressed twice. */
function AllSpam({ seen, today }: { seen: Seen[]; today: string }) {
  const [isAsked, setIsAsked] = useState(false)
  const spam = seen.flatMap(({ row }) => (belongsTo('spam', row, today) ? row.reference : []))
  if (spam.length < 2) return null
  function close() {
    setIsAsked(false)
    const input = { references: spam, status: 'Closed', was: 'New' }
    submit(createChange('setStatus', spam, input)).catch(() => {}) // refuse() has told it
  }
  return (
    <p className="buttons">
      <ActionButton onClick={() => (isAsked ? close() : setIsAsked(true))}>
        {isAsked ? `Yes, close ${spam.length} as spam` : `Surely spam: all ${spam.length} shown`}
      </ActionButton>
      {isAsked && <ActionButton onClick={() => setIsAsked(false)}>Keep them</ActionButton>}
    </p>
  )
}

/** What there is to say instead of a list, and, for those who do not see it, of the list. */
function textOf(
  list: List,
  { state, text, ...filters }: Choice,
  { shown, toRing }: { shown: number; toRing: number },
): string {
  if (list.isError && !list.data) return messageOf(list.error)
  if (!list.data) return 'Loading …'
  const enquiries = shown === 1 ? 'enquiry' : 'enquiries'
  if (shown > 0) return `${shown} ${enquiries} ${text ? 'found' : 'shown'}${list.hasNextPage ? ', and more' : ''}`
  if (text) return `Nothing found for “${text}”.`
  if (Object.keys(filters).length > 1) return 'Nothing with these filters.'
  if (state !== 'new') return 'Nothing yet.'
  return toRing > 0 ? `Nothing new. ${count(toRing)} to ring.` : 'Nothing new. Everybody has an answer.'
}
