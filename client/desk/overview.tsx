import { Fragment, type ReactNode } from 'react'
import { DESK_PATH } from '../../shared/desk.ts'
import { ageOf, count } from './format.ts'
import { drafts } from './kept.ts'
import type { Pulse } from './queries.ts'
import { useNow } from './use-now.ts'

interface OverviewProps {
  pulse: Pulse
  onOldest: () => void
  onToErase: () => void
  children: ReactNode
}

/** How much there is to do, and what somebody has to mend. */
export function Overview({ pulse, onOldest, onToErase, children }: OverviewProps) {
  const now = useNow()
  const { counts, oldestNewAt, week, problems, toErase } = pulse
  const products = Object.entries(week).map(([product, number]) => `${count(number)} ${product}`)
  const unfinished = drafts(pulse.you)
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
      {unfinished.length > 0 && (
        <p className="notice">
          {'A note that you have not stored: '}
          {unfinished.map((reference, index) => (
            <Fragment key={reference}>
              {index > 0 && ', '}
              <a href={`${DESK_PATH}/${reference}`}>{reference}</a>
            </Fragment>
          ))}
        </p>
      )}
      <div className="overview">
        <p>
          <strong>{`${count(counts.new)} new`}</strong>
          {children}
        </p>
        <p className="overview-facts">
          <span>
            {oldestNewAt ? (
              <button type="button" className="quiet" onClick={onOldest}>
                {`the oldest waits ${ageOf(oldestNewAt, now) || 'less than a minute'}`}
              </button>
            ) : (
              'nobody waits'
            )}
            {toErase > 0 && (
              <button type="button" className="quiet" onClick={onToErase}>
                {`${count(toErase)} to be erased`}
              </button>
            )}
          </span>
          <span>{total > 0 ? `${count(total)} this week: ${products.join(', ')}` : 'none this week'}</span>
        </p>
      </div>
    </>
  )
}
