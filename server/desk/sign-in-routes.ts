import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DESK_PATH } from '../../shared/desk.ts'
import { type Db, TRANSACTION } from '../database/database.ts'
import type { Env } from '../env.ts'
import { LINK_BODY_LIMIT, postedFields } from '../http/bodies.ts'
import type { RateLimits } from '../http/limits.ts'
import type { Desk } from './desk.ts'
import { readDeskPath } from './inputs.ts'
import type { createDeskPages } from './pages.ts'
import { ENTER_PATH, PASTED_PATH, SIGN_IN_PATH } from './pages.ts'
import {
  createSecret,
  endSession,
  enter,
  type FoundSession,
  isKnownToken,
  isLinkOf,
  isSecret,
  nameOf,
  readLink,
} from './sessions.ts'
import type { SignIn } from './sign-in.ts'
import type { createDeskSource } from './source.ts'

/** A mail scanner's link, which holds ours. */
const PASTED_BODY_LIMIT = 4096
/** The longest address of the Internet. */
const ADDRESS_MAX = 254

interface SignInParts {
  db: Db
  env: Env
  desk: Pick<Desk, 'record'>
  signIn: SignIn
  source: ReturnType<typeof createDeskSource>
  page: ReturnType<typeof createDeskPages>
  refuse: (what: string) => void
  find: (request: FastifyRequest, reply: FastifyReply) => Promise<FoundSession | undefined>
}

/** Asking for a link, entering by it, and leaving. */
export function serveSignIn(forms: FastifyInstance, parts: SignInParts, limits: RateLimits): void {
  const { db, env, signIn, desk, source, page: pages, refuse, find } = parts

  /** '' if there is none. */
  function readBrowser(request: FastifyRequest): string {
    const browser = source.readCookie(request, 'browser')
    return isSecret(browser) ? browser : ''
  }

  /** The address that this browser asked with; '' if it has not kept it. */
  function readAsked(request: FastifyRequest): string {
    try {
      return decodeURIComponent(source.readCookie(request, 'asked'))
    } catch {
      return ''
    }
  }

  /** A used link leads on where somebody is signed in as the person of the link. */
  async function notEntered(request: FastifyRequest, reply: FastifyReply, token: string) {
    const session = await find(request, reply)
    if (session && (await isLinkOf(db, session, token))) return reply.redirect(DESK_PATH, 303)
    refuse('link')
    return pages.notEntered(reply, DESK_PATH)
  }

  forms.get<{ Querystring: { to?: unknown; sent?: unknown; over?: unknown } }>(SIGN_IN_PATH, async (request, reply) => {
    const { sent, to, over } = request.query
    const leadsTo = readDeskPath(to)
    // During an outage the page looks as it does to strangers.
    if (await find(request, reply).catch(() => undefined)) return reply.redirect(leadsTo, 303)
    const asked = readAsked(request)
    if (sent !== undefined) return pages.sent(reply, leadsTo, asked)
    return pages.signIn(reply, leadsTo, asked, over !== undefined)
  })
  forms.post(SIGN_IN_PATH, {
    bodyLimit: LINK_BODY_LIMIT,
    async handler(request, reply) {
      const fields = postedFields(request)
      const address = fields.get('email')?.trim().slice(0, ADDRESS_MAX) ?? ''
      const asking = {
        address,
        leadsTo: readDeskPath(fields.get('to')),
        browser: source.readCookie(request, 'browser'),
      }
      // A stranger who shares the network of staff must not hold them up.
      if (!signIn.isKnown(asking)) {
        await limits.countOrRefuse('signIn', request, reply)
        await limits.countIfSuccessful('signIn', request, reply, async () => {})
      }
      // After the answer: neither its words nor its time depend on the address or the database.
      reply.raw.once('close', () => signIn.request(asking))
      const { leadsTo } = asking
      return reply
        .header('set-cookie', source.cookie(request, 'asked', encodeURIComponent(address.toWellFormed())))
        .redirect(`${SIGN_IN_PATH}?sent${leadsTo === DESK_PATH ? '' : `&to=${leadsTo}`}`, 303)
    },
  })

  forms.get<{ Querystring: { token?: unknown } }>(ENTER_PATH, {
    onRequest: (request, reply) => limits.countOrRefuse('desk', request, reply),
    async handler(request, reply) {
      const token = String(request.query.token ?? '')
      const [link, session] = await Promise.all([readLink(db, token), find(request, reply)])
      if (!link) return notEntered(request, reply, token)
      const browser = readBrowser(request) || createSecret()
      const ends = session && session.email !== link.email ? nameOf(session) : undefined
      return pages.enter(
        reply.header('set-cookie', source.cookie(request, 'browser', browser)),
        token,
        nameOf(link),
        ends,
      )
    },
  })
  forms.post(ENTER_PATH, {
    bodyLimit: LINK_BODY_LIMIT,
    onRequest: (request, reply) => limits.countOrRefuse('desk', request, reply),
    async handler(request, reply) {
      const token = postedFields(request).get('token') ?? ''
      const known = readBrowser(request)
      // The page has set that cookie, and browsers say that they navigate.
      if (!known && request.headers['sec-fetch-mode'] === 'navigate') return pages.noCookies(reply)
      const browser = known || createSecret()
      if (!(await isKnownToken(db, token))) return notEntered(request, reply, token) // a flood costs a statement each
      const entered = await db.$transaction(async (transaction) => {
        const session = source.readCookie(request, 'desk')
        const made = await enter(transaction, env.STAFF_EMAILS, { token, session, browser })
        if (made) await desk.record(transaction, made, 'desk enter', 'a session')
        return made
      }, TRANSACTION)
      if (!entered) return notEntered(request, reply, token)
      signIn.remember(browser, entered.email)
      return reply
        .header('set-cookie', [
          source.cookie(request, 'desk', entered.secret),
          source.cookie(request, 'browser', browser),
          source.cookie(request, 'asked', ''),
        ])
        .redirect(readDeskPath(entered.leadsTo), 303)
    },
  })
  forms.post(PASTED_PATH, {
    bodyLimit: PASTED_BODY_LIMIT,
    onRequest: (request, reply) => limits.countOrRefuse('desk', request, reply),
    handler(request, reply) {
      const token = source.readPastedLink(request, postedFields(request).get('link') ?? '')
      return token ? reply.redirect(`${ENTER_PATH}?token=${token}`, 303) : pages.notPasted(reply)
    },
  })

  forms.post(`${DESK_PATH}/sign-out`, {
    bodyLimit: LINK_BODY_LIMIT,
    onRequest: (request, reply) => limits.countOrRefuse('desk', request, reply),
    async handler(request, reply) {
      const session = await find(request, reply)
      const fields = postedFields(request)
      const which = (['everywhere', 'others'] as const).find((each) => fields.has(each)) ?? 'this'
      if (session) {
        await endSession(db, session, which)
        // Whoever wants to leave leaves, even where no line can be written.
        await desk
          .record(db, session, 'desk sign-out', which)
          .catch((err) => request.log.error({ err }, 'no access line'))
      }
      if (which === 'others') return reply.redirect(DESK_PATH, 303)
      return reply.header('set-cookie', source.cookie(request, 'desk', '')).redirect(SIGN_IN_PATH, 303)
    },
  })
}
