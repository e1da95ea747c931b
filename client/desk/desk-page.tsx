import { onlineManager } from '@tanstack/react-query'
import { Activity, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react'
import { brand } from '../../shared/brand.ts'
import { DESK_PATH } from '../../shared/desk.ts'
import { resumeKept } from './changes.tsx'
import { EnquiryPage } from './enquiry-page.tsx'
import { focusRow } from './focus.ts'
import { count, timeOf } from './format.ts'
import { ListPage } from './list-page.tsx'
import { client, messageOf, usePulse } from './queries.ts'
import { scrollToPlace, useReference } from './route.ts'
import { SignedIn } from './signed-in.tsx'

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
      <a href={reference ? '#main' : '#enquiries'} className="visually-hidden skip">
        {reference ? 'Skip to content' : 'Skip to the enquiries'}
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
            <ListPage pulse={pulse} />
          </div>
        </Activity>
        {reference && <EnquiryPage key={reference} reference={reference} you={you} />}
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
