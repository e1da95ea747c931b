import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DESK_PATH } from '../../shared/desk.ts'
import { formatIndianDay } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import { isDatabaseAway, sqlState } from '../database/errors.ts'
import type { Env } from '../env.ts'
import { fieldsOf, LINK_BODY_LIMIT, takeForms } from '../http/bodies.ts'
import { answerTo, RequestError, trpcErrorBody } from '../http/errors.ts'
import type { RateLimits } from '../http/limits.ts'
import type { StaticPages } from '../http/static-pages.ts'
import { assertPost, callProcedure, takeJson } from '../http/trpc.ts'
import type { Desk } from './desk.ts'
import { chosenSchema, inputMessages, inputs, readDeskPath } from './inputs.ts'
import { createDeskPages, ENTER_PATH, PASTED_PATH, SIGN_IN_PATH } from './pages.ts'
import { deskRouter } from './procedures.ts'
import {
  createSecret,
  endSession,
  enter,
  findSession,
  isKnownToken,
  isLinkOf,
  isSecret,
  nameOf,
  readLink,
  type Session,
} from './sessions.ts'
import type { SignIn } from './sign-in.ts'
import { createDeskSource } from './source.ts'

const texts: Record<number, string> = {
  400: 'The page and the server do not understand each other. Load the page anew.',
  401: 'The session is over. Sign in again.',
  403: 'The desk takes requests of its own pages only.',
  404: 'There is nothing here.',
  405: 'This address does not take that method.',
  413: 'That is too long.',
  415: 'The desk takes application/json only.',
  429: 'Too many requests in a short time. Wait a minute, then try again.',
  500: 'Something went wrong. Load the page anew to see what is stored.',
  503: 'The database does not answer: nothing is shown, and nothing was changed as far as is known. Try again in a minute.',
}
const STATEMENT_TIMEOUT = '57014'
/** A mail scanner's link, which holds ours. */
const PASTED_BODY_LIMIT = 4096
/** The longest address of the Internet. */
const ADDRESS_MAX = 254
/** How a refused call is counted in the log. */
const REFUSALS: Partial<Record<number, string>> = { 401: 'session', 403: 'origin', 429: 'limit' }
const REFUSALS_TOLD_MS = 60_000
const NEEDS_HTTPS = 'The desk needs https: set PUBLIC_URL to the site’s https address.'

interface DeskParts {
  db: Db
  env: Env
  log: FastifyBaseLogger
  pages: StaticPages
  desk: Desk
  signIn: SignIn
}

/** Serves the desk: its pages, sign-in, download and procedures. Everything but sign-in needs a session. */
export async function serveDesk(app: FastifyInstance, parts: DeskParts, limits: RateLimits): Promise<void> {
  const { db, env, signIn, desk } = parts
  const source = createDeskSource(env)
  const pages = createDeskPages(parts.pages)
  const refusals = countRefusals(parts.log)
  app.addHook('onClose', async () => refusals.tell())

  /** The session of a request. Its cookie is renewed once a day. */
  async function find(request: FastifyRequest, reply: FastifyReply) {
    const secret = source.readCookie(request, 'desk')
    const session = await findSession(db, env.STAFF_EMAILS, secret)
    if (session?.isRenewed) reply.header('set-cookie', source.cookie(request, 'desk', secret))
    return session
  }

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
    refusals.count('link')
    return pages.notEntered(reply, DESK_PATH)
  }

  app.addHook('onSend', (_request, reply, _payload, done) => {
    // With no-referrer browsers would send `Origin: null`.
    reply.header('referrer-policy', 'same-origin').header('x-robots-tag', 'noindex')
    done()
  })

  app.decorateRequest('session')
  app.register(async (calls) => {
    takeJson(calls)
    calls.setErrorHandler((error, request, reply) => {
      const { status, message } = answerOf(error, request)
      refusals.count(REFUSALS[status])
      return reply.code(status).send(trpcErrorBody(status, message))
    })
    for (const name of Object.keys(inputs))
      calls.all(`/trpc/desk.${name}`, {
        config: { name: `desk.${name}` },
        onRequest: letIn,
        async handler(request) {
          const context = { desk, session: request.getDecorator<Session>('session') }
          return { result: { data: await callProcedure(deskRouter, `desk.${name}`, request.body, context) } }
        },
      })
    calls.all('/trpc/desk.*', {
      onRequest: letIn,
      handler() {
        throw new RequestError(404)
      },
    })
  })

  async function letIn(request: FastifyRequest, reply: FastifyReply) {
    assertPost(request, reply)
    source.assertOwnPage(request)
    await limits.countOrRefuse('desk', request, reply)
    const session = await find(request, reply)
    if (!session) throw new RequestError(401)
    request.setDecorator('session', session)
  }

  app.register(async (forms) => {
    takeForms(forms)
    forms.setErrorHandler((error, request, reply) => {
      const { status, message } = answerOf(error, request)
      refusals.count(REFUSALS[status])
      return pages.problem(reply.removeHeader('content-disposition'), status, message) // a page and no download
    })
    forms.addHook('onRequest', async (request, reply) => {
      // Whoever sends a cookie costs a query.
      if (source.readCookie(request, 'desk')) await limits.countOrRefuse('desk', request, reply)
      if (request.method === 'POST') return source.assertOwnPage(request)
      const place = source.placeOf(request)
      if (place === 'elsewhere') return reply.redirect(source.hereInstead(request), 308)
      if (place === 'unsafe') return pages.problem(reply, 403, NEEDS_HTTPS)
    })

    forms.get<{ Querystring: { to?: unknown; sent?: unknown } }>(SIGN_IN_PATH, async (request, reply) => {
      const { sent, to } = request.query
      const leadsTo = readDeskPath(to)
      // During an outage the page looks as it does to strangers.
      if (await find(request, reply).catch(() => undefined)) return reply.redirect(leadsTo, 303)
      const asked = readAsked(request)
      return sent === undefined ? pages.signIn(reply, leadsTo, asked) : pages.sent(reply, leadsTo, asked)
    })
    forms.post(SIGN_IN_PATH, {
      bodyLimit: LINK_BODY_LIMIT,
      async handler(request, reply) {
        const fields = fieldsOf(request)
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
        const token = fieldsOf(request).get('token') ?? ''
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
        })
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
        const token = source.readPastedLink(request, fieldsOf(request).get('link') ?? '')
        return token ? reply.redirect(`${ENTER_PATH}?token=${token}`, 303) : pages.notPasted(reply)
      },
    })

    forms.post(`${DESK_PATH}/sign-out`, {
      bodyLimit: LINK_BODY_LIMIT,
      onRequest: (request, reply) => limits.countOrRefuse('desk', request, reply),
      async handler(request, reply) {
        const session = await find(request, reply)
        const fields = fieldsOf(request)
        const which = fields.has('everywhere') ? 'everywhere' : fields.has('others') ? 'others' : 'this'
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

    forms.post(`${DESK_PATH}/enquiries.csv`, {
      async onRequest(request, reply) {
        const session = await find(request, reply)
        if (!session) return toSignIn(request, reply)
        request.setDecorator('session', session)
      },
      async handler(request, reply) {
        const given = [...fieldsOf(request)].filter(([, value]) => value)
        const csv = await desk.export(
          request.getDecorator<Session>('session'),
          chosenSchema.parse(Object.fromEntries(given)),
        )
        const name = `enquiries-${formatIndianDay(new Date())}.csv`
        // A failure on the way breaks the connection off, so that no part looks like the whole.
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="${name}"`)
          .send(csv)
      },
    })

    const showPage = async (request: FastifyRequest, reply: FastifyReply) => {
      const [path = ''] = request.url.split('?')
      const proper = properPath(path)
      if (proper && proper !== path) return reply.redirect(proper, 308)
      const session = await find(request, reply)
      if (!session) return toSignIn(request, reply)
      if (!proper) throw new RequestError(404)
      return pages.desk(reply)
    }
    forms.get(DESK_PATH, showPage)
    forms.get(`${DESK_PATH}/*`, showPage)
  })
}

function toSignIn(request: FastifyRequest, reply: FastifyReply) {
  return reply.redirect(`${SIGN_IN_PATH}?to=${readDeskPath(request.url.split('?')[0])}`, 303)
}

/** `/staff` or that of an enquiry, in capital letters and without a slash at the end; undefined if it is neither. */
function properPath(path: string): string | undefined {
  const [, rest] = /^\/staff\/?([\w-]*)\/?$/.exec(path) ?? []
  if (rest === undefined) return undefined
  const proper = readDeskPath(`${DESK_PATH}/${rest.toUpperCase()}`)
  return rest === '' || proper !== DESK_PATH ? proper : undefined
}

/** In the desk's own texts. Of broken rules those for people are shown; any other is a fault of the page. */
function answerOf(error: unknown, request: FastifyRequest): { status: number; message: string } {
  const { status, problem } = answerTo(error, request, {
    textOf,
    problemOf({ issues }) {
      const shown = issues.find(({ message }) => Object.values(inputMessages).includes(message))
      return { message: shown?.message ?? textOf(400), fields: {} }
    },
    statusOf: (known) => (isDatabaseAway(known) || sqlState(known) === STATEMENT_TIMEOUT ? 503 : undefined),
  })
  return { status, message: problem.message }
}

function textOf(status: number): string {
  return texts[status] ?? (texts[status < 500 ? 400 : 500] as string)
}

/** Anybody can cause refusals: at most one line a minute tells how many there were of each kind. */
function countRefusals(log: FastifyBaseLogger) {
  let counts: Record<string, number> = {}
  let timer: NodeJS.Timeout | undefined
  function tell() {
    clearTimeout(timer)
    timer = undefined
    if (Object.keys(counts).length > 0) log.warn({ refused: counts }, 'the desk refused requests')
    counts = {}
  }
  return {
    tell,
    count(what: string | undefined) {
      if (!what) return
      counts[what] = (counts[what] ?? 0) + 1
      timer ??= setTimeout(tell, REFUSALS_TOLD_MS).unref()
    },
  }
}
