import { brand } from '../../shared/brand.ts'
import { messages, type Problem } from '../../shared/order.ts'

/* Messages about sending. In the browser they load with the form. */

/** Stands under an empty field, or a list from which nothing was chosen. */
export const emptyFieldError = 'This is still missing.'

/** Stands under a wrong email address. */
export const emailFieldError = `${messages.email}. It should look like name@example.com.`

/** Alone at the limit of a day, whose message says when to try again. */
export const notStored = 'We could not save your enquiry. Everything you typed is still here.'

export const notStoredRetry = `${notStored} Please send it again, or call ${brand.phone}.`

/** After a minute without any answer, or when the database did not answer the server. */
export const uncertain = `Something went wrong on the way: your enquiry may or may not have reached us. Everything you typed is still here. Sent again unchanged from this page, it counts only once. You can also call ${brand.phone}.`

/** Without scripts, when the server answered before it read the form. */
export const goBack = `The form was not read. Go back in your browser: what you typed is still there. You can also call ${brand.phone}.`

/** Said while an enquiry is under way and the network is weak. */
export const progressTexts = {
  offline:
    'You are offline. Nothing you typed is lost: your enquiry goes out as soon as you are back online. Please keep this page open.',
  slow: 'This is taking longer than usual. Your enquiry is still being sent. Please keep this page open.',
  again: (attempt: number) => `No answer yet. Trying again (attempt ${attempt}). Please keep this page open.`,
  unavailable: 'Our system is busy at this moment. Your enquiry is sent again by itself. Please keep this page open.',
  wait: (seconds: number) =>
    `Too many enquiries in a short time. Yours will be sent again in ${Math.ceil(seconds)} seconds. Please keep this page open.`,
}

export const stoppedText = `Stopped. Your enquiry may still have reached us. Sent again unchanged from this page, it counts only once. You can also call ${brand.phone}.`

/** The message under each field that breaks a rule. */
export function fieldErrorsOf({ fields }: Problem): Record<string, string> {
  const errors: Record<string, string> = { [messages.empty]: emptyFieldError, [messages.email]: emailFieldError }
  return Object.fromEntries(Object.entries(fields).map(([field, rule]) => [field, errors[rule] ?? rule]))
}
