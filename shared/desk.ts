/* What the server and the page of the desk both need. */

export const DESK_PATH = '/staff'

/** In the order of the tabs. */
export const deskStates = ['new', 'contacted', 'closed', 'spam', 'all'] as const
export type DeskState = (typeof deskStates)[number]

export const deskStatuses = ['New', 'Contacted', 'Closed'] as const
export type DeskStatus = (typeof deskStatuses)[number]

export const SEARCH_MAX = 200
/** One note, and all notes of an enquiry together. */
export const NOTE_MAX = 500
export const NOTES_MAX = 2000
