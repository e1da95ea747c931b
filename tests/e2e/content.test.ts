// Each page says all that the owner wants in its HTML and makes no claim, and the site can be used without JavaScript.
import { expect, it } from 'vitest'
import { medicineCautions } from '../../client/content/cautions.ts'
import { compositions } from '../../client/content/compositions.ts'
import { notAPurchase } from '../../client/content/enquiry-form.ts'
import { home } from '../../client/content/home.ts'
import { brand } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { orderPaths } from '../../shared/page-paths.ts'
import { PHONE, paths, siteForTests } from '../support/visit.ts'

const { fetch, html, visit } = siteForTests()

/** What a reader sees without scripts: no tags, no data blocks, one space between words. */
async function text(path: string) {
  return (await html(path))
    .replace(/<script[\s\S]*?<\/script>|<title[\s\S]*?<\/title>/g, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&amp;', '&')
    .replaceAll('&#x27;', '’')
    .replace(/\s+/g, ' ')
}

/** Phrases of the owner, parted by semicolons. */
const phrases = (listed: string) => listed.split(/;\s+/)

const shared = [
  ...phrases('Home; Products; Contact Us; Buy Now; Privacy Policy'),
  ...(brand.newsletter ? ['Subscribe'] : []),
  brand.phone,
  brand.address.city,
]
const product = phrases(`Revitalize your health with precision formulation; Product Description; Mechanism Of Action;
  Salt Composition; Dosage & Instructions; Indications; Safety Information; Please read before use;
  not meant to diagnose, treat, cure or prevent any disease; Allergies; Pregnancy and lactation; Renal health; Liver health`)

it.each([
  ['/', [home.title, ...phrases('buy now; Our Products; Learn More; Retailer; Self Use')]],
  [
    productPath(products[0]),
    phrases(`Overview; CoQ10; Omega-3; Lycopene; Coenzyme Q10 300 mg; Omega-3 Fatty Acids 250 mg;
      Lycopene (10%) 5000 mcg; Dosage; Instructions; Storage; General Instructions; Cardiovascular Health;
      Oncological Health; Neurological Health; Gynaecological Health; General surgeon; Alcohol; dialysis`),
  ],
  [
    productPath(products[1]),
    phrases(`Cardiovascular Health; Gynaecology; Oncology; General Surgery; Macular Degeneration / Ophthalmology;
      Macular Degeneration (Ophthalmology); EPA and DHA; Selenium; Zinc; Mixed Carotene;
      Ubiquinone (Coenzyme Q10) 100 mg; Lycopene 5000 mcg; Omega-3 EPA 90 mg DHA 60 mg; Mixed Carotene 10% 10.33 mg;
      Wheat Germ Oil 25 mg; Calcium Ascorbate 75 mcg; Piperine 5 mg; Vitamin B12 5 mcg;
      Selenium Dioxide Monohydrate 75 mcg; Zinc Sulphate Monohydrate 27.45 mg;
      As Directed by Physician; Administration; swallow it whole with water; away from sunlight and moisture;
      out of reach of children; Migraine; Headache; Parkinson’s; Alzheimer’s; Stroke; Heart failure; Atherosclerosis;
      Cardiotoxicity; Hypertension; Arrhythmia; Angina pectoris; Prostate; Colorectal; Brain cancer; Infertility;
      gynaecological conditions; Convalescence; Macular degeneration; Alcohol consumption`),
  ],
  ['/buy-now', [...phrases('Name; Email; Mobile; Quantity; Retailer; Self Use'), ...products]],
  [
    '/privacy-policy',
    phrases(`Information collected; How it is used; Data security; Rights of access and correction; Policy changes;
      Contact details; cookies; usage data; Data Protection Board; 24 months; Resend`),
  ],
])('%s says all that the owner wants in its HTML', async (path, wanted) => {
  const said = await text(path)
  const all = [...shared, ...wanted, ...(path.startsWith('/products/') ? product : [])]
  expect(all.filter((part) => !said.includes(part))).toEqual([])
})

it('a page warns of what its product holds, and of nothing else', async () => {
  expect(await text(productPath(products[0]))).not.toMatch(/wheat/i)
  expect(await text(productPath(products[1]))).toContain('wheat germ oil comes from wheat; check the pack')
})

it('pages say what the products are, whom to ask first, and that they are not for medicinal use', async () => {
  for (const path of orderPaths) expect(await text(path)).toMatch(/health supplement[\s\S]*physician/i)
  for (const name of products)
    expect(await text(productPath(name))).toMatch(/Ask your physician\. It is not for medicinal use/)
})

it('before the form stands that it is no purchase, whom to call, and after it that price and pack size are settled', async () => {
  for (const path of orderPaths) {
    const said = await text(path)
    expect(said.indexOf(notAPurchase)).toBeLessThan(said.indexOf('10 digits'))
    expect(said).toMatch(/Rather call\? .*Name .*price, pack size, availability and delivery/)
  }
})

it.each(products)(
  'every ingredient of %s has a row on the label and a place in the mechanism; the safety begins with other medicines',
  async (name) => {
    const { page } = await visit(productPath(name), { reducedMotion: 'reduce' })
    const dead = await page
      .locator('main a[href^="#"]')
      .evaluateAll((links) =>
        links.map((link) => link.getAttribute('href') ?? '').filter((href) => !document.querySelector(href)),
      )
    expect(dead).toEqual([])
    const keys = Object.keys(compositions[name])
    for (const key of keys) {
      const href = `[href="#label-${key}"]`
      expect(await page.locator(`.mechanism .slides ${href}, .also-on-label ${href}`).count(), key).toBeGreaterThan(0)
      expect(await page.locator(`.label-links ${href}`).count(), key).toBe(1)
      expect(await page.locator(`#label-${key} + .about a:is([href^="#slide-"], [href="#also"])`).count(), key).toBe(1)
    }
    const first = page.locator('.safety > li').first()
    const said = await first.innerText()
    expect(said).toMatch(/^Other medicines\n/)
    for (const { name: ingredient, caution } of medicineCautions(name))
      expect(said).toContain(`${ingredient}: ${caution}`)
    expect(said).toMatch(/blood thinner/)
    // Every caution has the size of the text, wherever it stands.
    const sizes = await page
      .locator('.caution, .about strong, .safety p, .advisory p')
      .evaluateAll((parts) => [...new Set(parts.map((part) => getComputedStyle(part).fontSize))])
    expect(sizes).toEqual([await page.evaluate(() => getComputedStyle(document.body).fontSize)])
  },
)

it('no page makes a claim, and no disease stands outside the Indications', async () => {
  const heads = await Promise.all(
    paths.map(async (path) => {
      const page = await html(path)
      const head = page.slice(0, page.indexOf('</head>'))
      return head + [...page.matchAll(/ alt="([^"]*)"/g)].map((match) => match[1]).join(' ')
    }),
  )
  expect(heads.join(' ')).not.toMatch(/cancer|stroke|migraine|hypertension|infertil|alzheimer|parkinson|degeneration/i)
  const all = (await Promise.all(paths.map(text))).join(' ')
  expect(all).not.toMatch(/clinically|proven|guarantee|₹|% off|boosts?\b|prevents\b|improves\b/i)
  expect(all).not.toMatch(/every ingredient|full composition|exact amount|physician may advise|alongside the care/i)
  expect(all).not.toMatch(/each dose|in a dose|strength of the/i) // the owner has not said what a dose is
  expect(all).not.toMatch(/\bsafe (?:to|for|with)|the maker/i) // we are the maker, and nothing is called safe
})

it.each(paths)('%s is found and shared under its own name', async (path) => {
  const page = await html(path)
  const head = page.slice(0, page.indexOf('</head>'))
  expect(head.match(/<title>[^<]+<\/title>/g)).toHaveLength(1)
  expect(head).toMatch(/<meta name="description" content="[^"]{50,200}"/)
  expect(head).toMatch(new RegExp(`<link rel="canonical" href="http://localhost:\\d+${path}"`)) // PUBLIC_URL is not set
  const [, card = ''] = /property="og:image" content="https?:\/\/[^"/]+(\/[^"]+\.jpg)"/.exec(head) ?? []
  expect((await fetch(card)).headers.get('content-type')).toBe('image/jpeg')
  expect(card.includes('/og-')).toBe(path.startsWith('/products/'))
  expect(head).not.toContain('public-url.invalid')
  const data = JSON.parse(/ld\+json">(.+?)<\/script>/.exec(head)?.[1] ?? '')
  expect(JSON.stringify(data)).not.toMatch(/offers|rating|indication/i)
  const types = data['@graph'].flatMap((each: { '@type': string | string[] }) => each['@type'])
  const ofProduct = path.startsWith('/products/') ? ['Product', 'DietarySupplement'] : []
  expect(types).toEqual([path === '/' ? 'Organization' : 'BreadcrumbList', ...ofProduct])
  expect(page.match(/<h1/g)).toHaveLength(1)
  // The content security policy refuses what is inline.
  expect(page.replace(/<script type="(application\/ld\+json|speculationrules)">.*?<\/script>/g, '')).not.toMatch(
    /<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+="/,
  )
})

it('every title and description is its own', async () => {
  const heads = await Promise.all(paths.map(html))
  for (const pattern of [/<title>([^<]+)/, /name="description" content="([^"]+)/])
    expect(new Set(heads.map((head) => pattern.exec(head)?.[1])).size).toBe(paths.length)
})

it('without JavaScript the site reads and leads on, and its amounts are large', async () => {
  const { page } = await visit(productPath(products[1]), { ...PHONE, javaScriptEnabled: false })
  await page.getByText('The cards say what a substance is').waitFor()
  for (const all of ['Selenium is a trace element', 'do not add other selenium without advice', 'Convalescence'])
    expect(await page.getByText(all, { exact: false }).first().isVisible(), all).toBe(true)
  const faces = await page.locator('.amount').evaluateAll((amounts) =>
    amounts.map((amount) => {
      const { fontSize, fontFamily } = getComputedStyle(amount)
      return Number.parseFloat(fontSize) >= 20 && fontFamily.startsWith('Figtree,')
    }),
  )
  expect(faces.length).toBeGreaterThan(10)
  expect(faces).not.toContain(false)
  await page.getByRole('main').getByRole('link', { name: 'Buy Now' }).first().click()
  expect(new URL(page.url()).pathname).toBe('/buy-now')
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('banner').getByRole('link', { name: products[0] }).click()
  expect(new URL(page.url()).pathname).toBe(productPath(products[0]))
})
