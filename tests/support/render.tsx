import type { ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot, type Root } from 'react-dom/client'
import { afterEach } from 'vitest'
import '../../client/styles/site.css'

let mounted: { root: Root; place: HTMLElement } | undefined

/** Mounts a component as the site does, with its styles; the next one, or the test's end, takes it away. */
export function render(content: ReactNode) {
  unmount()
  const place = document.body.appendChild(document.createElement('div'))
  const root = createRoot(place)
  mounted = { root, place }
  flushSync(() => root.render(content))
  return place
}

afterEach(unmount)

function unmount() {
  mounted?.root.unmount()
  mounted?.place.remove()
  mounted = undefined
}
