import type { ComponentProps } from 'react'
import { brand } from '../../shared/brand.ts'
import { buyNowPath, type Product, productPath, products } from '../../shared/catalogue.ts'
import { telephone } from '../content/contact.ts'
import { buyNow } from '../content/enquiry-form.ts'
import { productCards } from '../content/product.ts'
import { Logo } from '../ui/logo.tsx'
import { Picture } from '../ui/picture.tsx'

interface HeaderProps {
  path: string
  /** The product of the page: selected in the form. */
  product?: Product | undefined
}

/** The content of `<header>`. `main.ts` sets its scrolled style by `data-scrolled`. */
export function Header({ path, product }: HeaderProps) {
  return (
    <div className="header-bar">
      <PageLink href="/" path={path} className="logo-link" aria-label={`${brand.name}, home`}>
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
        {buyNow.title}
      </PageLink>
      <MobileMenu path={path} />
    </div>
  )
}

function ProductsMenu({ path }: { path: string }) {
  return (
    <>
      <button
        type="button"
        className="products-button"
        popoverTarget="products-menu"
        aria-current={path.startsWith('/products/') || undefined}
      >
        Products
        <svg viewBox="0 0 12 8" aria-hidden="true">
          <path d="M1 1.5l5 5 5-5" fill="none" stroke="currentColor" strokeWidth="1.6" />
        </svg>
      </button>
      <ul id="products-menu" popover="auto" className="products-menu">
        {products.map((product) => {
          const { picture, ground } = productCards[product]
          return (
            <li key={product}>
              <PageLink href={productPath(product)} path={path}>
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

/** A modal dialog over the whole screen. */
function MobileMenu({ path }: { path: string }) {
  const links: [href: string, text: string][] = [
    ['/', 'Home'],
    ...products.map((product): [string, string] => [productPath(product), product]),
    ['#contact', 'Contact Us'],
    ['/buy-now', buyNow.title],
  ]
  return (
    <div className="narrow-nav">
      <button type="button" className="menu-button" {...command('show-modal')}>
        Menu
        <svg viewBox="0 0 24 24" stroke="currentColor" strokeWidth="1.75" aria-hidden="true">
          <path d="M3 8h18M3 16h18" />
        </svg>
      </button>
      <dialog id="menu" className="menu on-leaf" aria-label="Menu">
        <div className="menu-head">
          <Logo />
          <button type="button" className="menu-button" {...command('close')}>
            Close
            <svg viewBox="0 0 24 24" stroke="currentColor" strokeWidth="1.75" aria-hidden="true">
              <path d="M5 5l14 14M19 5L5 19" />
            </svg>
          </button>
        </div>
        <nav aria-label="Main">
          <ul>
            {links.map(([href, text]) => (
              <li key={href}>
                <PageLink href={href} path={path}>
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

function PageLink({ path, ...link }: ComponentProps<'a'> & { path: string }) {
  return <a {...link} aria-current={link.href === path ? 'page' : undefined} />
}
