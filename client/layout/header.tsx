import { type FocusEvent, type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { brand } from '../../shared/brand.ts'
import { buyNowPath, type Product, productPath, products } from '../../shared/catalogue.ts'
import { telephone } from '../content/contact.ts'
import { productCards } from '../content/product.ts'
import { Logo } from '../ui/logo.tsx'
import { Picture } from '../ui/picture.tsx'

interface HeaderProps {
  path: string
  /** The product of the page: selected in the form. */
  product?: Product | undefined
}

/** The content of `<header>`. `main.ts` sets its scrolled style by `data-scrolled`, which works before hydration. */
export function Header({ path, product }: HeaderProps) {
  return (
    <div className="header-bar">
      <PageLink href="/" path={path} className="logo-link" label={`${brand.name}, home`}>
        <Logo />
      </PageLink>
      <nav aria-label="Main" className="wide-nav">
        <PageLink href="/" path={path}>
          Home
        </PageLink>
        <ProductsMenu path={path} />
        <a href="#contact">Contact Us</a>
      </nav>
      <PageLink href={buyNowPath(product)} path={path} className="button">
        Buy Now
      </PageLink>
      <MobileMenu path={path} />
    </div>
  )
}

const POPOVERS = typeof HTMLElement !== 'undefined' && 'popover' in HTMLElement.prototype

/** A popover, which works before hydration. Browsers without popovers open it by the button's click handler. */
function ProductsMenu({ path }: { path: string }) {
  const menu = useRef<HTMLUListElement>(null)
  const [open, setOpen] = useState(false)
  useEffect(() => setOpen(POPOVERS && (menu.current?.matches(':popover-open') ?? false)), [])
  function close() {
    if (POPOVERS) menu.current?.hidePopover()
    else setOpen(false)
  }
  /** With Tab, either way. */
  function leave({ relatedTarget }: FocusEvent) {
    if (relatedTarget && !menu.current?.contains(relatedTarget)) close()
  }

  return (
    <>
      <button
        type="button"
        className="products-button"
        popoverTarget="products-menu"
        aria-expanded={open}
        aria-current={path.startsWith('/products/') || undefined}
        onBlur={leave}
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
        onBlur={leave}
      >
        {products.map((product) => {
          const { picture, ground } = productCards[product]
          return (
            <li key={product}>
              <PageLink href={productPath(product)} path={path} onFollow={close}>
                <Picture className={`square close thumbnail on-${ground}`} name={picture} alt="" sizes="72px" />
                {product}
              </PageLink>
            </li>
          )
        })}
      </ul>
    </>
  )
}

const COMMANDS = typeof HTMLButtonElement !== 'undefined' && 'command' in HTMLButtonElement.prototype

const menuLinks: [href: string, text: string][] = [
  ['/', 'Home'],
  ...products.map((product): [string, string] => [productPath(product), product]),
  ['#contact', 'Contact Us'],
  ['/buy-now', 'Buy Now'],
]

/** A modal dialog over the whole screen. Its `command` attributes work before hydration. */
function MobileMenu({ path }: { path: string }) {
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
            {menuLinks.map(([href, text]) => (
              <li key={href}>
                <PageLink href={href} path={path} onFollow={close}>
                  {text}
                </PageLink>
              </li>
            ))}
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
function PageLink({ href, path, className, label, onFollow, children }: PageLinkProps) {
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
