/* What this tab keeps over a reload: the draft, and for order-key.ts its keys and references. */

/** For browsers that refuse storage. */
const ofThisPage = new Map<string, unknown>()

/** What is kept; where the browser refuses storage, as long as the page. */
export function readTab(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null') ?? ofThisPage.get(name)
  } catch {
    return ofThisPage.get(name)
  }
}

/** `undefined` removes it. @returns false where the browser refuses storage */
export function writeTab(name: string, value: unknown): boolean {
  ofThisPage.set(name, value)
  try {
    if (value === undefined) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, JSON.stringify(value))
    ofThisPage.delete(name)
    return true
  } catch {
    return false
  }
}

/**
 * What was typed, for a reload: kept when the page is hidden, put back into empty fields, gone with the key of its order, and
 * ignored after an hour. It holds neither that key nor the honeypot.
 */
interface Draft {
  savedAt: number
  /** When its filling began. */
  startedAt: number
  values: Record<string, string>
}

const DRAFT = 'draft'
const DRAFT_MAX_AGE_MS = 3_600_000

function draftInputs(form: HTMLFormElement) {
  return [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('.field [name]')]
}

export function readDraft(): Draft | undefined {
  const draft = readTab(DRAFT) as Draft | undefined
  if (draft && Date.now() - draft.savedAt < DRAFT_MAX_AGE_MS) return draft
  dropDraft()
  return undefined
}

export function keepDraft(values: Record<string, string>): void {
  writeTab(DRAFT, { savedAt: Date.now(), startedAt: startOfFilling(), values } satisfies Draft)
}

/** For a page that is hidden: the browser may end it. */
export function saveDraft(): void {
  const form = document.querySelector<HTMLFormElement>('#order')
  if (document.visibilityState !== 'hidden' || !form || form.querySelector('.fields[hidden]')) return
  const values = Object.fromEntries(draftInputs(form).map(({ name, value }) => [name, value]))
  if (Object.values(values).some(Boolean)) keepDraft(values)
  else dropDraft()
}

export function restoreDraft(form: HTMLFormElement): void {
  const { values = {} } = readDraft() ?? {}
  for (const field of draftInputs(form)) field.value ||= values[field.name] ?? ''
}

export function dropDraft(): void {
  writeTab(DRAFT, undefined)
}

/** A draft was begun by an earlier page. */
function startOfFilling(): number {
  return readDraft()?.startedAt ?? performance.timeOrigin
}

/** Milliseconds since the form was first shown: a reload, or the other product in one press, does not begin anew. */
export function filledInMs(): number {
  return Math.round(performance.timeOrigin + performance.now() - startOfFilling())
}
