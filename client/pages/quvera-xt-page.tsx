import { quveraXt } from '../content/quvera-xt.ts'
import { productPage } from './product-page.tsx'

export const quveraXtPage = productPage(quveraXt)
