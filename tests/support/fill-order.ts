import type { Page } from '@playwright/test'
import type { OrderField } from '../../shared/order.ts'
import { exampleOrder } from '../../shared/order.ts'

/** The form filled in, field by field, as it is typed. */
export const typedOrder = Object.fromEntries(
  Object.entries({ ...exampleOrder, quantity: 5 }).map(([field, value]) => [field, String(value)]),
) as Record<OrderField, string>

/** For a visitor whom no other test knows. */
export const anAddress = () => `${crypto.randomUUID()}@shop.example`

/** Fills the order form as a visitor would, or another form that has its fields. */
export async function fillOrder(page: Page, changes: Partial<typeof typedOrder> = {}, form = '#order'): Promise<void> {
  for (const [name, value] of Object.entries({ ...typedOrder, ...changes })) {
    const field = page.locator(`${form} [name=${name}]`)
    if (['retailerSelfUse', 'products'].includes(name)) await field.selectOption(value)
    else await field.fill(value)
  }
}

export function sendButton(page: Page) {
  return page.getByRole('button', { name: 'Send enquiry' })
}

export function toastOf(page: Page, message: string) {
  return page.locator('.Toastify__toast', { hasText: message }).first()
}
