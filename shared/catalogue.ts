import { brand } from './brand.ts'

/** Each name is the brand, a space and a word of at most twelve letters, which is shown large; more words may follow. */
export const products = [`${brand.name} 300`, `${brand.name} XT`] as const
export const buyerTypes = ['Retailer', 'Self Use'] as const

export type Product = (typeof products)[number]

export function productSlug(product: string): string {
  return product.toLowerCase().replaceAll(' ', '-')
}

/** What somebody who has asked for one product may also want. */
export function otherProduct(product: string | undefined): Product | undefined {
  return products.find((other) => other !== product)
}

export function buyNowPath(product?: Product): string {
  return product ? `/buy-now?product=${productSlug(product)}` : '/buy-now'
}

export function productPath(product: string): string {
  return `/products/${productSlug(product)}`
}

/** The part of a product's page that has its label, with the sheet for the physician. */
export const COMPOSITION_ID = 'composition'
