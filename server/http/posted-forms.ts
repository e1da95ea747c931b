import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FormOutcome } from '../../shared/form-outcome.ts'
import type { Problem } from '../../shared/order.ts'
import { pagePaths } from '../../shared/page-paths.ts'
import { FORM, postedFields, takeForms } from './bodies.ts'
import { answerTo, RequestError } from './errors.ts'
import type { RateLimits } from './limits.ts'
import type { SendPage } from './rendered-pages.ts'

/** A form that browsers post without scripts to the page on which it stands. */
export interface PostedForm {
  /** Of the route, in the log and in metrics; without it the page's path. */
  name?: string
  /** Whether the address, which the form's `action` names, means this form: it is known before the body is read. */
  isMine(request: FastifyRequest): boolean
  limit: 'order' | 'mailToStranger'
  /** Stores what was typed, by way of `countStored`. @returns the page that says so @throws what a schema or the room refuses */
  take(fields: URLSearchParams, countStored: CountStored): Promise<string>
  /** What the form's page shows of a failure. */
  refused(fields: URLSearchParams, failure: { problem: Problem; status: number; error: unknown }): FormOutcome
}

/** Runs what stores, and counts it for the limit of a day if it succeeds. */
type CountStored = <T>(store: () => Promise<T>) => Promise<T>

/**
 * Takes posted forms; each request is of the first form that says so. Success redirects to another page, so that a reload
 * sends nothing; a failure shows the form's page again, with what was typed.
 */
export function servePostedForms(
  app: FastifyInstance,
  forms: PostedForm[],
  { limits, sendPage }: { limits: RateLimits; sendPage: SendPage },
): void {
  function formOf(request: FastifyRequest): PostedForm {
    const form = forms.find((each) => each.isMine(request))
    if (!form) throw new RequestError(404)
    return form
  }

  app.register(async (scope) => {
    takeForms(scope)
    scope.addHook('onRequest', async (request, reply) => {
      const { name, limit } = formOf(request)
      if (name && request.headers['content-type']?.startsWith(FORM)) request.formName = name
      await limits.countOrRefuse(limit, request, reply)
    })
    scope.setErrorHandler((error, request, reply) => {
      const { status, problem } = answerTo(error, request)
      reply.code(status)
      if (error instanceof RequestError && error.isFlood) return reply.send(problem.message) // rendering a page would take milliseconds
      const outcome = formOf(request).refused(postedFields(request), { problem, status, error })
      return sendPage(request.routeOptions.url ?? '/', outcome, reply)
    })
    for (const path of pagePaths)
      scope.post(path, async (request: FastifyRequest, reply: FastifyReply) => {
        const { take, limit } = formOf(request)
        const location = await take(postedFields(request), (store) =>
          limits.countIfSuccessful(limit, request, reply, store),
        )
        return reply.redirect(location, 303)
      })
  })
}

/** The fields that were typed, of those that a page shows again. */
export function pickTyped(fields: URLSearchParams, names: string[]): Record<string, string> {
  const typed = names.map((name) => [name, fields.get(name) ?? ''] as const)
  return Object.fromEntries(typed.filter(([, value]) => value))
}
