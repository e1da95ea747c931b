import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AUTHOR_HEADER, DESK_PATH, FIRST_LIST } from '../../shared/desk.ts'
import { formatIndianDay } from '../../shared/indian-time.ts'
import type { Db } from '../database/database.ts'
import type { Env } from '../env.ts'
import { postedFields, takeForms } from '../http/bodies.ts'
import { RequestError, trpcErrorBody } from '../http/errors.ts'
import type { RateLimits } from '../http/limits.ts'
import type { StaticPages } from '../http/static-pages.ts'
import { assertPost, callProcedure, takeJson } from '../http/trpc.ts'
import { answerOf, countRefusals, REFUSALS } from './answers.ts'
import type { Desk } from './desk.ts'
import { chosenSchema, readDeskPath } from './inputs.ts'
import { createDeskPages, SIGN_IN_PATH } from './pages.ts'
import { deskRouter } from './procedures.ts'
import { replyTitles } from './replies.ts'
import { findSession, nameOf, type Session } from './sessions.ts'
import type { SignIn } from './sign-in.ts'
import { serveSignIn } from './sign-in-routes.ts'
import { createDeskSource } from './source.ts'

const SOMEBODY_ELSE = 'Somebody else is signed in now: nothing was changed.'
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
  const { db, env, desk } = parts
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
    for (const name of Object.keys(deskRouter.desk))
      calls.all(`/trpc/desk.${name}`, {
        config: { name: `desk.${name}` },
        onRequest: letIn,
        async handler(request, reply) {
          const session = request.getDecorator<Session>('session')
          const context = { desk, session, isGone: () => reply.raw.destroyed }
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
    const author = request.headers[AUTHOR_HEADER]
    if (author && author !== encodeURIComponent(nameOf(session))) throw new RequestError(409, SOMEBODY_ELSE)
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

    serveSignIn(forms, { ...parts, source, page: pages, find, refuse: refusals.count }, limits)

    forms.post(`${DESK_PATH}/enquiries.csv`, {
      async onRequest(request, reply) {
        const session = await find(request, reply)
        if (!session) return toSignIn(request, reply)
        request.setDecorator('session', session)
      },
      async handler(request, reply) {
        const given = [...postedFields(request)].filter(([, value]) => value)
        const choice = chosenSchema.parse(Object.fromEntries(given))
        const csv = await desk.export(request.getDecorator<Session>('session'), choice)
        const days =
          choice.from || choice.to
            ? [choice.from, choice.to ?? formatIndianDay(new Date())]
            : [formatIndianDay(new Date())]
        const name = ['enquiries', choice.state, ...days].filter(Boolean).join('-')
        // A failure on the way breaks the connection off, so that no part looks like the whole.
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', `attachment; filename="${name}.csv"`)
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
      const [pulse, list] = await Promise.all([
        desk.pulse(session, { showing: [] }),
        proper === DESK_PATH ? desk.list(session, FIRST_LIST) : undefined,
      ])
      return pages.desk(reply, { pulse, replyTitles, staff: env.STAFF_EMAILS, list })
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
