import { DESK_PATH } from '../../shared/desk.ts'

/* The end of a session: no tab may go on showing what a session was needed for. */

const channel = new BroadcastChannel('desk')
const CHOICE = 'desk-list'

function clear() {
  sessionStorage.removeItem(CHOICE)
  document.body.replaceChildren()
  location.replace(`${DESK_PATH}/sign-in?to=${location.pathname}`)
}

/** Clears this tab and all others of the desk, and leads to the sign-in page, which leads back here. */
export function leave(): void {
  channel.postMessage('over')
  clear()
}

/** Before the form of sign-out is sent: that leads this tab on. */
export function clearOtherTabs(): void {
  sessionStorage.removeItem(CHOICE)
  channel.postMessage('over')
}

/**
 * Tab, order and search of the list. What was searched for is about people: it is kept with this entry of the tab's history only,
 * which no other page can read.
 */
export function readChoice(): object {
  return { ...JSON.parse(sessionStorage.getItem(CHOICE) ?? '{}'), ...history.state }
}

export function keepChoice({ state, order, text }: { state: string; order: string; text: string }): void {
  history.replaceState({ text }, '')
  sessionStorage.setItem(CHOICE, JSON.stringify({ state, order }))
}

export function watchSession(): void {
  channel.onmessage = clear
  // The browser shows a page that was left, as it was: the session may be over since.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    document.body.replaceChildren()
    location.reload()
  })
}
