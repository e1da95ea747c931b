import { formatIndianTime } from '../../shared/indian-time.ts'
import type { List } from './queries.ts'

const HEIGHT = 40

/** Enquiries a day as bars, and as a text for those who do not see them. */
export function DaysChart({ days }: Pick<List, 'days'>) {
  const most = Math.max(1, ...days.map(({ count }) => count))
  const total = days.reduce((sum, { count }) => sum + count, 0)
  const today = days.at(-1)?.count ?? 0
  return (
    <section className="days" aria-label="Enquiries a day">
      <p>
        <strong>{today.toLocaleString('en-IN')}</strong> <span>today</span>
        <strong>{total.toLocaleString('en-IN')}</strong> <span>in {days.length} days</span>
      </p>
      <svg viewBox={`0 0 ${days.length * 10} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ day, count }, index) => {
          const height = count === 0 ? 1 : Math.max(3, (count / most) * HEIGHT)
          return <rect key={day} x={index * 10 + 1.5} y={HEIGHT - height} width="7" height={height} />
        })}
      </svg>
      <p className="visually-hidden">
        {days.map(({ day, count }) => `${formatIndianTime(new Date(day)).slice(0, 6)}: ${count}`).join(', ')}
      </p>
    </section>
  )
}
