import { type Order, type OrderField, orderContentSchema } from '../../shared/order.ts'
import type { Enquiry as EnquiryRow } from '../database/generated/client.ts'

export type { EnquiryRow }

/** A stored enquiry. Its values read as in the form: `Self Use`, not `SelfUse`. */
export type Enquiry = Record<OrderField, string> & Pick<EnquiryRow, 'id' | 'reference' | 'receivedAt' | 'suspectedSpam'>

/** The columns of the form's fields in `Quvera_Form`, in the order in which staff read them. */
export const columns: Record<OrderField, string> = {
  name: 'Name',
  mobile: 'Mobile',
  email: 'Email',
  products: 'Products',
  quantity: 'Quantity',
  retailerSelfUse: 'RetailerSelfUse',
}
/** The names of the fields in mails and in `staff show`. */
export const fieldLabels = { ...columns, products: 'Product', retailerSelfUse: 'Buying for' }
export const enquiryFields = Object.keys(columns) as OrderField[]

export function toEnquiry(row: EnquiryRow): Enquiry {
  const fields = Object.fromEntries(enquiryFields.map((field) => [field, toFormValue(field, String(row[field]))]))
  return { ...row, ...(fields as Record<OrderField, string>) }
}

export function isSameOrder(row: EnquiryRow, order: Order): boolean {
  const enquiry = toEnquiry(row)
  return enquiryFields.every((field) => enquiry[field] === String(order[field]))
}

/** The members of the enums in schema.prisma have no spaces: `SelfUse` for `Self Use`. */
export function enumMember(value: string): string {
  return value.replaceAll(' ', '')
}

function toFormValue(field: OrderField, stored: string): string {
  const { def } = orderContentSchema.shape[field]
  const options: string[] = def.type === 'enum' ? Object.values(def.entries) : []
  return options.find((option) => enumMember(option) === stored) ?? stored
}
