import { renderToStaticMarkup } from 'react-dom/server'
import { brand, palette } from '../shared/brand.ts'
import { productSlug, products } from '../shared/catalogue.ts'
import { PUBLIC_URL_PLACEHOLDER, speculationRules } from '../shared/page-paths.ts'
import { advisory, PRODUCT_CLASS } from './content/advisory.ts'
import type { ProductContent } from './content/product.ts'
import favicon from './favicon.svg?raw'
import figtree from './fonts/figtree.woff2?url'
import fraunces from './fonts/fraunces.woff2?url'
import { inPalette } from './icon.ts'
import type { Page } from './pages/page.ts'

/** The part of a page's head that index.html does not hold. */
export function renderHead(page: Page): string {
  return renderToStaticMarkup(<Head page={page} />) + dataBlocks(page)
}

const icon = `data:image/svg+xml,${inPalette(favicon)
  .trim()
  .replace(/[#<>" ]/g, encodeURIComponent)}`

function Head({ page }: { page: Page }) {
  const { ground = 'paper', description, lang = 'en' } = page
  const title = page.path === '/' ? `${brand.name}: ${page.title}` : `${page.title} | ${brand.name}`
  const product = page.content?.product
  const card = product ? `og-${productSlug(product)}` : 'og'
  const url = PUBLIC_URL_PLACEHOLDER + page.path
  return (
    <>
      <title>{title}</title>
      <meta name="description" content={description} />
      {page.unlisted ? <meta name="robots" content="noindex" /> : <link rel="canonical" href={url} />}
      {/* Inline: a request would delay the first picture. */}
      <link rel="icon" href={icon} type="image/svg+xml" />
      <link rel="icon" href="/favicon.ico" sizes="32x32" />
      <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
      {[fraunces, figtree].map((font) => (
        <link key={font} rel="preload" href={font} as="font" type="font/woff2" crossOrigin="anonymous" />
      ))}
      {/* With both words browsers invert no colours: pictures and grounds belong together. */}
      <meta name="color-scheme" content="only light" />
      <meta name="theme-color" content={palette[ground === 'lycopene' ? 'paper' : ground]} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={brand.name} />
      <meta property="og:locale" content={`${lang}_IN`} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:url" content={url} />
      <meta property="og:image" content={`${PUBLIC_URL_PLACEHOLDER}${import.meta.env.PICTURES_FOLDER}/${card}.jpg`} />
      <meta property="og:image:width" content="1200" />
      <meta property="og:image:height" content="630" />
      <meta property="og:image:alt" content={product ?? products.join(' and ')} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  )
}

/** JSON-LD without offers, ratings or indications, and the speculation rules, whose hash the content security policy names. */
function dataBlocks(page: Page) {
  if (page.hasNoScripts) return ''
  const rules = `<script type="speculationrules">${speculationRules}</script>`
  if (page.unlisted) return rules
  const { content } = page
  const graph = [page.path === '/' ? organization() : breadcrumbs(page), ...(content ? [product(page, content)] : [])]
  const json = JSON.stringify({ '@context': 'https://schema.org', '@graph': graph }).replaceAll('<', '\\u003c')
  return `<script type="application/ld+json">${json}</script>${rules}`
}

const COMPANY = { '@type': 'Organization', '@id': `${PUBLIC_URL_PLACEHOLDER}/#organization` }

function organization() {
  const { street, city, postalCode, country } = brand.address
  return {
    ...COMPANY,
    name: brand.company,
    url: `${PUBLIC_URL_PLACEHOLDER}/`,
    logo: `${PUBLIC_URL_PLACEHOLDER}/icon-512.png`,
    address: {
      '@type': 'PostalAddress',
      streetAddress: street,
      addressLocality: city,
      postalCode,
      addressCountry: country,
    },
    contactPoint: {
      '@type': 'ContactPoint',
      contactType: 'customer service',
      telephone: brand.phone,
      email: brand.email,
    },
    sameAs: Object.values<string>(brand.social).filter(Boolean),
  }
}

function product(page: Page, content: ProductContent) {
  return {
    '@type': ['Product', 'DietarySupplement'],
    name: content.product,
    description: page.description,
    url: PUBLIC_URL_PLACEHOLDER + page.path,
    category: PRODUCT_CLASS,
    brand: { '@type': 'Brand', name: brand.name },
    manufacturer: COMPANY,
    activeIngredient: content.composition.rows.map(({ name, amount }) => `${name} ${amount.replace('\n', ', ')}`),
    recommendedIntake: { '@type': 'RecommendedDoseSchedule', name: Object.values(content.dosage)[0] },
    safetyConsideration: advisory.paragraphs(content.product).slice(1).join(' '),
  }
}

function breadcrumbs(page: Page) {
  return {
    '@type': 'BreadcrumbList',
    itemListElement: [
      { '@type': 'ListItem', position: 1, name: 'Home', item: `${PUBLIC_URL_PLACEHOLDER}/` },
      { '@type': 'ListItem', position: 2, name: page.title, item: PUBLIC_URL_PLACEHOLDER + page.path },
    ],
  }
}
