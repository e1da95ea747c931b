import { quvera300 } from '../content/quvera-300.ts'
import { productPage } from './product-page.tsx'

export const quvera300Page = productPage(quvera300)
