import { readOrderFields } from '../../shared/form-fields.ts'
import { firstProblem, orderSchema } from '../../shared/order.ts'
import { currentKey } from './submission-key.ts'

/** What the visitor typed, checked by the same rules as on the server. */
export function readOrder(data: FormData) {
  const result = orderSchema.safeParse({
    ...readOrderFields(data),
    submissionKey: currentKey().key,
    // The form is shown with the page, which the stopwatch of the browser counts from.
    filledInMs: Math.round(performance.now()),
  })
  return result.success ? { order: result.data } : { problem: firstProblem(result.error) }
}
