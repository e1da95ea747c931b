import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { DESK_PATH } from '../../shared/desk.ts'
import type { Db } from '../database/database.ts'
import { Prisma } from '../database/generated/client.ts'
import type { Env } from '../env.ts'
import { staffCommand } from '../format.ts'
import { isOpen, readCount } from '../mail/budget.ts'
import { transition } from '../mail/queue.ts'
import { createMailer } from '../mail/resend.ts'
import { createSignInMail } from '../mail/templates.ts'
import { createLink, deleteLink, findStaff, hasUnusedLink } from './sessions.ts'

/** For all addresses together: nobody can use up the mails of a day by asking for links. */
const MAILS_A_DAY = 20
const TIMEOUT_MS = 10_000

export type SignIn = ReturnType<typeof createSignIn>

/** Without an https PUBLIC_URL the desk is on this machine only. */
export function deskUrlOf({ PUBLIC_URL, PORT }: Env): string {
  return PUBLIC_URL && /^(?:https:|http:\/\/localhost\b)/.test(PUBLIC_URL) ? PUBLIC_URL : `http://localhost:${PORT}`
}

/** The address of a page whose button enters the desk. */
function signInLink(env: Env, token: string): string {
  return `${deskUrlOf(env)}${DESK_PATH}/enter?token=${token}`
}

/** For whoever has a terminal: nobody has checked that the address is theirs. */
export async function createTerminalLink(db: Db, env: Env, email: string): Promise<string> {
  return signInLink(env, await createLink(db, { email, leadsTo: DESK_PATH, byTerminal: true }))
}

/**
 * Mails links. They do not wait in the queue, but each has a row of Quvera_Mail, without the token: so the budget counts it.
 */
export function createSignIn(db: Db, env: Env, log: Pick<Logger, 'warn' | 'error'>) {
  const mailer = env.RESEND_API_KEY ? createMailer(env) : undefined
  const underWay = new Set<Promise<void>>()
  const closing = new AbortController()
  let isLimitTold = false
  let isKeyMissed = false

  /** @returns undefined if no mail may be sent now */
  async function reserve(email: string, leadsTo: string) {
    if (await hasUnusedLink(db, email)) return undefined // a flood of requests costs one statement each
    return db.$transaction(async (transaction) => {
      // One after the other, whichever process serves the request: otherwise two requests would find no link.
      await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('Quvera_Session'))`
      if (await hasUnusedLink(transaction, email)) return undefined
      if (!(await mayMail(transaction))) return undefined
      const token = await createLink(transaction, { email, leadsTo })
      // Unknown until the answer is known: the queue does not take it, and the budget counts it.
      const [mail] = await transaction.$queryRaw<{ id: bigint; tag: string }[]>`
        INSERT INTO "Quvera_Mail" ("Kind", "To", "Status", "DueAt", "FirstTriedAt", "Attempts")
        VALUES ('SignIn', ${email}, 'Unknown', NULL, now(), 1) RETURNING "Id" AS "id", "Tag"::text AS "tag"`
      return mail && { ...mail, token }
    })
  }

  async function mayMail(transaction: Pick<Db, '$queryRaw'>): Promise<boolean> {
    const [{ count }] = await transaction.$queryRaw<[{ count: number }]>`
      SELECT count(*)::int AS "count" FROM "Quvera_Mail"
      WHERE "Kind" = 'SignIn' AND "FirstTriedAt" BETWEEN now() - interval '24 hours' AND now() + interval '1 minute'`
    const budget = env.MAIL_DAILY_BUDGET
    const isAllowed = count < MAILS_A_DAY && isOpen('SignIn', budget, budget === 0 ? 0 : await readCount(transaction))
    if (!isAllowed && !isLimitTold)
      log.warn(
        `No more links to the desk are mailed today: ${MAILS_A_DAY} in 24 hours, or MAIL_DAILY_BUDGET, are used up`,
      )
    isLimitTold = !isAllowed
    return isAllowed
  }

  async function sendLink(address: string, leadsTo: string) {
    // Later than any answer that could follow on the same connection: how long those take would tell who is staff.
    await sleep(100 + Math.random() * 900, undefined, { signal: closing.signal }).catch(() => undefined)
    const email = findStaff(env.STAFF_EMAILS, address)
    if (!email) return
    if (!mailer) {
      if (!isKeyMissed)
        log.warn(`RESEND_API_KEY is not set: no link to the desk is mailed. ${staffCommand('sign-in')} prints one`)
      isKeyMissed = true
      return
    }
    const reserved = await reserve(email, leadsTo)
    if (!reserved) return
    const { id, tag, token } = reserved
    const message = { tag, to: email, ...createSignInMail(signInLink(env, token)) }
    const answer = await mailer.send(message, AbortSignal.any([closing.signal, AbortSignal.timeout(TIMEOUT_MS)]))
    const isThis = Prisma.sql`mail."Id" = ${id}`
    if (answer.is === 'taken') {
      const set = Prisma.sql`, "SentAt" = now(), "ResendId" = ${answer.resendId ?? null}`
      return void (await transition(db, 'Sent', isThis, { set }))
    }
    const error = 'error' in answer ? answer.error : ''
    log.warn(
      { mail: id, answer: answer.is, reason: error.split(':')[0] },
      'a link to the desk was not mailed, as far as is known',
    )
    if (answer.is !== 'refused' && answer.is !== 'not taken') return // it may arrive
    // What Resend has not taken counts neither in the budget nor among the links of a day.
    const asIfNotTried = answer.is === 'not taken' ? Prisma.sql`, "FirstTriedAt" = NULL` : Prisma.empty
    await transition(db, 'Failed', isThis, { set: Prisma.sql`, "LastError" = ${error} ${asIfNotTried}` })
    await deleteLink(db, token) // so that the next request is served at once
  }

  return {
    /** Sends a link if the address is one of staff. Returns at once, and never tells. */
    request(address: string, leadsTo: string): void {
      const sending = sendLink(address, leadsTo)
        .catch((err) => log.error({ err }, 'a link to the desk could not be mailed'))
        .finally(() => underWay.delete(sending))
      underWay.add(sending)
    },
    /** Waits at most `graceMs` for the mails under way. */
    async close(graceMs: number): Promise<void> {
      const timer = setTimeout(() => closing.abort(), graceMs)
      await Promise.all(underWay)
      clearTimeout(timer)
    },
  }
}
