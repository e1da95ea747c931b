import { useEffect, useRef, useState } from 'react'
import { ProductLinks } from './product-links.tsx'

const POPOVERS = typeof HTMLElement !== 'undefined' && 'popover' in HTMLElement.prototype

/**
 * A popover: the browser opens and closes it, also on Escape and a click outside, before React is there too. In one that
 * knows no popovers, the button does once React is there.
 */
export function ProductsMenu({ path }: { path: string }) {
  const menu = useRef<HTMLUListElement>(null)
  const [open, setOpen] = useState(false)
  useEffect(() => setOpen(POPOVERS && (menu.current?.matches(':popover-open') ?? false)), [])
  function close() {
    if (POPOVERS) menu.current?.hidePopover()
    else setOpen(false)
  }
  return (
    <>
      <button
        type="button"
        className="products-button"
        popoverTarget="products-menu"
        aria-expanded={open}
        onClick={POPOVERS ? undefined : () => setOpen(!open)}
      >
        Products
        <svg viewBox="0 0 12 8" aria-hidden="true">
          <path d="M1 1.5l5 5 5-5" fill="none" stroke="currentColor" strokeWidth="1.6" />
        </svg>
      </button>
      <ul
        ref={menu}
        id="products-menu"
        popover="auto"
        data-open={open}
        className="products-menu"
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        <ProductLinks path={path} pictures onFollow={close} />
      </ul>
    </>
  )
}
