import type { FastifyReply } from 'fastify'
import type { FormOutcome } from '../../shared/form-outcome.ts'
import { PUBLIC_URL_PLACEHOLDER } from '../../shared/page-paths.ts'
import { type Env, publicUrlOf } from '../env.ts'
import { htmlOf, type StaticPages } from './static-pages.ts'

/** Renders a page with an outcome in it: client/renderer.tsx, which whoever starts the site hands in. */
export type RenderOutcome = (page: string, path: string, outcome: FormOutcome) => string

export type SendPage = ReturnType<typeof createPageSender>

/** Sends pages that show the outcome of a form or of a link. */
export function createPageSender(pages: StaticPages, env: Env, render?: RenderOutcome) {
  /** Pages that hold nothing of one visitor are rendered once. Those of each visitor would fill the memory. */
  const rendered = new Map<string, string>()

  /** Without built pages, as in tests and development, the outcome is sent as JSON. */
  return (path: string, outcome: FormOutcome, reply: FastifyReply) => {
    const page = pages.get(path)
    if (!page || !render) return reply.send(outcome)
    const key = JSON.stringify([path, outcome])
    let html = rendered.get(key)
    if (html === undefined) {
      html = render(htmlOf(page), path, outcome).replaceAll(PUBLIC_URL_PLACEHOLDER, publicUrlOf(env))
      const { values = {} } = outcome.order ?? outcome.refusedSubscription ?? {}
      // Of one visitor: such a page is rendered anew each time.
      const isPersonal =
        outcome.received ||
        typeof outcome.yourEnquiry === 'object' ||
        outcome.order?.submissionKey ||
        Object.keys(values).length > 0
      if (!isPersonal) rendered.set(key, html)
    }
    return reply.type('text/html; charset=utf-8').send(html)
  }
}
