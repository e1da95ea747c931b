import { brand } from '../../shared/brand.ts'
import { productPath, products } from '../../shared/catalogue.ts'
import { RECEIVED_PATH } from '../../shared/form-outcome.ts'
import { NOT_FOUND_PATH, SUBSCRIBED_PATH, SUBSCRIPTION_PATH } from '../../shared/page-paths.ts'
import { productCount } from './home.ts'

const LETTERS = { least: 50, most: 200 }

/** The description of each page, for search engines and shared links. In a file of its own, so that no script carries it. */
const descriptions: Record<string, string> = {
  '/': `${productCount} health supplements from ${brand.company}, ${brand.address.city}: ${products.slice(0, -1).join(', ')} and ${products.at(-1)}. Every ingredient, every amount, in full. Enquire online.`,
  [productPath(products[0])]:
    `${products[0]} by ${brand.company}: Coenzyme Q10 300 mg, Omega-3 Fatty Acids 250 mg and Lycopene (10%) 5000 mcg. Full composition, directions and safety information.`,
  [productPath(products[1])]:
    `${products[1]} by ${brand.company}: ten ingredients, from Coenzyme Q10 and omega-3 to selenium and zinc, each with its exact amount. Full composition, directions and safety information.`,
  '/buy-now': `Send an enquiry for ${products.join(' or ')}. You get a reference right away, and our team replies by phone or email.`,
  '/privacy-policy': `What personal data ${brand.company} asks for, how we use it, how long we keep it, and your rights.`,
  [RECEIVED_PATH]: 'Your enquiry has arrived. Here is its reference, and what happens next.',
  [SUBSCRIBED_PATH]: `News from ${brand.company} by email, now and then: what happens after you subscribe.`,
  [SUBSCRIPTION_PATH]: `News from ${brand.company} by email: here you confirm your subscription, or end it.`,
  [NOT_FOUND_PATH]: 'There is no page at this address. The home page leads on to all that there is.',
}

/** @throws Error where a page has none, or one of another length than search engines show */
export function descriptionOf(path: string): string {
  const text = descriptions[path] ?? ''
  if (text.length < LETTERS.least || text.length > LETTERS.most)
    throw new Error(
      `client/content/descriptions.ts: the page ${path} needs a description of ${LETTERS.least} to ${LETTERS.most} letters, not ${text.length}`,
    )
  return text
}
