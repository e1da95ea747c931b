import type { Page } from '@playwright/test'
import { products } from '../../shared/catalogue.ts'

const filled = {
  name: 'Asha Verma',
  email: 'asha.verma@shop.example',
  mobile: '9876543210',
  quantity: '5',
  retailerSelfUse: 'Retailer',
  products: products[0] as string,
}

/** Fills the order form as a visitor would. */
export async function fillOrder(page: Page, changes: Partial<typeof filled> = {}): Promise<void> {
  for (const [name, value] of Object.entries({ ...filled, ...changes })) {
    const field = page.locator(`#order [name=${name}]`)
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
