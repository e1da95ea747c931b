import type { FastifyRequest } from 'fastify'
import type { Env } from '../env.ts'
import { RequestError } from '../http/errors.ts'
import { ENTER_PATH } from './pages.ts'
import { BROWSER_SECONDS, SESSION_SECONDS } from './sessions.ts'

/**
 * `desk`: the session. `browser`: has entered before, or has opened a link; lets nobody in. `asked`: the address that was typed
 * on the sign-in page.
 */
type DeskCookie = 'desk' | 'browser' | 'asked'
const LIFETIMES: Record<DeskCookie, number> = { desk: SESSION_SECONDS, browser: BROWSER_SECONDS, asked: 15 * 60 }
/** A scanner's link holds the link that it scanned in encoded form, and may be encoded itself. */
const ENCODED_MAX = 4
const THIS_MACHINE = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?$/

/**
 * Where the desk is served, and which requests are its own: by PUBLIC_URL and the header Host alone. With an https PUBLIC_URL
 * its host, else this machine. Stricter than for orders.
 */
export function createDeskSource({ PUBLIC_URL }: Pick<Env, 'PUBLIC_URL'>) {
  const secure = PUBLIC_URL?.startsWith('https:') ? new URL(PUBLIC_URL) : undefined
  const hostOf = ({ headers }: FastifyRequest) => headers.host?.toLowerCase() ?? ''
  const ownOrigin = (request: FastifyRequest) => secure?.origin ?? `http://${hostOf(request)}`

  /** Cookies ignore ports: on this machine each site has its own. */
  function cookieName(request: FastifyRequest, cookie: DeskCookie): string {
    const name = `quvera-${cookie}`
    return secure ? `__Host-${name}` : `${name}-${THIS_MACHINE.exec(hostOf(request))?.[1] ?? '80'}`
  }

  return {
    /** `elsewhere`: under another name of the site. `unsafe`: from another machine without https. */
    placeOf(request: FastifyRequest): 'here' | 'elsewhere' | 'unsafe' {
      if (secure) return [secure.host, `${secure.host}:443`].includes(hostOf(request)) ? 'here' : 'elsewhere'
      return THIS_MACHINE.test(hostOf(request)) ? 'here' : 'unsafe'
    },
    /** The same page under the site's own name. A request may name another host in its first line, too. */
    hereInstead({ url }: FastifyRequest): string {
      const { pathname, search } = new URL(url, secure?.origin)
      return `${secure?.origin}${pathname}${search}`
    },
    /** @throws RequestError 403 unless a page of the desk sends the request. Browsers always send Origin with POST. */
    assertOwnPage(request: FastifyRequest): void {
      const { origin, 'sec-fetch-site': site = 'same-origin' } = request.headers
      const isOwn = origin === ownOrigin(request) && (site === 'same-origin' || site === 'none')
      const isHidden = origin === 'null' && request.headers['sec-fetch-site'] === 'same-origin'
      if (this.placeOf(request) !== 'here' || !(isOwn || isHidden)) throw new RequestError(403)
    },
    /** '' if there is none. */
    readCookie(request: FastifyRequest, cookie: DeskCookie): string {
      const start = `${cookieName(request, cookie)}=`
      const cookies = request.headers.cookie?.split(';').map((each) => each.trim()) ?? []
      return cookies.find((each) => each.startsWith(start))?.slice(start.length) ?? ''
    },
    /** The header that sets a cookie. @param value '' deletes it */
    cookie(request: FastifyRequest, cookie: DeskCookie, value: string): string {
      const lifetime = value ? LIFETIMES[cookie] : 0
      return `${cookieName(request, cookie)}=${value}; Path=/; Max-Age=${lifetime}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
    },
    /**
     * The token of a mailed link that was pasted, also inside the link of a mail scanner. Nothing else of the text is used.
     * @returns undefined if it holds no link to this desk
     */
    readPastedLink(request: FastifyRequest, pasted: string): string | undefined {
      const start = `//${new URL(ownOrigin(request)).host}${ENTER_PATH}?token=`
      let text = pasted
      for (let decoded = 0; decoded < ENCODED_MAX; decoded++) {
        const [, rest = ''] = text.split(start)
        const [token] = /^[\w-]{43}(?=__;|[^\w-]|$)/.exec(rest) ?? []
        if (token) return token
        try {
          text = decodeURIComponent(text)
        } catch {
          return undefined
        }
      }
      return undefined
    },
  }
}
