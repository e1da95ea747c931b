import { brand } from '../../shared/brand.ts'
import { type Product, products } from '../../shared/catalogue.ts'

/** For search engines and shared links. Beside the pages' content, so that no script carries them. */
export const productDescriptions: Record<Product, string> = {
  [products[0]]: `${products[0]} by ${brand.company}: Coenzyme Q10 300 mg, Omega-3 Fatty Acids 250 mg and Lycopene (10%) 5000 mcg. Full composition, directions and safety information.`,
  [products[1]]: `${products[1]} by ${brand.company}: ten ingredients, from Coenzyme Q10 and omega-3 to selenium and zinc, each with its exact amount. Full composition, directions and safety information.`,
}
