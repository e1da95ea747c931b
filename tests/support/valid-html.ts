import type { Page } from '@playwright/test'
import { HtmlValidate } from 'html-validate'

const validator = new HtmlValidate({ extends: ['html-validate:standard'] })

/** What is wrong with the HTML of a document. */
export async function faultsOf(source: string) {
  const { results } = await validator.validateString(source)
  const found = results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, selector }) => `${ruleId}: ${message} (${selector})`),
  )
  // The W3C's checker finds these two as well.
  const more = source.match(/<svg[^>]*\shidden|(?:href|src)="data:[^"]*\s[^"]*"/g) ?? []
  return [...found, ...more]
}

/** The document as the scripts have left it. */
export const current = (page: Page) => page.evaluate(() => `<!DOCTYPE html>${document.documentElement.outerHTML}`)
