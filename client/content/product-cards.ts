import { type Product, products } from '../../shared/catalogue.ts'
import type { ProductCard } from './product.ts'

export const productCards: Record<Product, ProductCard> = {
  [products[0]]: {
    picture: 'quvera-300',
    ground: 'sand',
    ...(import.meta.env.IN_FULL && {
      alt: `A bottle of ${products[0]} in amber glass with an orange cap, softgel capsules before it`,
      line: 'Three ingredients, each one named and measured.',
    }),
  },
  [products[1]]: {
    picture: 'quvera-xt',
    ground: 'leaf',
    ...(import.meta.env.IN_FULL && {
      alt: `A bottle of ${products[1]} in amber glass with a dark green cap, green and cream capsules before it`,
      line: 'Ten ingredients, from ubiquinone to zinc.',
    }),
  },
}
