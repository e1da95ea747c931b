import { type Order, type OrderField, orderContentSchema } from '../../shared/order.ts'
import type { Db } from '../database/database.ts'
import type { Enquiry as EnquiryRow } from '../database/generated/client.ts'

export type { EnquiryRow }

/** A stored enquiry with its fields in the words of the form. */
export type Enquiry = Record<OrderField, string> & Pick<EnquiryRow, 'id' | 'reference' | 'receivedAt' | 'suspectedSpam'>

/** The fields with their columns in `Quvera_Form`, in the order in which staff read them. */
export const columns: Record<OrderField, string> = {
  name: 'Name',
  mobile: 'Mobile',
  email: 'Email',
  products: 'Products',
  quantity: 'Quantity',
  retailerSelfUse: 'RetailerSelfUse',
}
export const enquiryFields = Object.keys(columns) as OrderField[]

export function toEnquiry(row: EnquiryRow): Enquiry {
  const fields = Object.fromEntries(enquiryFields.map((field) => [field, formText(field, String(row[field]))]))
  return { ...row, ...(fields as Record<OrderField, string>) }
}

/** Whether an order asks for just what is stored. */
export function isSameOrder(row: EnquiryRow, order: Order): boolean {
  return enquiryFields.every((field) => formText(field, String(row[field])) === String(order[field]))
}

/** Prisma names the members of an enum as the database's values without their spaces: `SelfUse` for `Self Use`. */
export function enumMember(value: string): string {
  return value.replaceAll(' ', '')
}

/** The words of the form for a value as it is stored. */
export function formText(field: OrderField, stored: string): string {
  const { def } = orderContentSchema.shape[field]
  const options: string[] = def.type === 'enum' ? Object.values(def.entries) : []
  return options.find((option) => enumMember(option) === stored) ?? stored
}

/** The enquiry that has waited longest for somebody to set its status; undefined when none is New. */
export async function readOldestNew(db: Db) {
  const oldest = await db.enquiry.findFirst({ where: { status: 'New' }, orderBy: { receivedAt: 'asc' } })
  if (!oldest) return undefined
  const seconds = Math.max(0, Math.round((Date.now() - oldest.receivedAt.getTime()) / 1000))
  return { reference: oldest.reference, seconds }
}
