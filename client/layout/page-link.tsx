import type { MouseEvent, ReactNode } from 'react'

interface PageLinkProps {
  href: string
  /** The page that is shown. */
  path: string
  className?: string
  label?: string
  onFollow?: (() => void) | undefined
  children: ReactNode
}

/** A link to a page of ours. To the page that is shown it scrolls to the top instead of loading it again. */
export function PageLink({ href, path, className, label, onFollow, children }: PageLinkProps) {
  const here = href === path
  function follow(event: MouseEvent) {
    onFollow?.()
    if (!here || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    scrollTo({ top: 0 }) // smooth, unless reduced motion is asked for: see base.css
  }
  return (
    <a href={href} className={className} aria-label={label} aria-current={here ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  )
}
