import { DESK_PATH } from '../../shared/desk.ts'
import { forgetAll, forgetView, hasChange, hasDraft } from './kept.ts'

/* The end of a session: no tab may go on showing what a session was needed for. */

type Message = 'over' | 'signed out' | 'is anything kept?' | 'a draft is kept'

const channel = new BroadcastChannel('desk')
const post = (message: Message) => channel.postMessage(message)
const CHOICE = 'desk-list'
/** Other tabs answer within this time. */
const ANSWER_MS = 200
/** The form of sign-out has led on by then, unless it was stopped. */
const STOPPED_MS = 10_000

let isSigningOut = false

/** @param isOver the session has ended by itself: drafts of notes and waiting changes are kept */
function clear(isOver: boolean) {
  forgetView()
  document.body.replaceChildren()
  const over = isOver && !isSigningOut ? '&over' : '' // signing out keeps nothing
  const leadOn = () => location.replace(`${DESK_PATH}/sign-in?to=${location.pathname}${over}`)
  if (isSigningOut) setTimeout(leadOn, STOPPED_MS)
  else leadOn()
}

/** Clears this tab and all others of the desk, and leads to the sign-in page, which leads back here. Drafts and waiting changes stay. */
export function leave(): void {
  if (!isSigningOut) post('over')
  clear(true)
}

/** Before the form of sign-out is sent: that leads this tab on. */
export function clearOnSignOut(): void {
  isSigningOut = true
  forgetAll()
  post('signed out')
}

/** Whether any tab holds a draft, or a change waits. */
export async function isAnythingKept(): Promise<boolean> {
  if (hasChange() || hasDraft()) return true
  post('is anything kept?')
  return new Promise((resolve) => {
    const listen = ({ data }: MessageEvent<Message>) => data === 'a draft is kept' && end(true)
    const end = (answer: boolean) => {
      channel.removeEventListener('message', listen)
      resolve(answer)
    }
    channel.addEventListener('message', listen)
    setTimeout(end, ANSWER_MS, false)
  })
}

/** Tab, order and filters of the list, kept for this tab and not in the address, which would be logged. */
export const readChoice = (): object => JSON.parse(sessionStorage.getItem(CHOICE) ?? '{}')

export function keepChoice(choice: object): void {
  sessionStorage.setItem(CHOICE, JSON.stringify(choice))
}

export function watchSession(): void {
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data === 'signed out') forgetAll()
    if (data === 'over' || data === 'signed out') clear(data === 'over')
    if (data === 'is anything kept?' && hasDraft()) post('a draft is kept')
  })
  // The browser shows a page that was left, as it was: the session may be over since.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    document.body.replaceChildren()
    location.reload()
  })
}
