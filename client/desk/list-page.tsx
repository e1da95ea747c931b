import { type FormEvent, useEffect, useRef, useState } from 'react'
import { DESK_PATH, type DeskState, deskStates, SEARCH_MAX } from '../../shared/desk.ts'
import { centreInRow } from '../ui/row.ts'
import { DaysChart } from './days-chart.tsx'
import { EnquiryRow } from './enquiry-row.tsx'
import { type Choice, messageOf, useList } from './queries.ts'
import { keepChoice, readChoice } from './session.ts'

const tabs: Record<DeskState, string> = {
  new: 'New',
  contacted: 'Contacted',
  closed: 'Closed',
  spam: 'Suspected spam',
  all: 'All',
}

/** Kept for this tab and not in the address, which would be logged: so one comes back to the same list. */
const firstChoice: Choice = { state: 'new', order: 'newest', text: '', ...readChoice() }

export function ListPage() {
  const [choice, setChoice] = useState(firstChoice)
  const list = useList(choice)
  const pages = list.data?.pages ?? []
  const [first] = pages
  const enquiries = pages.flatMap((page) => page.enquiries)

  function choose(change: Partial<Choice>) {
    const next = { ...choice, ...change }
    keepChoice(next)
    setChoice(next)
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
      {first && first.problems.length > 0 && (
        <section className="problems" aria-labelledby="problems">
          <h2 id="problems">To mend</h2>
          <ul>
            {first.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </section>
      )}
      {first && <DaysChart days={first.days} />}
      <div className="choice">
        <nav className="tabs" aria-label="Enquiries by state">
          {deskStates.map((state) => (
            <button
              key={state}
              type="button"
              aria-pressed={state === choice.state}
              onClick={() => choose({ state, order: choice.order })}
            >
              <span>{tabs[state]}</span> <span className="count">{first?.counts[state].toLocaleString('en-IN')}</span>
            </button>
          ))}
        </nav>
        <Search text={choice.text} onSearch={(text) => choose({ text })} />
        <div className="tools">
          <button
            type="button"
            onClick={() => choose({ order: choice.order === 'newest' ? 'oldest' : 'newest' })}
            aria-label={`${choice.order === 'newest' ? 'Newest' : 'Oldest'} first. Change the order`}
          >
            {choice.order === 'newest' ? 'Newest first' : 'Oldest first'}
          </button>
          <form method="post" action={`${DESK_PATH}/enquiries.csv`}>
            {Object.entries(choice).map(([name, value]) => (
              <input key={name} type="hidden" name={name} value={value} />
            ))}
            <button type="submit">Download CSV</button>
          </form>
        </div>
      </div>
      <p role="status" className={enquiries.length > 0 ? 'visually-hidden' : 'empty'}>
        {stateOf(list, choice, first?.counts[choice.state], enquiries.length)}
      </p>
      {list.data && enquiries.length === 0 && choice.text && choice.state !== 'all' && (
        <p className="more">
          <button type="button" onClick={() => choose({ state: 'all' })}>
            Search in All
          </button>
        </p>
      )}
      {enquiries.length > 0 && (
        <ul className="enquiries" aria-label={tabs[choice.state]} aria-busy={list.isPlaceholderData}>
          {enquiries.map((row) => (
            <EnquiryRow key={row.reference} row={row} />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <p className="more">
          <button type="button" disabled={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            {list.isFetchingNextPage ? 'Loading …' : 'Load more'}
          </button>
        </p>
      )}
      {first && <SignedIn you={first.you} browsers={first.browsers} />}
    </>
  )
}

function SignedIn({ you, browsers }: { you: string; browsers: number }) {
  return (
    <form method="post" action={`${DESK_PATH}/sign-out`} className="more">
      <p>
        You are signed in as <bdi>{you}</bdi>
        {browsers > 1 && <span> in {browsers} browsers</span>}.
      </p>
      {browsers > 1 && (
        <button type="submit" name="others" value="yes">
          Sign out in the others
        </button>
      )}
    </form>
  )
}

/** What there is to say instead of a list, and, for those who do not see it, of the list. */
function stateOf(list: ReturnType<typeof useList>, choice: Choice, count: number | undefined, shown: number): string {
  if (list.isError && !list.data) return messageOf(list.error)
  if (!list.data) return 'Loading …'
  if (shown > 0) return `${shown} ${shown === 1 ? 'enquiry' : 'enquiries'} shown${list.hasNextPage ? ', and more' : ''}`
  if (choice.text) return `Nothing found for “${choice.text}” in ${tabs[choice.state]}.`
  return count === 0 && choice.state === 'new' ? 'Nothing new. Everybody has an answer.' : 'Nothing yet.'
}

function Search({ text, onSearch }: { text: string; onSearch: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  function clear() {
    if (input.current) input.current.value = ''
    input.current?.focus() // the button goes
    onSearch('')
  }
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    onSearch(String(new FormData(event.currentTarget).get('text')).trim())
  }
  return (
    <search>
      <form className="search" onSubmit={submit}>
        <label htmlFor="text" className="visually-hidden">
          Name, address, number, reference or note
        </label>
        <input
          ref={input}
          id="text"
          name="text"
          type="search"
          autoComplete="off"
          maxLength={SEARCH_MAX}
          placeholder="Name, number, reference …"
          defaultValue={text}
        />
        <button type="submit">Search</button>
        {text && (
          <button type="button" onClick={clear}>
            Clear
          </button>
        )}
      </form>
    </search>
  )
}
