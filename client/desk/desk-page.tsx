import { onlineManager } from '@tanstack/react-query'
import { Activity, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react'
import { brand } from '../../shared/brand.ts'
import { DESK_PATH } from '../../shared/desk.ts'
import { resumeKept } from './changes.tsx'
import { EnquiryPage } from './enquiry-page.tsx'
import { focusRow } from './focus.ts'
import { ageOf, count, timeOf } from './format.ts'
import { ListPage } from './list-page.tsx'
import { client, messageOf, type Pulse, usePulse } from './queries.ts'
import { scrollToPlace, useReference } from './route.ts'
import { SignedIn } from './signed-in.tsx'
import { useNow } from './use-now.ts'

export function DeskPage() {
  const reference = useReference()
  const isOnline = useSyncExternalStore(onlineManager.subscribe, () => onlineManager.isOnline())
  const { data: pulse, error, dataUpdatedAt } = usePulse()
  const you = pulse?.you

  usePlace(reference)
  useEffect(() => {
    if (you) resumeKept()
  }, [you])
  useEffect(() => {
    const waiting = pulse ? `${count(pulse.counts.new)} new` : 'Enquiries'
    document.title = [waiting, reference, `${brand.name} desk`].filter(Boolean).join(' | ')
  }, [pulse, reference])

  return (
    <>
      <a href="#main" className="visually-hidden">
        Skip to content
      </a>
      <header className="desk-head">
        <p className="desk-name">
          <a href={DESK_PATH}>{`${brand.name} desk`}</a>
        </p>
        <SignedIn pulse={pulse} />
      </header>
      <main id="main" tabIndex={-1}>
        <p role="status" className="notices">
          {!isOnline && (
            <span className="notice">You are offline. What you typed stays here, and changes are sent later.</span>
          )}
          {isOnline && error && (
            <span className="notice">
              {`${messageOf(error)}${dataUpdatedAt ? ` What is shown is of ${timeOf(new Date(dataUpdatedAt).toISOString())}.` : ''}`}
            </span>
          )}
        </p>
        <Activity mode={reference ? 'hidden' : 'visible'}>
          <div className="list-page">
            {pulse && <Overview pulse={pulse} />}
            <ListPage pulse={pulse} />
          </div>
        </Activity>
        {reference && <EnquiryPage key={reference} reference={reference} />}
      </main>
    </>
  )
}

/** Scrolls and moves the focus to where one is now; not when the page has just come. */
function usePlace(reference: string) {
  const before = useRef(reference)
  const left = useRef('')
  useLayoutEffect(() => {
    if (before.current === reference) return
    if (before.current) left.current = before.current
    before.current = reference
    scrollToPlace()
    client.invalidateQueries({ queryKey: ['pulse'] })
    if (reference) document.querySelector<HTMLElement>('h1[tabindex]')?.focus({ preventScroll: true })
    else focusRow(left.current)
  }, [reference])
}

/** How much there is to do, and what somebody has to mend. */
function Overview({ pulse }: { pulse: Pulse }) {
  const now = useNow()
  const { counts, oldestNewAt, week, problems } = pulse
  const products = Object.entries(week).map(([product, number]) => `${count(number)} ${product}`)
  const total = Object.values(week).reduce((sum, each) => sum + each, 0)
  return (
    <>
      {problems.length > 0 && (
        <section className="problems" aria-labelledby="problems">
          <h2 id="problems">To mend</h2>
          <ul>
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </section>
      )}
      <p className="overview">
        <strong>{`${count(counts.new)} new`}</strong>
        {oldestNewAt && <span>{`the oldest waits ${ageOf(oldestNewAt, now) || 'less than a minute'}`}</span>}
        <span>{total > 0 ? `${count(total)} this week: ${products.join(', ')}` : 'none this week'}</span>
      </p>
    </>
  )
}
