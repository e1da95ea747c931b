/* What the server and the page of the desk both need. */

export const DESK_PATH = '/staff'

/** In the order of the tabs. */
export const deskStates = ['new', 'toRing', 'contacted', 'closed', 'spam', 'all'] as const
export type DeskState = (typeof deskStates)[number]

/** The list that the page comes with. */
export const FIRST_LIST = { state: 'new', order: 'newest' } as const

export const deskStatuses = ['New', 'Contacted', 'Closed'] as const

export const closingReasons = ['Ordered', 'No interest', 'Not reached', 'Wrong number'] as const
export type ClosingReason = (typeof closingReasons)[number]

/** The header with which a change says who made it, percent-encoded: another session may have begun in the browser. */
export const AUTHOR_HEADER = 'x-desk-author'

/** Of a list: what leaves less than its whole tab. */
export const filters = ['product', 'type', 'closedAs', 'by', 'from', 'to'] as const

export const SEARCH_MAX = 200
/** A search for it finds those of whom somebody asks it. */
export const TO_BE_ERASED_WORDS = 'to be erased'
export const NOTE_MAX = 500
/** Of these rules people read the message. */
export const noteMessages = {
  long: `A note has at most ${NOTE_MAX} characters.`,
  empty: 'Please type a note.',
}
/** Enquiries that one change, or one pulse, is about. */
export const AT_ONCE_MAX = 100
/** After "Not spam" the mails wait so long, so that it can be taken back. */
export const RELEASE_SECONDS = 30
