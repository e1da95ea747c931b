import { brand } from '../../shared/brand.ts'
import { type Product, productPath, products } from '../../shared/catalogue.ts'
import type { Refused } from '../../shared/form-outcome.ts'
import { compositions, type LabelLine } from '../content/compositions.ts'
import { placeName, socialLinks, telephone } from '../content/contact.ts'
import { buyNow } from '../content/enquiry-form.ts'
import { SubscribeForm } from '../newsletter/subscribe-form.tsx'
import { Island } from '../ui/island.tsx'
import { Logo } from '../ui/logo.tsx'

/** The longest list of ingredients: its colours are shown on pages without a product. */
const longest = Object.values<Record<string, LabelLine>>(compositions).reduce((most, each) =>
  Object.keys(each).length > Object.keys(most).length ? each : most,
)

interface FooterProps {
  /** The page to which the form is sent without scripts. */
  path: string
  /** The product of the page. */
  product: Product | undefined
  hasSubscribeForm: boolean
  /** The refusal of an address sent without scripts. */
  refused: Refused | undefined
}

export function Footer({ path, product, hasSubscribeForm, refused }: FooterProps) {
  return (
    <footer className="site-footer on-leaf">
      {/* The colours of the ingredients. */}
      <div className="colour-bar" aria-hidden>
        {Object.values<LabelLine>(product ? compositions[product] : longest).map(({ name, hue }) => (
          <i key={name} data-hue={hue} />
        ))}
      </div>
      <div className="wrap footer-grid">
        <section id="contact" className="contact" aria-labelledby="contact-title">
          <h2 id="contact-title">Contact Us</h2>
          <p className="contact-lines">
            <a href={telephone}>{brand.phone}</a>
            <a href={`mailto:${brand.email}`}>{brand.email}</a>
          </p>
          <address>
            {brand.company}, {brand.address.street}
            <br />
            {placeName}, {brand.address.country}
          </address>
        </section>
        {brand.newsletter && hasSubscribeForm && (
          <Island name="subscribe" of={SubscribeForm} props={{ path, refused }} />
        )}
        <nav className="footer-links" aria-label="Footer">
          <ul>
            {products.map((each) => (
              <li key={each}>
                <a href={productPath(each)}>{each}</a>
              </li>
            ))}
            <li>
              <a href="/buy-now">{buyNow.title}</a>
            </li>
          </ul>
          {socialLinks.length > 0 && (
            <ul>
              {socialLinks.map(({ name, href }) => (
                <li key={name}>
                  <a href={href} rel="noopener">
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          )}
        </nav>
        <div className="imprint">
          <Logo />
          <p>
            © <span data-year>{new Date().getFullYear()}</span> {brand.company}
          </p>
          <p>
            <a href="/privacy-policy">Privacy Policy</a>
          </p>
        </div>
      </div>
    </footer>
  )
}
