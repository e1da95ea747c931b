import { brand, postalAddress } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { socialLinks, telephone } from '../content/contact.ts'
import type { Composition } from '../content/product.ts'
import { SubscribeForm } from '../enquiry/subscribe-form.tsx'
import { Logo } from '../ui/logo.tsx'
import { ColourBar } from './colour-bar.tsx'

interface FooterProps {
  /** Where the subscription goes when it is sent without scripts. */
  path: string
  /** Of the product that the page is about. */
  rows: Composition['rows'] | undefined
}

export function Footer({ path, rows }: FooterProps) {
  return (
    <footer className="site-footer on-leaf">
      <ColourBar rows={rows} />
      <div className="wrap footer-grid">
        <section id="contact" className="contact" aria-labelledby="contact-title">
          <h2 id="contact-title">Contact Us</h2>
          <p className="contact-lines">
            <a href={telephone}>{brand.phone}</a>
            <a href={`mailto:${brand.email}`}>{brand.email}</a>
          </p>
          <address>{postalAddress}</address>
        </section>
        <SubscribeForm path={path} />
        <nav aria-label="Footer" className="footer-links">
          <ul>
            {products.map((product) => (
              <li key={product}>
                <a href={productPath(product)}>{product}</a>
              </li>
            ))}
            <li>
              <a href="/buy-now">Buy Now</a>
            </li>
          </ul>
          <ul>
            {socialLinks.map(({ name, href }) => (
              <li key={name}>
                <a href={href} rel="noopener">
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="imprint">
          <Logo />
          <p>
            © <CurrentYear /> {brand.company}
          </p>
          <p>
            <a href="/privacy-policy">Privacy Policy</a>
          </p>
        </div>
      </div>
    </footer>
  )
}

/** The page holds the year in which it was built; it is set right where it is read. */
function CurrentYear() {
  const year = String(new Date().getFullYear())
  return (
    <span
      suppressHydrationWarning
      ref={(place) => {
        if (place && place.textContent !== year) place.textContent = year
      }}
    >
      {year}
    </span>
  )
}
