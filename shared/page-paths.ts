import { productPath, products } from './catalogue.ts'

/** The pages with an order form. */
export const orderPaths: readonly string[] = ['/', '/buy-now']

/** Every page a visitor can look for. */
export const pagePaths: readonly string[] = ['/', ...products.map(productPath), '/buy-now', '/privacy-policy']

/** Where a form leads that was sent without scripts. */
export const RECEIVED_PATH = '/received'
export const SUBSCRIBED_PATH = '/subscribed'
