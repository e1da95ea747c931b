import { buyerTypes, products } from '../../shared/catalogue.ts'
import type { Db } from '../database/database.ts'
import { EnquiryStatus } from '../database/generated/enums.ts'
import { memberName } from '../enquiries/enquiry.ts'
import { subtractAge } from './age.ts'
import { UsageError } from './command.ts'
import { indianDay } from './indian-day.ts'

export type EnquiryFilter = NonNullable<NonNullable<Parameters<Db['enquiry']['findMany']>[0]>['where']>

export interface Filters {
  from?: string | undefined
  to?: string | undefined
  /** A day, or an age such as 7d. */
  since?: string | undefined
  product?: string | undefined
  type?: string | undefined
  status?: string | undefined
}

export const statusNames = Object.values(EnquiryStatus)

export function toFilter({ from, to, since, product, type, status }: Filters): EnquiryFilter {
  const first = since === undefined ? from && indianDay(from).start : startOf(since)
  const end = to === undefined ? undefined : indianDay(to).end
  if (first && end && first >= end) throw new UsageError('--from is later than --to')
  return {
    receivedAt: { ...(first && { gte: first }), ...(end && { lt: end }) },
    ...(product !== undefined && { products: choice('--product', product, products) }),
    ...(type !== undefined && { retailerSelfUse: choice('--type', type, buyerTypes) }),
    ...(status !== undefined && { status: choice('--status', status, statusNames) }),
  }
}

function startOf(since: string): Date {
  return /^\d+[a-z]?$/i.test(since) ? subtractAge(new Date(), since) : indianDay(since).start
}

/** Prisma's member for a value as people write it. */
export function choice<Member extends string>(option: string, text: string, values: readonly string[]): Member {
  const value = values.find((each) => each.toLowerCase() === text.trim().toLowerCase())
  if (!value) throw new UsageError(`${option} must be one of: ${values.join(', ')}`)
  return memberName(value) as Member
}
