/*
 * What this browser keeps of people's work. Changes that wait are in localStorage, for a page that is closed: reference, change,
 * key and author, no text. Notes that are being typed are in sessionStorage, which only their tab reads.
 */

const CHANGE = 'desk-change '
const DRAFT = 'desk-draft '
/** When somebody signed out last in this browser: a tab that slept then has drafts of before. */
const SIGNED_OUT = 'desk-signed-out'
export const KEPT_MS = 12 * 3_600_000

export interface Change {
  /** Of the action; see actions.ts. */
  name: string
  input: { key: string }
  /** Of the enquiries; the first one's changes go out one after the other. */
  references: string[]
  author: string
  at: number
}

/** They hold what people typed: their forms keep it. */
const WITH_TEXT = ['addNote', 'correct', 'add']

const namesIn = (storage: Storage, start: string) => Object.keys(storage).filter((name) => name.startsWith(start))

/** Undefined for what is damaged: it goes. */
function readStored<T>(storage: Storage, name: string): T | undefined {
  try {
    return JSON.parse(storage.getItem(name) ?? 'null') ?? undefined
  } catch {
    storage.removeItem(name)
    return undefined
  }
}

export function keep(change: Change): void {
  if (change.author && !WITH_TEXT.includes(change.name))
    localStorage.setItem(CHANGE + change.input.key, JSON.stringify(change))
}

export function forget({ input }: Pick<Change, 'input'>): void {
  localStorage.removeItem(CHANGE + input.key)
}

/** The changes of this person, in their order. What others have left goes; changes that are too old are `late`, and go. */
export function readKept(you: string): { kept: Change[]; late: Change[] } {
  for (const name of namesIn(sessionStorage, DRAFT)) readDraft(name.slice(DRAFT.length), you)
  const changes = namesIn(localStorage, CHANGE).flatMap((name) => readStored<Change>(localStorage, name) ?? [])
  const own = changes.filter(({ author }) => author === you).sort((a, b) => a.at - b.at)
  const isLate = ({ at }: Change) => Date.now() - at > KEPT_MS
  for (const change of changes) if (change.author !== you || isLate(change)) forget(change)
  return { kept: own.filter((change) => !isLate(change)), late: own.filter(isLate) }
}

export interface Draft {
  text: string
  author: string
  at: number
  /** The key and text of a note that was sent, perhaps in vain. */
  sent?: { key: string; text: string } | undefined
}

/** Drops one of somebody else, and one that is too old. */
export function readDraft(reference: string, you: string): Draft | undefined {
  const draft = readStored<Draft>(sessionStorage, DRAFT + reference)
  if (!draft) return undefined
  const isOver = Date.now() - draft.at > KEPT_MS || draft.at < Number(localStorage.getItem(SIGNED_OUT) ?? 0)
  if (!isOver && draft.author === you) return draft
  dropDraft(reference)
  return undefined
}

export function keepDraft(reference: string, draft: Draft): void {
  if (draft.text.trim()) sessionStorage.setItem(DRAFT + reference, JSON.stringify(draft))
  else dropDraft(reference)
}

export function dropDraft(reference: string): void {
  sessionStorage.removeItem(DRAFT + reference)
}

/** The references of this person's notes that are not stored, in this tab. */
export function drafts(you: string): string[] {
  const references = namesIn(sessionStorage, DRAFT).map((name) => name.slice(DRAFT.length))
  return references.filter((reference) => readDraft(reference, you))
}

export const hasDraft = (): boolean => namesIn(sessionStorage, DRAFT).length > 0
export const hasChange = (): boolean => namesIn(localStorage, CHANGE).length > 0

/** At the end of a session, of this tab: what was chosen, searched for and called. */
export function forgetView(): void {
  for (const name of namesIn(sessionStorage, 'desk-')) if (!name.startsWith(DRAFT)) sessionStorage.removeItem(name)
}

/** At sign-out. */
export function forgetAll(): void {
  for (const name of namesIn(localStorage, CHANGE)) localStorage.removeItem(name)
  for (const name of namesIn(sessionStorage, 'desk-')) sessionStorage.removeItem(name)
  localStorage.setItem(SIGNED_OUT, String(Date.now()))
}
