import { messages, type Problem } from '../../shared/order.ts'
import { emptyHints, ruleHints } from '../content/sending.ts'

/** What stands under each field that breaks a rule. */
export function fieldMarks({ fields }: Problem): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([field, message]) => [field, hint(message, field)]))
}

function hint(message: string, field: string) {
  if (message === messages.empty) return emptyHints[field] ?? message
  return Object.entries(ruleHints).find(([rule]) => rule === message)?.[1] ?? message
}
