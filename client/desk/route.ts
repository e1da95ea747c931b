import { useSyncExternalStore } from 'react'
import { DESK_PATH } from '../../shared/desk.ts'
import { dismissDone } from './message.ts'

/* The one page of the desk: which enquiry it shows is told by the address. */

const PATH = new RegExp(`^${DESK_PATH}(?:/[A-Z]{1,5}-[0-9A-Z]{6,})?$`)

/** What an entry of the tab's history knows. No other page can read it. */
interface Place {
  /** So many entries back is the list, if it is below this entry. */
  toList?: number | undefined
  /** Names what the list was searched for. */
  search?: string | undefined
}

let isOutdated = false
let listTop = 0
const listeners = new Set<() => void>()
const tell = () => {
  for (const listener of listeners) listener()
}

/** Of the enquiry that the address names; '' for the list. */
export const currentReference = (): string => location.pathname.slice(DESK_PATH.length + 1)
const readPlace = (): Place => history.state ?? {}

/** What was searched for: not in the tab's history, which outlives the session. */
const SEARCH = 'desk-search '

export const readSearch = (): string => sessionStorage.getItem(SEARCH + readPlace().search) ?? ''

export function keepSearch(text: string): void {
  const search = crypto.randomUUID()
  sessionStorage.setItem(SEARCH + search, text)
  history.replaceState({ ...readPlace(), search } satisfies Place, '')
}

/** The server has a newer page: what is opened next loads it. */
export function loadAnewAtNextOpening(): void {
  isOutdated = true
}

/** @param isNext it takes the place of the enquiry that is shown */
export function open(path: string, isNext = false): void {
  const { toList, search } = readPlace()
  if (isOutdated) {
    location.assign(path)
    return
  }
  if (path === DESK_PATH && toList) {
    history.go(-toList)
    return
  }
  const isFromList = currentReference() === ''
  const further = isFromList ? 1 : toList && toList + 1
  const place: Place = { search, toList: isNext ? toList : further }
  if (path === DESK_PATH) history.pushState({ search }, '', path)
  else if (isNext) history.replaceState(place, '', path)
  else history.pushState(place, '', path)
  tell()
}

function openLink(event: MouseEvent) {
  const { target, button, metaKey, ctrlKey, shiftKey, altKey } = event
  const link = target instanceof Element && target.closest<HTMLAnchorElement>('a[href]')
  if (!link || link.target || link.hash || event.defaultPrevented) return
  if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return
  if (link.origin !== location.origin || !PATH.test(link.pathname)) return
  event.preventDefault()
  dismissDone()
  open(link.pathname, 'next' in link.dataset)
}

/** Links stay links, and open here if they lead to the desk. */
export function watchRoute(): void {
  history.scrollRestoration = 'manual'
  addEventListener('popstate', () => {
    dismissDone()
    tell()
  })
  addEventListener('scroll', () => {
    if (currentReference() === '') listTop = scrollY
  })
  document.addEventListener('click', openLink)
}

/** Where the list was left. */
export function scrollToPlace(): void {
  scrollTo(0, currentReference() === '' ? listTop : 0)
}

export function useReference(): string {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, currentReference)
}
