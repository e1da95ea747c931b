import { readTab, writeTab } from './tab-storage.ts'

/*
 * What was typed, for a reload: kept for the tab when the page is hidden, put back into empty fields, gone with the key of its
 * order, and ignored after an hour. It holds neither that key nor the honeypot.
 */

interface Draft {
  savedAt: number
  /** When its filling began. */
  startedAt: number
  values: Record<string, string>
}

const STORE = 'draft'
const MAX_AGE_MS = 3_600_000

type Field = HTMLInputElement | HTMLSelectElement

function fieldsOf(form: HTMLFormElement): Field[] {
  return [...form.querySelectorAll<Field>('.field [name]')]
}

export function readDraft(): Draft | undefined {
  const draft = readTab(STORE) as Draft | undefined
  return draft && Date.now() - draft.savedAt < MAX_AGE_MS ? draft : undefined
}

export function keepDraft(values: Record<string, string>): void {
  writeTab(STORE, { savedAt: Date.now(), startedAt: startOfFilling(), values } satisfies Draft)
}

/** For a page that is hidden: the browser may end it. */
export function saveDraft(): void {
  const form = document.querySelector<HTMLFormElement>('#order')
  if (document.visibilityState !== 'hidden' || !form || form.querySelector('.fields[hidden]')) return
  const values = Object.fromEntries(fieldsOf(form).map(({ name, value }) => [name, value]))
  if (Object.values(values).some(Boolean)) keepDraft(values)
  else dropDraft()
}

export function restoreDraft(form: HTMLFormElement): void {
  const { values = {} } = readDraft() ?? {}
  for (const field of fieldsOf(form)) field.value ||= values[field.name] ?? ''
}

export function dropDraft(): void {
  writeTab(STORE, undefined)
}

/** A draft was begun by an earlier page. */
function startOfFilling(): number {
  return readDraft()?.startedAt ?? performance.timeOrigin
}

/** Milliseconds since the form was first shown: a reload, or the other product in one press, does not begin anew. */
export function filledInMs(): number {
  return Math.round(performance.timeOrigin + performance.now() - startOfFilling())
}
