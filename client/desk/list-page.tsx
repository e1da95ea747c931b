import { Fragment, useEffect, useState } from 'react'
import { type DeskState, deskStates, FIRST_LIST, TO_BE_ERASED_WORDS } from '../../shared/desk.ts'
import { orderFields } from '../../shared/order.ts'
import { centreInRow } from '../ui/row.ts'
import { AddByPhone } from './add-by-phone.tsx'
import { AllSpam } from './all-spam.tsx'
import { ActionButton } from './buttons.tsx'
import { seenWith, useChanges } from './changes.tsx'
import { EnquiryRow } from './enquiry-row.tsx'
import { Filters, Search } from './filters.tsx'
import { count, todayHere } from './format.ts'
import { hasFilters, NO_FILTERS, textOf } from './list-words.ts'
import { Overview } from './overview.tsx'
import { type Choice, client, isGone, type List, messageOf, type Pulse, useList } from './queries.ts'
import { useAsked } from './ringing.ts'
import { keepSearch, readSearch } from './route.ts'
import { keepChoice, readChoice } from './session.ts'
import { tabs } from './tabs.ts'
import { useNow } from './use-now.ts'

/** On a wide screen. */
const { name, quantity, retailerSelfUse } = orderFields
const columns = ['Age', name.label, 'Number', quantity.label, retailerSelfUse.label, 'State', '']

const firstChoice: Choice = { ...FIRST_LIST, ...readChoice() }

/** What is asked for: a search looks at everything, whatever the tab. */
function asked({ state, ...filters }: Choice, text: string): Choice {
  const keepsClosedAs = text !== '' || state === 'closed' || state === 'all'
  const given = Object.fromEntries(
    Object.entries(filters).filter(([name, value]) => value && (keepsClosedAs || name !== 'closedAs')),
  )
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
  /** So often all filters were ended. */
  const [ended, setEnded] = useState(0)
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
  function endFilters(change: Partial<Choice>) {
    setEnded((before) => before + 1)
    choose({ ...NO_FILTERS, ...change })
  }
  function search(next: string) {
    keepSearch(next)
    setText(next)
    readAnew()
  }
  function endSearch() {
    if (text) search('')
  }
  /** A tab is pressed: it ends the search. */
  function show(change: Partial<Choice>) {
    endSearch()
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
        <Overview
          pulse={pulse}
          onOldest={() => {
            endSearch()
            endFilters({ ...FIRST_LIST, order: 'oldest' })
          }}
          onToErase={() => {
            search(TO_BE_ERASED_WORDS)
            endFilters({})
          }}
        >
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
        <Filters key={ended} choice={wanted} onChoose={choose} />
        <AddByPhone />
      </div>
      <Rows
        list={list}
        choice={wanted}
        toRing={pulse?.counts.toRing ?? 0}
        onUnfiltered={() => endFilters({ order: 'newest' })}
      />
    </>
  )
}

interface RowsProps {
  list: List
  choice: Choice
  /** So many are to be rung, now or later. */
  toRing: number
  /** Ends the filters. */
  onUnfiltered: () => void
}

function Rows({ list, choice, toRing, onUnfiltered }: RowsProps) {
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
  const total = pages[0]?.total
  const foundClass = choice.text || total ? 'small' : 'visually-hidden' // else the rows are seen
  return (
    <>
      <p id="enquiries" tabIndex={-1} role="status" className={rows.length > 0 ? foundClass : 'empty'}>
        {textOf(list, choice, { shown: rows.length, total, toRing })}
      </p>
      {list.data && rows.length === 0 && hasFilters(choice) && (
        <p className="more">
          <ActionButton onClick={onUnfiltered}>
            {choice.text ? 'Search without filters' : 'End the filters'}
          </ActionButton>
        </p>
      )}
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
