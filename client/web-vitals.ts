import { onCLS, onINP, onLCP, onTTFB } from 'web-vitals'
import { pagePaths, withoutEndSlashes } from '../shared/page-paths.ts'

/** Sent once, when the page is hidden; no personal data. */
const vitals: Record<string, unknown> & { page: string } = { page: withoutEndSlashes(location.pathname) }

for (const measure of [onLCP, onINP, onCLS, onTTFB])
  measure(({ name, value }) => {
    vitals[name] = value
  })

// In `pagehide` the figures would not be final yet.
document.addEventListener('visibilitychange', function send() {
  if (!document.hidden) return
  document.removeEventListener('visibilitychange', send)
  if (pagePaths.includes(vitals.page))
    navigator.sendBeacon('/vitals', new Blob([JSON.stringify(vitals)], { type: 'application/json' }))
})
