import type { Problem } from './order.ts'

/** What became of a form that was sent without scripts: what the page that answers it is made of. */
export interface FormOutcome {
  order?: Refused & {
    /** It may be stored all the same, under this key if one was made. */
    uncertain?: { submissionKey: string | undefined }
  }
  subscription?: Refused
  /** Of the order that was received. */
  reference?: string
}

export interface Refused {
  problem: Problem
  /** What was typed, by the names of the fields. */
  values: Record<string, string>
}
