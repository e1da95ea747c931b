import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The faults against WCAG 2.2 AA that axe finds, each with its places. */
export async function violations(page: Page) {
  // Legacy mode is for a page without frames; what passes need not be described.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const result = await axe.withTags(TAGS).analyze()
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(' ')}`)
}
