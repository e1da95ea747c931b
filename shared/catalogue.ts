import { brand } from './brand.ts'

/** The brand's name, then a word of at most twelve letters that stands large beside the bottle; more words may follow. */
export const products = [`${brand.name} 300`, `${brand.name} XT`] as const
export const buyerTypes = ['Retailer', 'Self Use'] as const

export type Product = (typeof products)[number]
export type BuyerType = (typeof buyerTypes)[number]

/** In addresses. */
export function productSlug(product: string): string {
  return product.toLowerCase().replaceAll(' ', '-')
}

/** The form, which begins with this product. */
export function buyNowPath(product?: Product): string {
  return product ? `/buy-now?product=${productSlug(product)}` : '/buy-now'
}

/** The page of a product. */
export function productPath(product: Product): string {
  return `/products/${productSlug(product)}`
}
