import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { noteMessages } from '../../shared/desk.ts'
import { messages } from '../../shared/order.ts'
import { isDatabaseAway, sqlState } from '../database/errors.ts'
import { answerTo } from '../http/errors.ts'
import { searchMessage } from './inputs.ts'

/* How the desk refuses. */

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
/** How a refused call is counted in the log. */
export const REFUSALS: Partial<Record<number, string>> = { 401: 'session', 403: 'origin', 429: 'limit' }
const REFUSALS_TOLD_MS = 60_000

const shown: string[] = [searchMessage, ...Object.values(noteMessages), ...Object.values(messages)]

/** In the desk's own texts. Of broken rules those for people are shown; any other is a fault of the page. */
export function answerOf(error: unknown, request: FastifyRequest): { status: number; message: string } {
  const { status, problem } = answerTo(error, request, {
    textOf,
    toProblem({ issues }) {
      const known = issues.find(({ message }) => shown.includes(message))
      return { message: known?.message ?? textOf(400), fields: {} }
    },
    statusOf: (known) => (isDatabaseAway(known) || sqlState(known) === STATEMENT_TIMEOUT ? 503 : undefined),
  })
  return { status, message: problem.message }
}

function textOf(status: number): string {
  return texts[status] ?? (texts[status < 500 ? 400 : 500] as string)
}

/** Anybody can cause refusals: at most one line a minute tells how many there were of each kind. */
export function countRefusals(log: FastifyBaseLogger) {
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
