import type { FastifyRequest } from 'fastify'
import { SESSION_SECONDS } from '../desk/sessions.ts'
import type { Env } from '../env.ts'
import { RequestError } from '../errors.ts'

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
  function cookieName(request: FastifyRequest): string {
    return secure ? '__Host-quvera-desk' : `quvera-desk-${THIS_MACHINE.exec(hostOf(request))?.[1] ?? '80'}`
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
    readCookie(request: FastifyRequest): string {
      const start = `${cookieName(request)}=`
      const cookies = request.headers.cookie?.split(';').map((cookie) => cookie.trim()) ?? []
      return cookies.find((cookie) => cookie.startsWith(start))?.slice(start.length) ?? ''
    },
    /** @param secret '' deletes the cookie */
    cookie(request: FastifyRequest, secret: string): string {
      const lifetime = secret ? SESSION_SECONDS : 0
      return `${cookieName(request)}=${secret}; Path=/; Max-Age=${lifetime}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
    },
  }
}
