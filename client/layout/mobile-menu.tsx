import { useRef } from 'react'
import { brand } from '../../shared/brand.ts'
import { telephone } from '../content/contact.ts'
import { Logo } from '../ui/logo.tsx'
import { PageLink } from './page-link.tsx'
import { ProductLinks } from './product-links.tsx'

const COMMANDS = typeof HTMLButtonElement !== 'undefined' && 'command' in HTMLButtonElement.prototype

/** A modal dialog over the whole screen. The `command` attributes open and close it before React is there. */
export function MobileMenu({ path }: { path: string }) {
  const dialog = useRef<HTMLDialogElement>(null)
  function open() {
    if (!COMMANDS) dialog.current?.showModal()
  }
  function close() {
    dialog.current?.close()
  }
  return (
    <div className="narrow-nav">
      <button type="button" className="menu-button" aria-label="Menu" {...command('show-modal')} onClick={open}>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M3 8h18M3 16h18" />
        </svg>
      </button>
      <dialog ref={dialog} id="menu" className="menu on-leaf" aria-label="Menu">
        <div className="menu-head">
          <Logo />
          <button
            type="button"
            className="menu-button"
            aria-label="Close"
            {...command('close')}
            onClick={COMMANDS ? undefined : close}
          >
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <path d="M5 5l14 14M19 5L5 19" />
            </svg>
          </button>
        </div>
        <nav aria-label="Main">
          <ul>
            <li>
              <PageLink href="/" path={path} onFollow={close}>
                Home
              </PageLink>
            </li>
            <ProductLinks path={path} onFollow={close} />
            <li>
              <PageLink href="#contact" path={path} onFollow={close}>
                Contact Us
              </PageLink>
            </li>
            <li>
              <PageLink href="/buy-now" path={path} onFollow={close}>
                Buy Now
              </PageLink>
            </li>
          </ul>
        </nav>
        <p>
          <a href={telephone}>{brand.phone}</a>
          <a href={`mailto:${brand.email}`}>{brand.email}</a>
        </p>
      </dialog>
    </div>
  )
}

function command(name: 'show-modal' | 'close') {
  return { command: name, commandfor: 'menu' }
}
