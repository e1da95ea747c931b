/** For browsers that refuse storage. */
const ofThisPage = new Map<string, unknown>()

/** What this tab keeps over a reload; where the browser refuses storage, as long as the page. */
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
