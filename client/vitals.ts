import { onCLS, onINP, onLCP, onTTFB } from 'web-vitals'
import { pagePaths, withoutEndSlashes } from '../shared/page-paths.ts'

/** Tells once, at the end of a visit, how fast the page was, and nothing of who looked at it. */
const vitals: Record<string, unknown> & { page: string } = { page: withoutEndSlashes(location.pathname) }

for (const measure of [onLCP, onINP, onCLS, onTTFB])
  measure(({ name, value }) => {
    vitals[name] = value
  })

// Not `pagehide`, which comes before the measures settle their figures in this event.
document.addEventListener('visibilitychange', function send() {
  if (!document.hidden) return
  document.removeEventListener('visibilitychange', send)
  if (pagePaths.includes(vitals.page))
    navigator.sendBeacon('/vitals', new Blob([JSON.stringify(vitals)], { type: 'application/json' }))
})
