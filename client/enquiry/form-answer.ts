import { createContext } from 'react'
import type { Received, SubscriberLink } from '../../shared/form-outcome.ts'

/** What the page says of a form that was sent without scripts. It stands in the page as data too, for hydration. */
export interface FormAnswer {
  order?: {
    message: string
    note?: string | undefined
    marks: Record<string, string>
    values: Record<string, string>
    /** Under which it may be stored. */
    submissionKey?: string | undefined
  }
  subscription?: { message: string; email: string }
  received?: Received
  link?: SubscriberLink
}

export const FormAnswerContext = createContext<FormAnswer>({})
