import type { BuyerType, Product } from '../../shared/catalogue.ts'

/** An enquiry as `Quvera_Form` holds it. */
export interface Enquiry {
  id: string
  reference: string
  receivedAt: Date
  name: string
  email: string
  mobile: string
  quantity: bigint
  retailerSelfUse: BuyerType
  products: Product
  suspectedSpam: boolean
}
