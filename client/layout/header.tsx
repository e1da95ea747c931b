import { brand } from '../../shared/brand.ts'
import { buyNowPath, type Product } from '../../shared/catalogue.ts'
import type { Ground } from '../content/product.ts'
import { Logo } from '../ui/logo.tsx'
import { MobileMenu, ProductsMenu } from './menus.tsx'
import { PageLink } from './page-link.tsx'

interface HeaderProps {
  path: string
  ground: Ground
  /** What the page is about: the form begins with it. */
  product?: Product | undefined
}

/** Its scrolled style hangs on `data-scrolled`, which `main.ts` keeps, so that it works before React is there. */
export function Header({ path, ground, product }: HeaderProps) {
  return (
    <header className="site-header" data-ground={ground}>
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
    </header>
  )
}
