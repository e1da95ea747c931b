import { brand } from '../../shared/brand.ts'
import { type Product, productPath, products } from '../../shared/catalogue.ts'
import { compositions, type LabelLine } from '../content/compositions.ts'
import { placeName, socialLinks, telephone } from '../content/contact.ts'
import { SubscribeForm } from '../enquiry/subscribe-form.tsx'
import { Logo } from '../ui/logo.tsx'
import { Still } from '../ui/still.tsx'

/** Whose colours stand for all. */
const LONGEST = products[1]

interface FooterProps {
  /** Where the subscription goes when it is sent without scripts. */
  path: string
  /** What the page is about. */
  product: Product | undefined
}

export function Footer({ path, product }: FooterProps) {
  return (
    <footer className="site-footer on-leaf">
      <Still id="colours" className={product ? 'colour-bar named' : 'colour-bar'} aria-hidden>
        {import.meta.env.IN_FULL && <Colours product={product} />}
      </Still>
      <div className="wrap footer-grid">
        <Still as="section" id="contact" className="contact" aria-labelledby="contact-title">
          {import.meta.env.IN_FULL && <Contact />}
        </Still>
        <SubscribeForm path={path} />
        <Still as="nav" id="footer-links" className="footer-links" aria-label="Footer">
          {import.meta.env.IN_FULL && <Links />}
        </Still>
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

function Contact() {
  return (
    <>
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
    </>
  )
}

function Links() {
  return (
    <>
      <ul>
        {products.map((each) => (
          <li key={each}>
            <a href={productPath(each)}>{each}</a>
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
    </>
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

/** The strip of colours that printers put on the edge of a sheet: the ingredients', with their names where the page is about them. */
function Colours({ product }: { product: Product | undefined }) {
  return Object.values<LabelLine>(compositions[product ?? LONGEST]).map(({ name, hue }) => (
    <i key={name} data-hue={hue}>
      {product && name}
    </i>
  ))
}
