import { brand, postalAddress } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { socialLinks, telephone } from '../content/contact.ts'
import type { Composition } from '../content/product.ts'
import { SubscribeForm } from '../enquiry/subscribe-form.tsx'
import { Logo } from '../ui/logo.tsx'

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

const HUES = ['lycopene', 'orange', 'amber', 'gold', 'wheat', 'rose', 'slate', 'zinc']

/** The strip of colours that printers put on the edge of a sheet; here the ingredients', with their names where they are a product's. */
function ColourBar({ rows }: { rows: Composition['rows'] | undefined }) {
  return (
    <div className={rows ? 'colour-bar named' : 'colour-bar'} aria-hidden="true">
      {rows
        ? rows.map(({ name, hue }) => (
            <i key={name} data-hue={hue}>
              {name}
            </i>
          ))
        : HUES.map((hue) => <i key={hue} data-hue={hue} />)}
    </div>
  )
}
