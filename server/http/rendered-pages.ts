import type { FastifyReply } from 'fastify'
import type { FormOutcome } from '../../shared/form-outcome.ts'
import { PUBLIC_URL_PLACEHOLDER } from '../../shared/page-paths.ts'
import { type Env, publicUrlOf } from '../env.ts'
import { htmlOf, type StaticPages } from './static-pages.ts'

/** If there are built pages, serve.ts loads it at the start, once and for all: a new build removes the file. */
export const loadRenderer = () => import('../../client/renderer.tsx')

export type SendPage = ReturnType<typeof createPageSender>

/** Sends pages that show the outcome of a form or of a link. */
export function createPageSender(pages: StaticPages, env: Env) {
  /** Pages that hold nothing of one visitor are rendered once. Those of each visitor would fill the memory. */
  const rendered = new Map<string, string>()

  /** Without built pages, as in tests and development, the outcome is sent as JSON. */
  return async (path: string, outcome: FormOutcome, reply: FastifyReply) => {
    const page = reply.request.headers.accept === 'application/json' ? undefined : pages.get(path)
    if (!page) return reply.send(outcome)
    const key = JSON.stringify([path, outcome])
    let html = rendered.get(key)
    if (html === undefined) {
      const { renderOutcome } = await loadRenderer()
      html = renderOutcome(htmlOf(page), path, outcome).replaceAll(PUBLIC_URL_PLACEHOLDER, publicUrlOf(env))
      const { values = {} } = outcome.order ?? outcome.refusedSubscription ?? {}
      const isPersonal = outcome.received || outcome.order?.submissionKey || Object.keys(values).length > 0
      if (!isPersonal) rendered.set(key, html)
    }
    return reply.type('text/html; charset=utf-8').send(html)
  }
}
