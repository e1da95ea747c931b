import { brand } from './brand.ts'

/** The last word is what tells a product from the others; its content is the file of that name in `client/content/products/`. */
export const products = [`${brand.name} 300`, `${brand.name} XT`] as const
export const buyerTypes = ['Retailer', 'Self Use'] as const

export type Product = Fitting<(typeof products)[number]>
export type BuyerType = (typeof buyerTypes)[number]

/** In addresses. */
export function productSlug(product: Product): string {
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

type LettersMax = '............'

/** A longer name does not fit beside its bottle: then this is another type, and nothing compiles. */
type Fitting<Name> = Name extends `${typeof brand.name} ${infer Own}`
  ? IsWithin<Own, LettersMax> extends true
    ? Name
    : 'The name of a product: that of the brand, a space, and at most 12 letters'
  : never

type IsWithin<Text, Room> = Text extends `${string}${infer More}`
  ? Room extends `.${infer Left}`
    ? IsWithin<More, Left>
    : false
  : true
