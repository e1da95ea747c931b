import { brand } from './brand.ts'

export const products = [`${brand.name} 300`, `${brand.name} XT`] as const
export const buyerTypes = ['Retailer', 'Self Use'] as const

export type Product = (typeof products)[number]
export type BuyerType = (typeof buyerTypes)[number]

/** The page of each product. */
export const productPaths: Record<Product, string> = {
  [products[0]]: `/products/${slug(products[0])}`,
  [products[1]]: `/products/${slug(products[1])}`,
}

function slug(product: Product) {
  return product.toLowerCase().replace(' ', '-')
}
