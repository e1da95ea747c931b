import { isTRPCClientError } from '@trpc/client'
import type { AppRouter } from '../../server/http/router.ts'
import { messages, type Order } from '../../shared/order.ts'
import { currentSubmission, forgetSubmission, keepSubmission, type Submission } from './submission-key.ts'
import { trpc } from './trpc.ts'

const ANSWER_TIMEOUT_MS = 30_000

/**
 * Sends an order under the key of this filling of the form, so that a repeat is never a second order.
 *
 * 409 says that the key is stored with other content. After a try without an answer this means that the earlier
 * version did arrive and the visitor has changed it since: the changed one goes out at once under a key of its own.
 * Otherwise, as in a duplicated tab, it is told, and the next try has a new key.
 */
export async function sendOrder(order: Order) {
  const submission = currentSubmission()
  try {
    return await send(order, submission)
  } catch (error) {
    if (httpStatus(error) !== 409) throw error
    forgetSubmission()
    if (!submission.unanswered) throw error
    return send(order, currentSubmission())
  }
}

async function send(order: Order, { key, unanswered }: Submission) {
  keepSubmission({ key, unanswered: true })
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
    const answer = await trpc.order.submit.mutate({ ...order, submissionKey: key }, { signal })
    forgetSubmission()
    return answer
  } catch (error) {
    const status = httpStatus(error)
    const refused = status !== undefined && status >= 400 && status < 500
    if (refused) keepSubmission({ key, unanswered })
    throw error
  }
}

/** What the visitor is told: the server's own words if it answered, else that nothing was stored. */
export function failureMessage(error: unknown) {
  return httpStatus(error) === undefined || !(error instanceof Error) ? messages.failed : error.message
}

function httpStatus(error: unknown) {
  return isTRPCClientError<AppRouter>(error) ? error.data?.httpStatus : undefined
}
